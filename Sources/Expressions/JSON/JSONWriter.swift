// Writes values as JSON texts, up to a limit.

import Diagnostics

/// Writes compact JSON up to a limit.
struct JSONWriter {
  private let limit: Int
  package private(set) var text = ""

  package init(limit: Int = .max) { self.limit = limit }

  /// Writes a value; returns false once the text is longer than the limit.
  package mutating func write(_ value: Value) -> Bool {
    switch value {
    case .list(let items):
      text += "["
      for (number, item) in items.enumerated() {
        if number > 0 { text += "," }
        guard write(item) else { return false }
      }
      text += "]"
    case .map(let map):
      text += "{"
      for (number, member) in zip(map.names, map.values).enumerated() {
        text += (number > 0 ? "," : "") + jsonString(member.0) + ":"
        guard write(member.1) else { return false }
      }
      text += "}"
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .number(let number): text += numberText(number)
    case .string(let string): text += jsonString(string)
    }
    return text.utf8.count <= limit
  }
}
