// The secrets of a run: their values, for the environment of steps, and the masker for everything
// else. They are in no plan, no event and no file of the state directory.

package import Masking

package struct Secrets: Sendable {
  /// The values by name, without those that are missing and not required.
  private let values: [String: String]
  /// The masker; nil if there is nothing to mask.
  package let masker: Masker?

  package static let none = Secrets([:])

  package init(_ values: [String: String]) {
    self.values = values
    masker = Masker(secrets: values.values.map { Array($0.utf8) })
  }

  /// The name of a secret that a string contains, in any form that is masked. A single line of
  /// several is not the secret.
  package func name(heldBy text: String) -> String? {
    guard let masker, masker.finds(in: text) else { return nil }
    return values.sorted { $0.key < $1.key }.first { _, value in
      Masker(secrets: [Array(value.utf8)], withLines: false)?.finds(in: text) ?? false
    }?.key
  }

  /// All byte strings that are masked, the secrets themselves first: for others who mask.
  package var forms: [[UInt8]] { Masker.forms(of: values.values.map { Array($0.utf8) }) }

  /// The values of all secrets, sorted.
  package var allValues: [String] { values.values.sorted() }

  /// The value of a secret; nil if it is missing.
  package subscript(name: String) -> String? { values[name] }
}
