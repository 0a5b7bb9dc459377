// What is to be masked: the secrets of a run, in every form in which they are likely to be printed.
// It knows neither where secrets come from nor where texts go.

/// Replaces secrets by `***`. Made once; any number of streams use it.
package final class Masker: Sendable {
  let automaton: Automaton
  /// Secrets of fewer characters are masked nowhere: they would be found everywhere. Who reads
  /// secrets refuses them.
  package static let fewestCharacters = 4

  /// Nil if there is nothing to mask.
  package init?(secrets: [[UInt8]]) {
    var forms: Set<[UInt8]> = []
    for secret in secrets where characterCount(of: secret) >= Self.fewestCharacters {
      forms.formUnion(SecretForms.all(of: secret))
    }
    guard !forms.isEmpty else { return nil }
    automaton = Automaton(forms)
  }

  /// For tests: these texts and no forms of them; none shorter than four bytes.
  init(exactly patterns: Set<[UInt8]>) { automaton = Automaton(patterns) }

  /// A name, masked. Names that are alike once they are masked stay apart by their numbers.
  package func name(_ text: String, number: Int) -> String {
    let masked = mask(text)
    return masked.contains("***") ? "\(masked)~\(number)" : masked
  }

  /// A whole text, masked.
  package func mask(_ text: String) -> String {
    var stream = MaskingStream(self)
    var output: [UInt8] = []
    var text = text
    text.withUTF8 { stream.mask(UnsafeRawBufferPointer($0), into: &output) }
    stream.finish(into: &output)
    return String(decoding: output, as: UTF8.self)
  }
}

/// Of UTF-8; a byte that belongs to no character counts as one.
package func characterCount(of text: [UInt8]) -> Int { text.count { $0 & 0xC0 != 0x80 } }
