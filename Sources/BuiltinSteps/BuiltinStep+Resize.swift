// The inputs of `resize` and `download-and-resize`.

extension BuiltinStep {
  package static let resize = BuiltinStep(
    "resize", "Makes copies of images in other sizes.",
    keys: [
      [.from],
      BuiltinKey.resizing,
      [.maxImageBytes],
      BuiltinKey.processing,
      BuiltinKey.batch,
    ],
    groups: [.target], rules: [.target, .sizes, .sides, .paths])

  package static let downloadAndResize = BuiltinStep(
    "download-and-resize", "Downloads images and makes one or more copies of each in other sizes.",
    keys: [
      [.url, .urls, .list, .sha256],
      BuiltinKey.resizing,
      BuiltinKey.processing,
      BuiltinKey.transfer(maxBytes: "50M"),
      BuiltinKey.cache,
      BuiltinKey.batch,
    ],
    groups: [.source, .target], rules: [.hashes, .headers, .target, .sizes, .sides, .paths])
}

extension KeyGroup {
  /// The rule for the size of the results.
  static let target = KeyGroup(rule: .atLeastOne, keys: ["width", "height"])
}

extension BuiltinKey {
  static let from = BuiltinKey(
    "from", .list(.text), isRequired: true, "Files, or patterns such as 'in/*.jpg'.")

  /// The keys for how images are made smaller.
  static let resizing = [
    BuiltinKey(
      "to", .text, isRequired: true,
      "Path of each result; '{name}', '{ext}', '{width}', '{height}' and '{index}' are filled in."),
    BuiltinKey(
      "width", .list(.integer(1...20_000)), "Width in pixels; several widths make one result each."),
    BuiltinKey(
      "height", .list(.integer(1...20_000)),
      "Height in pixels; as many heights as widths, or one for all of them."),
    BuiltinKey(
      "fit", .choice(["inside", "cover", "contain", "fill"]), default: "inside",
      "How an image of other proportions is fitted: inside, cropped, with a border, or distorted."),
    BuiltinKey(
      "format", .choice(["same", "jpeg", "png", "webp", "gif", "avif", "heic", "jxl", "tiff"]),
      default: "same",
      "The format to write; 'same' keeps the format of the source."),
    BuiltinKey("quality", .integer(1...100), default: "80", "Quality of lossy formats."),
    BuiltinKey(
      "strip", .boolean, default: "true", "Removes metadata: EXIF, location, author."
    ),
    BuiltinKey(
      "background", .color, default: "white",
      "Colour behind transparency and of borders: '#rrggbb' or a name."
    ),
    BuiltinKey(
      "frames", .choice(["first", "all"]), default: "first",
      "Which frames of an animated image to keep."),
  ]

  static let maxImageBytes = BuiltinKey(
    "max_bytes", .size, default: "50M", "The largest image file allowed.")

  /// The limits for images.
  static let processing = [
    BuiltinKey(
      "max_pixels", .integer(1...1_000_000_000), default: "50000000",
      "The most pixels that an image may have, all frames together."),
    BuiltinKey(
      "time_limit", .duration, default: "30s",
      "Time limit for one image, two thirds of it for processor time; 0s means no limit."),
    BuiltinKey(
      "formats", .list(.choice(["tiff", "avif", "heic", "jxl"])),
      "Formats to read besides JPEG, PNG, WebP and GIF."),
    BuiltinKey(
      "workers", .integer(0...256), default: "0",
      "How many images are processed at once; 0 means the number of processors."),
  ]
}
