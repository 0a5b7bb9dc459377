// What `compose` takes.

extension BuiltinStep {
  package static let compose = BuiltinStep(
    "compose", "Puts several images into one.",
    keys: [
      [
        BuiltinKey(
          "images", .list(.text), isRequired: true, "Files, or patterns such as 'thumbs/*.jpg'."),
        BuiltinKey("to", .text, isRequired: true, "The file to write."),
        BuiltinKey("width", .integer(1...20_000), "Of each part, in pixels."),
        BuiltinKey("height", .integer(1...20_000), "Of each part, in pixels."),
        BuiltinKey(
          "layout", .choice(["row", "column", "grid"]), default: "grid", "How the parts are laid."),
        BuiltinKey(
          "background", .text, default: "white", "Between and behind them: '#rrggbb' or a name."),
      ]
    ])
}
