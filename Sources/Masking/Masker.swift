// Masks the secrets of a run, in every form in which they are likely to be printed. It knows
// neither where secrets come from nor where text goes.

/// Replaces secrets by `***`. It is created once and used by any number of streams.
package final class Masker: Sendable {
  let automaton: Automaton
  /// The forms that are found even if they contain white space.
  let broken: BrokenForms?
  /// Secrets of fewer characters are not masked, because they would be found everywhere. The code
  /// that reads secrets refuses them.
  package static let fewestCharacters = 4

  /// Makes a masker; nil if there is nothing to mask. If `withLines`, each line of a secret with
  /// several lines is masked, too.
  package init?(secrets: [[UInt8]], withLines: Bool = true) {
    let forms = SecretForms(of: secrets, withLines: withLines)
    guard !forms.texts.isEmpty else { return nil }
    automaton = Automaton(forms.texts)
    broken = BrokenForms(forms.broken)
  }

  /// All forms that a masker of these secrets finds, for other programs that mask: the secrets and
  /// their lines in order, then the other forms.
  package static func forms(of secrets: [[UInt8]]) -> [[UInt8]] {
    let forms = SecretForms(of: secrets, withLines: true)
    let all = forms.texts.union(forms.broken)
    let values = Set(secrets + secrets.flatMap(SecretForms.lines)).intersection(all)
    return [values, all.subtracting(values)].flatMap { forms in
      forms.sorted { $0.lexicographicallyPrecedes($1) }
    }
  }

  /// A masker for tests, with these texts and no forms of them; none shorter than four bytes, or
  /// eight bytes for those in `broken`.
  init(exactly patterns: Set<[UInt8]>, broken: Set<[UInt8]> = []) {
    automaton = Automaton(patterns)
    self.broken = BrokenForms(broken)
  }

  /// True if there is something to mask in a string.
  package func finds(in text: String) -> Bool {
    var text = text
    return text.withUTF8 { finds(in: UnsafeRawBufferPointer($0)) }
  }

  private func finds(in text: UnsafeRawBufferPointer) -> Bool {
    var hits: [Hit] = []
    _ = automaton.scan(text, at: 0, from: Automaton.start, hits: &hits)
    guard hits.isEmpty, let broken else { return !hits.isEmpty }
    var scan = BrokenScan(broken)
    scan.scan(text, at: 0, hits: &hits)
    return !hits.isEmpty
  }

  /// A name, masked. Names that are equal once they are masked are distinguished by their numbers.
  package func name(_ text: String, number: Int) -> String {
    let masked = mask(text)
    var stars = 0
    let isMasked = masked.utf8.contains { byte in
      stars = byte == UInt8(ascii: "*") ? stars + 1 : 0
      return stars == 3
    }
    return isMasked ? "\(masked)~\(number)" : masked
  }

  /// A whole string, masked.
  package func mask(_ text: String) -> String {
    guard finds(in: text) else { return text }
    var stream = MaskingStream(self)
    var output: [UInt8] = []
    var text = text
    text.withUTF8 { stream.mask(UnsafeRawBufferPointer($0), into: &output) }
    stream.finish(into: &output)
    return String(decoding: output, as: UTF8.self)
  }
}

/// The number of characters of UTF-8; a byte that belongs to no character counts as one.
package func characterCount(of text: [UInt8]) -> Int { text.count { $0 & 0xC0 != 0x80 } }
