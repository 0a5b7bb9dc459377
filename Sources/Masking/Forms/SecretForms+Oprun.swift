// A secret as oprun itself writes it: in the id of an instance, in the JSON of a value, and in a
// condition.

import Diagnostics

extension SecretForms {
  static func writtenByOprun(_ secret: [UInt8]) -> [[UInt8]] {
    guard let text = String(validating: secret, as: UTF8.self) else { return [] }
    let json = String(jsonString(text).dropFirst().dropLast())
    // An expression has strings, and the JSON of maps, in single quotes.
    let inQuotes = [text, json].map { $0.replacingText("'", with: "''") }
    return ([shortened(text, to: .max), json] + inQuotes).map { Array($0.utf8) }
  }
}
