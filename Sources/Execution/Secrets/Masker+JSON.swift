// Masks JSON by its strings: a writer of JSON may escape any character, so its text may hide a
// secret.

import Expressions
import Masking

extension Masker {
  /// The text, in which neither a string nor the text as a whole contains a secret.
  func mask(json: String) -> String {
    guard let value = try? JSONReader.value(of: json) else { return mask(json) }
    let shown = masked(value)
    return mask(shown == value ? json : shown.json)
  }

  func finds(inJSON json: String) -> Bool { mask(json: json) != json }

  private func masked(_ value: Value) -> Value {
    switch value {
    case .null, .bool, .number: value
    case .string(let text): .string(mask(text))
    case .list(let items): .list(items.map(masked))
    case .map(let map):
      .map(ValueMap(zip(map.names, map.values).map { (mask($0), masked($1)) }))
    }
  }
}
