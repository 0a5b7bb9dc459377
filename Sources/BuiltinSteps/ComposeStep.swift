// What `compose` takes.

extension BuiltinStep {
  package static let compose = BuiltinStep(
    "compose", "Puts several images into one.",
    keys: [
      [
        BuiltinKey(
          "images", .list(.text), isRequired: true,
          "Files, or patterns such as 'thumbs/*.jpg'; in this order."),
        BuiltinKey("to", .text, isRequired: true, "The file to write; its ending is the format."),
        BuiltinKey("width", .integer(1...20_000), "Of the whole, in pixels."),
        BuiltinKey("height", .integer(1...20_000), "Of the whole, in pixels."),
        BuiltinKey(
          "layout", .choice(["row", "column", "grid"]), default: "grid",
          "Side by side, one below the other, or both."),
        BuiltinKey(
          "columns", .integer(1...1000), "Of a grid; as many as make it about square."),
        BuiltinKey("gap", .integer(0...1000), default: "0", "Between two images, in pixels."),
        BuiltinKey(
          "background", .color, default: "white", "Between and behind them: '#rrggbb' or a name."),
        BuiltinKey("quality", .integer(1...100), default: "80", "Of formats that lose something."),
      ],
      [.maxImageBytes],
      BuiltinKey.processing,
    ])
}
