// What is to be masked: the secrets of a run, in every form in which they are likely to be printed.
// It knows neither where secrets come from nor where texts go.

/// Replaces secrets by `***`. Made once; any number of streams use it.
package final class Masker: Sendable {
  let automaton: Automaton
  /// What is found although white space stands in it.
  let broken: BrokenForms?
  /// Secrets of fewer characters are masked nowhere: they would be found everywhere. Who reads
  /// secrets refuses them.
  package static let fewestCharacters = 4

  /// Nil if there is nothing to mask. Of a secret with several lines each is one `withLines`.
  package init?(secrets: [[UInt8]], withLines: Bool = true) {
    var forms = SecretForms()
    for secret in secrets where characterCount(of: secret) >= Self.fewestCharacters {
      forms.add(secret, withLines: withLines)
    }
    guard !forms.texts.isEmpty else { return nil }
    automaton = Automaton(forms.texts)
    broken = BrokenForms(forms.broken)
  }

  /// For tests: these texts and no forms of them; none shorter than four bytes, nor than eight of
  /// those that may be broken.
  init(exactly patterns: Set<[UInt8]>, broken: Set<[UInt8]> = []) {
    automaton = Automaton(patterns)
    self.broken = BrokenForms(broken)
  }

  /// Whether there is anything to mask in a text.
  package func finds(in text: String) -> Bool { mask(text) != text }

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
