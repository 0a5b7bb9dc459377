// The messages about the inputs of steps on images, beyond what the table of options says.

import BuiltinSteps
import Diagnostics

extension UsageFailure {
  static func oneFrame(_ format: ImageFormat, _ step: BuiltinStep) -> UsageFailure {
    UsageFailure(
      "'frames: all' wants a format that holds several, GIF or WebP, found \(format.label)",
      step: step.name)
  }

  static func otherFormat(
    _ format: ImageFormat, inPattern ext: String, _ step: BuiltinStep
  ) -> UsageFailure {
    UsageFailure(
      "'format' is \(format.label), but 'to' ends in \(quoted("." + ext))",
      help: "'.{ext}' follows the format", step: step.name)
  }

  static func unknownExtension(_ ext: String, _ step: BuiltinStep) -> UsageFailure {
    UsageFailure(
      "'to' ends in \(quoted("." + ext)), which is the extension of no format",
      help: "set 'format', or end 'to' in '.{ext}'", step: step.name)
  }

  static func noImageFile(_ path: String, _ step: BuiltinStep) -> UsageFailure {
    UsageFailure(
      "'to' wants a file that ends in a format, as 'sheet.jpg', found \(quoted(path))",
      step: step.name)
  }

  static func noImages(_ patterns: [String], key: String, _ step: BuiltinStep) -> UsageFailure {
    UsageFailure(
      "'\(key)' matches no file: \(patterns.map { quoted(ByteText.shown($0)) }.joined(separator: ", "))",
      step: step.name)
  }

  static func collision(
    _ path: String, _ first: String, _ second: String, _ step: BuiltinStep
  ) -> UsageFailure {
    UsageFailure(
      "\(quoted(first)) and \(quoted(second)) would both be written to \(quoted(path))",
      help: "'{index}' in 'to' keeps them apart", step: step.name)
  }

  static func replacesSource(
    _ path: String, _ source: String, _ step: BuiltinStep
  ) -> UsageFailure {
    UsageFailure(
      "\(quoted(path)) would be written in the place of \(quoted(source)), which is read",
      help: "give 'to' another directory or another name", step: step.name)
  }

  static func noRoom(_ count: Int, _ step: BuiltinStep) -> UsageFailure {
    UsageFailure("'width' and 'height' leave no pixel for each of \(count) images", step: step.name)
  }
}
