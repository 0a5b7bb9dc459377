// The declarations of a step's outputs.

/// One entry of a step's `outputs`.
package struct OutputDeclaration: Hashable, Sendable {
  package let name: String
  package let type: OutputType

  package init(name: String, type: OutputType) {
    self.name = name
    self.type = type
  }
}

/// The type of an output.
package enum OutputType: String, CaseIterable, Sendable {
  case string
  /// A whole number.
  case int
  case number, bool, list, map
  /// Any value.
  case json
}
