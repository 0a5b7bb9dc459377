// What `resize` and `download-and-resize` take.

extension BuiltinStep {
  package static let resize = BuiltinStep(
    "resize", "Makes smaller images of images.",
    keys: [
      [.from],
      BuiltinKey.resizing,
      [.maxImageBytes],
      BuiltinKey.processing,
      BuiltinKey.batch,
    ],
    groups: [.target], rules: [.target, .sizes, .sides, .paths])

  package static let downloadAndResize = BuiltinStep(
    "download-and-resize", "Downloads images and makes smaller ones of them, several from each.",
    keys: [
      [.url, .urls, .list, .sha256],
      BuiltinKey.resizing,
      BuiltinKey.processing,
      BuiltinKey.transfer(maxBytes: "50M"),
      BuiltinKey.cache,
      BuiltinKey.batch,
    ],
    groups: [.source, .target], rules: [.hashes, .target, .sizes, .sides, .paths])
}

extension KeyGroup {
  /// How large the results are.
  static let target = KeyGroup(rule: .atLeastOne, keys: ["width", "height"])
}

extension BuiltinKey {
  static let from = BuiltinKey(
    "from", .list(.text), isRequired: true, "Files, or patterns such as 'in/*.jpg'.")

  /// How images are made smaller.
  static let resizing = [
    BuiltinKey(
      "to", .text, isRequired: true,
      "Path of a result, with '{name}', '{ext}', '{width}', '{height}' and '{index}' filled in."),
    BuiltinKey(
      "width", .list(.integer(1...20_000)), "In pixels; several make a result each."),
    BuiltinKey(
      "height", .list(.integer(1...20_000)),
      "In pixels; as many as widths, or one for all of them."),
    BuiltinKey(
      "fit", .choice(["inside", "cover", "contain", "fill"]), default: "inside",
      "How an image of other proportions fits: within, cut, with a border, or distorted."),
    BuiltinKey(
      "format", .choice(["same", "jpeg", "png", "webp", "gif", "avif", "heic", "jxl", "tiff"]),
      default: "same",
      "What is written; 'same' as was read."),
    BuiltinKey("quality", .integer(1...100), default: "80", "Of formats that lose something."),
    BuiltinKey(
      "strip", .boolean, default: "true", "Leaves out what is not the picture: EXIF, place, author."
    ),
    BuiltinKey(
      "background", .color, default: "white",
      "Behind transparency and borders: '#rrggbb' or a name."
    ),
    BuiltinKey(
      "frames", .choice(["first", "all"]), default: "first", "Of an animated image."),
  ]

  static let maxImageBytes = BuiltinKey(
    "max_bytes", .size, default: "50M", "No image file is larger.")

  /// What images may cost.
  static let processing = [
    BuiltinKey(
      "max_pixels", .integer(1...1_000_000_000), default: "50000000",
      "No image has more, all frames together."),
    BuiltinKey(
      "time_limit", .duration, default: "30s",
      "For one image; two thirds of it processor time; 0s is none."),
    BuiltinKey(
      "formats", .list(.choice(["tiff", "avif", "heic", "jxl"])),
      "Formats to read beside JPEG, PNG, WebP and GIF."),
    BuiltinKey(
      "workers", .integer(0...256), default: "0",
      "How many images are processed at once; 0 is the number of processors."),
  ]
}
