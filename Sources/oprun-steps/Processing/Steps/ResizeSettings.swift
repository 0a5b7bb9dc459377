// What `resize` and `download-and-resize` were asked for, checked as far as it can be without an image.

import BuiltinSteps

struct ResizeSettings: Hashable, Sendable {
  /// Each makes a result of every image.
  let boxes: [Box]
  let fit: Fit
  /// Nil: as was read.
  let format: ImageFormat?
  let quality: Int
  let strip: Bool
  let background: Color
  let allFrames: Bool
  let limits: ImageLimits
  let pattern: PathPattern
  let reading: ReadingSettings

  init(_ inputs: Inputs) throws(UsageError) {
    let step = inputs.step
    let fit: Fit = inputs.choice("fit")
    self.fit = fit
    boxes = try ResizeSettings.boxes(inputs, fit)
    pattern = try PathPattern(inputs.text("to") ?? "", naming: "{name}.{ext}", of: step)
    format = try ResizeSettings.format(inputs, pattern)
    quality = inputs.integer("quality")
    strip = inputs.isOn("strip")
    background = try Color(of: inputs)
    allFrames = inputs.text("frames") == "all"
    reading = ReadingSettings(inputs)
    limits = ImageLimits(inputs)
    if allFrames, let format, !format.holdsSeveralFrames { throw .oneFrame(format, step) }
    for side in [PathPattern.Field.width, .height]
    where pattern.uses(side) && !inputs.isGiven(side.rawValue) {
      throw .fieldWithoutValue(side, step)
    }
    try checkPaths(step)
  }

  /// Width and height go pairwise; one of either goes with all of the others.
  private static func boxes(_ inputs: Inputs, _ fit: Fit) throws(UsageError) -> [Box] {
    let (widths, heights) = (inputs.integers("width"), inputs.integers("height"))
    let count = max(widths.count, heights.count)
    for list in [widths, heights] where list.count > 1 && list.count != count {
      throw .unevenSizes(widths.count, heights.count, inputs.step)
    }
    guard count <= ImageRequest.mostResults else { throw .tooManySizes(count, inputs.step) }
    if fit != .inside, widths.isEmpty || heights.isEmpty {
      throw .missingSide(fit, widths.isEmpty ? "width" : "height", inputs.step)
    }
    return (0..<count).map { index in
      Box(
        width: widths.count > 1 ? widths[index] : widths.first,
        height: heights.count > 1 ? heights[index] : heights.first)
    }
  }

  private static func format(
    _ inputs: Inputs, _ pattern: PathPattern
  ) throws(UsageError) -> ImageFormat? {
    let word = inputs.text("format") ?? "same"
    let asked = ImageFormat(word: word)
    guard let ext = pattern.writtenExtension else { return asked }
    let written = ImageFormat(word: ext)
    if let written, written == .tiff || written == .heic { throw .unwritable(written, inputs.step) }
    if let asked, let written, asked != written {
      throw .otherFormat(asked, inPattern: ext, inputs.step)
    }
    guard asked != nil || written != nil else { throw .unknownExtension(ext, inputs.step) }
    return asked ?? written
  }

  /// Several results of one image need names of their own.
  private func checkPaths(_ step: BuiltinStep) throws(UsageError) {
    var seen: [String: Box] = [:]
    for box in boxes {
      let path = pattern.path(PathPattern.Values(name: "name", ext: "ext", box: box, index: 1))
      if let other = seen.updateValue(box, forKey: path) { throw .sizesCollide(other, box, step) }
    }
  }

  /// Of an image that was read as this.
  func results(for read: ImageFormat) -> [ResultSpec] {
    boxes.map {
      ResultSpec(
        box: $0, fit: fit, format: format ?? read.sameWhenWritten, quality: quality, strip: strip,
        background: background)
    }
  }

  /// Whether a worker needs libheif, for reading or for writing.
  var usesHEIF: Bool { format?.needsHEIF ?? false || reading.formats.contains { $0.needsHEIF } }
}

/// Which images are read, and how many at once.
struct ReadingSettings: Hashable, Sendable {
  let formats: [ImageFormat]
  /// 0: as many as there are processors.
  let workers: Int

  init(_ inputs: Inputs) {
    let also = Set(inputs.texts("also_read"))
    formats = ImageFormat.allCases.filter { format in
      switch format {
      case .tiff: also.contains("tiff")
      case .avif, .heic: also.contains("heif")
      default: format.isReadByDefault
      }
    }
    workers = inputs.integer("workers")
  }
}

extension ImageLimits {
  init(_ inputs: Inputs) {
    pixels = inputs.integer("max_pixels")
    bytes = inputs.size("max_bytes")
    milliseconds = min(Self.mostMilliseconds, Int(inputs.timeLimit("time_limit") / 1_000_000))
    // Who allows more pixels allows longer sides, too.
    side = max(side, pixels > 50_000_000 ? 100_000 : side)
  }
}

extension Color {
  init(of inputs: Inputs) throws(UsageError) {
    let text = inputs.text("background") ?? "white"
    guard let color = Color(text) else { throw .badColor(text, inputs.step) }
    self = color
  }
}
