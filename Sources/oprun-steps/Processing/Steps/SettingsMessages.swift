// What can be wrong with the inputs of steps on images, beyond what the table of options says.

import BuiltinSteps
import Diagnostics

extension UsageError {
  static func badField(in pattern: String, at rest: Substring, _ step: BuiltinStep) -> UsageError {
    let known = PathPattern.Field.allCases.map(\.rawValue)
    guard let end = rest.firstIndex(of: "}") else {
      return UsageError(
        "'to' has a '{' without a '}': \(quoted(pattern))", help: "'{{' is a brace",
        step: step.name)
    }
    let name = String(rest[..<end])
    return UsageError(
      "'to' has an unknown field \(quoted("{\(name)}")), "
        + "wanted one of \(known.map { "{\($0)}" }.joined(separator: ", "))",
      help: suggestion(for: name, among: known).map { "did you mean '{\($0)}'?" }, step: step.name)
  }

  static func strayBrace(in pattern: String, _ step: BuiltinStep) -> UsageError {
    UsageError(
      "'to' has a '}' without a '{': \(quoted(pattern))", help: "'}}' is a brace", step: step.name)
  }

  static func noFileName(in pattern: String, _ step: BuiltinStep) -> UsageError {
    UsageError(
      "'to' wants a path that ends in a file's name, found \(quoted(pattern))",
      help: "for example \(quoted(pattern + "{name}.{ext}"))", step: step.name)
  }

  static func fieldWithoutValue(_ field: PathPattern.Field, _ step: BuiltinStep) -> UsageError {
    UsageError(
      "'to' has '{\(field.rawValue)}', but no '\(field.rawValue)' is given", step: step.name)
  }

  static func sizesCollide(_ one: Box, _ other: Box, _ step: BuiltinStep) -> UsageError {
    UsageError(
      one == other
        ? "a size is given twice: \(one.words)"
        : "'to' gives the same path to the sizes \(one.words) and \(other.words)",
      help: one == other ? nil : "put '{width}' or '{height}' in it", step: step.name)
  }

  static func unevenSizes(_ widths: Int, _ heights: Int, _ step: BuiltinStep) -> UsageError {
    UsageError(
      "'width' and 'height' want as many values, or one of either, found \(widths) and \(heights)",
      step: step.name)
  }

  static func tooManySizes(_ count: Int, _ step: BuiltinStep) -> UsageError {
    UsageError(
      "'width' and 'height' want at most \(ImageRequest.mostResults) sizes, found \(count)",
      step: step.name)
  }

  static func missingSide(_ fit: Fit, _ side: String, _ step: BuiltinStep) -> UsageError {
    UsageError(
      "'fit: \(fit.rawValue)' needs 'width' and 'height'; '\(side)' is missing", step: step.name)
  }

  static func oneFrame(_ format: ImageFormat, _ step: BuiltinStep) -> UsageError {
    UsageError(
      "'frames: all' wants a format that holds several, GIF or WebP, found \(format.label)",
      step: step.name)
  }

  static func unwritable(_ format: ImageFormat, _ step: BuiltinStep) -> UsageError {
    UsageError(
      "'to' wants a file of a format that can be written, JPEG, PNG, WebP, GIF or AVIF, "
        + "found \(format.label)", step: step.name)
  }

  static func otherFormat(
    _ format: ImageFormat, inPattern ext: String, _ step: BuiltinStep
  ) -> UsageError {
    UsageError(
      "'format' is \(format.label), but 'to' ends in \(quoted("." + ext))",
      help: "'.{ext}' follows the format", step: step.name)
  }

  static func unknownExtension(_ ext: String, _ step: BuiltinStep) -> UsageError {
    UsageError(
      "'to' ends in \(quoted("." + ext)), which says nothing of the format",
      help: "give 'format', or end it in '.{ext}'", step: step.name)
  }

  static func noImageFile(_ path: String, _ step: BuiltinStep) -> UsageError {
    UsageError(
      "'to' wants a file that ends in a format, as 'sheet.jpg', found \(quoted(path))",
      step: step.name)
  }

  static func badColor(_ text: String, _ step: BuiltinStep) -> UsageError {
    UsageError("'background' wants \(Color.wanted), found \(quoted(text))", step: step.name)
  }

  static func noImages(_ patterns: [String], key: String, _ step: BuiltinStep) -> UsageError {
    UsageError(
      "'\(key)' matches no file: \(patterns.map { quoted(PathText.shown($0)) }.joined(separator: ", "))",
      step: step.name)
  }

  static func collision(
    _ path: String, _ first: String, _ second: String, _ step: BuiltinStep
  ) -> UsageError {
    UsageError(
      "\(quoted(first)) and \(quoted(second)) would both be written to \(quoted(path))",
      help: "'{index}' in 'to' keeps them apart", step: step.name)
  }

  static func replacesSource(
    _ path: String, _ source: String, _ step: BuiltinStep
  ) -> UsageError {
    UsageError(
      "\(quoted(path)) would be written in the place of \(quoted(source)), which is read",
      help: "give 'to' another folder or another name", step: step.name)
  }

  static func noRoom(_ count: Int, _ step: BuiltinStep) -> UsageError {
    UsageError("'width' and 'height' leave no pixel for each of \(count) images", step: step.name)
  }
}

extension Box {
  var words: String {
    "\(width.map(String.init) ?? "auto") × \(height.map(String.init) ?? "auto")"
  }
}
