// The inputs of `compose`.

extension BuiltinStep {
  package static let compose = BuiltinStep(
    "compose", "Combines several images into one.",
    keys: [
      [
        BuiltinKey(
          "images", .list(.text), isRequired: true,
          "Files, or patterns such as 'thumbs/*.jpg', in the order wanted."),
        BuiltinKey(
          "to", .text, isRequired: true, "The file to write; its extension sets the format."),
        BuiltinKey("width", .integer(1...20_000), "Width of the result, in pixels."),
        BuiltinKey("height", .integer(1...20_000), "Height of the result, in pixels."),
        BuiltinKey(
          "layout", .choice(["row", "column", "grid"]), default: "grid",
          "Arranges the images side by side, one below the other, or both."),
        BuiltinKey(
          "columns", .integer(1...1000),
          "Columns of a grid; by default as many as make it roughly square."),
        BuiltinKey("gap", .integer(0...1000), default: "0", "Space between two images, in pixels."),
        BuiltinKey(
          "background", .color, default: "white",
          "Colour between and behind the images: '#rrggbb' or a name."),
        BuiltinKey("quality", .integer(1...100), default: "80", "Quality of lossy formats."),
      ],
      [.maxImageBytes],
      BuiltinKey.processing,
    ])
}
