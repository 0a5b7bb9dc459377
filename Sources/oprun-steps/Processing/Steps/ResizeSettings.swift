// The inputs of `resize` and `download-and-resize`, checked as far as possible without an image.

import BuiltinSteps
import Diagnostics

struct ResizeSettings: Hashable, Sendable {
  /// The boxes; each makes a result of every image.
  let boxes: [Box]
  let fit: Fit
  /// The format; nil means that of the original.
  let format: ImageFormat?
  let quality: Int
  let strip: Bool
  let background: Color
  let allFrames: Bool
  let limits: ImageLimits
  let pattern: PathPattern
  let reading: ReadingSettings

  init(_ inputs: Inputs) throws(UsageFailure) {
    let step = inputs.step
    fit = inputs.choice("fit")
    boxes = inputs.boxes
    pattern = try PathPattern.ofResults(inputs.text("to") ?? "", step)
    format = try ResizeSettings.format(inputs, pattern)
    quality = inputs.integer("quality")
    strip = inputs.isOn("strip")
    background = Color(of: inputs)
    allFrames = inputs.text("frames") == "all"
    reading = ReadingSettings(inputs)
    limits = ImageLimits(inputs)
    if allFrames, let format, !format.holdsSeveralFrames { throw .oneFrame(format, step) }
  }

  private static func format(
    _ inputs: Inputs, _ pattern: PathPattern
  ) throws(UsageFailure) -> ImageFormat? {
    let word = inputs.text("format") ?? "same"
    let asked = ImageFormat(word: word)
    guard let ext = pattern.writtenExtension else { return asked }
    let written = ImageFormat(word: ext)
    if let asked, let written, asked != written {
      throw .otherFormat(asked, inPattern: ext, inputs.step)
    }
    guard asked != nil || written != nil else { throw .unknownExtension(ext, inputs.step) }
    return asked ?? written
  }

  /// The results of an image that was read in this format.
  func results(for read: ImageFormat) -> [ResultSpec] {
    boxes.map {
      ResultSpec(
        box: $0, fit: fit, format: format ?? read.sameWhenWritten, quality: quality, strip: strip,
        background: background)
    }
  }

  /// The modules for reading and for writing.
  var modules: [CodecModule] {
    CodecModule.needed(for: reading.formats + (format.map { [$0] } ?? []))
  }
}

/// The formats of images that are read, and how many images at once.
struct ReadingSettings: Hashable, Sendable {
  let formats: [ImageFormat]
  /// The number of workers; 0 means the number of processors.
  let workers: Int

  init(_ inputs: Inputs) {
    let more = inputs.texts("formats").compactMap(ImageFormat.init(word:))
    formats = ImageFormat.allCases.filter { $0.isReadByDefault || more.contains($0) }
    workers = inputs.integer("workers")
  }
}

extension ImageLimits {
  init(_ inputs: Inputs) {
    pixels = inputs.integer("max_pixels")
    bytes = inputs.size("max_bytes")
    milliseconds = min(Self.mostMilliseconds, Int(inputs.timeLimit("time_limit") / 1_000_000))
    // A higher limit of pixels also allows longer sides.
    side = max(side, pixels > 50_000_000 ? 100_000 : side)
  }
}

extension Color {
  init(of inputs: Inputs) {
    guard let color = inputs.text("background").flatMap(Color.init) else {
      preconditionFailure("'background' is no colour, in spite of its type")
    }
    self = color
  }
}

extension PathPattern {
  /// The pattern of results. An existing directory counts as one, with or without a slash.
  static func ofResults(_ text: String, _ step: BuiltinStep) throws(UsageFailure) -> PathPattern {
    do throws(StepInputFailure) {
      return try .ofResults(!text.hasSuffix("/") && Files.isFolder(text) ? text + "/" : text)
    } catch { throw UsageFailure(error, step) }
  }
}
