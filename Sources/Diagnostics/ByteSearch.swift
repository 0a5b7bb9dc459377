// Searching for ASCII characters in a string, byte by byte. To the standard library a letter and an accent
// that follows it are one character, and so a slash before an accent is not a slash; to Linux, and in
// files, they are bytes. These functions have the names and the signatures of the standard library's,
// which they hide from every file that imports this module. Scripts/rules finds a file that does not.

extension String {
  package func hasPrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

  package func hasPrefix(_ prefix: Substring) -> Bool { utf8.starts(with: prefix.utf8) }

  package func hasSuffix(_ suffix: String) -> Bool { self[...].hasSuffix(suffix) }

  package func contains(_ character: Character) -> Bool { firstIndex(of: character) != nil }

  package func firstIndex(of character: Character) -> Index? {
    character.byte.map { utf8.firstIndex(of: $0) }
      ?? firstRange(ofText: String(character))?.lowerBound
  }

  package func lastIndex(of character: Character) -> Index? {
    character.byte.map { utf8.lastIndex(of: $0) } ?? lastIndex { $0 == character }
  }

  package func split(
    separator: Character, maxSplits: Int = Int.max, omittingEmptySubsequences: Bool = true
  ) -> [Substring] {
    self[...].split(
      separator: separator, maxSplits: maxSplits,
      omittingEmptySubsequences: omittingEmptySubsequences)
  }

  /// The first scalar, without accents that follow it.
  package var first: Character? { unicodeScalars.first.map { Character($0) } }

  /// The last scalar, even if it is only an accent.
  package var last: Character? { unicodeScalars.last.map { Character($0) } }

  /// Leaves out scalars.
  package func dropFirst(_ count: Int = 1) -> Substring {
    Substring(unicodeScalars.dropFirst(count))
  }

  /// Leaves out a text that this one begins with.
  package func dropFirst(_ beginning: some StringProtocol) -> Substring {
    Substring(utf8.dropFirst(beginning.utf8.count))
  }

  /// The next scalar.
  package func index(after index: Index) -> Index { unicodeScalars.index(after: index) }

  /// The text up to a scalar, with it.
  package subscript(range: PartialRangeThrough<Index>) -> Substring {
    self[..<unicodeScalars.index(after: range.upperBound)]
  }

  /// Leaves out scalars.
  package func dropLast(_ count: Int = 1) -> Substring {
    Substring(unicodeScalars.dropLast(count))
  }
}

extension Substring {
  package func hasPrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

  package func hasPrefix(_ prefix: Substring) -> Bool { utf8.starts(with: prefix.utf8) }

  package func hasSuffix(_ suffix: String) -> Bool {
    utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
  }

  package func contains(_ character: Character) -> Bool { firstIndex(of: character) != nil }

  package func firstIndex(of character: Character) -> Index? {
    character.byte.map { utf8.firstIndex(of: $0) }
      ?? firstRange(ofText: String(character))?.lowerBound
  }

  package func lastIndex(of character: Character) -> Index? {
    character.byte.map { utf8.lastIndex(of: $0) } ?? lastIndex { $0 == character }
  }

  package func split(
    separator: Character, maxSplits: Int = Int.max, omittingEmptySubsequences: Bool = true
  ) -> [Substring] {
    guard let byte = separator.byte else {
      return split(
        maxSplits: maxSplits, omittingEmptySubsequences: omittingEmptySubsequences,
        whereSeparator: { $0 == separator })
    }
    let parts = utf8.split(
      separator: byte, maxSplits: maxSplits, omittingEmptySubsequences: omittingEmptySubsequences)
    return parts.map { Substring($0) }
  }

  /// The first scalar, without accents that follow it.
  package var first: Character? { unicodeScalars.first.map { Character($0) } }

  /// The last scalar, even if it is only an accent.
  package var last: Character? { unicodeScalars.last.map { Character($0) } }

  /// Leaves out scalars.
  package func dropFirst(_ count: Int = 1) -> Substring {
    Substring(unicodeScalars.dropFirst(count))
  }

  /// Leaves out a text that this one begins with.
  package func dropFirst(_ beginning: some StringProtocol) -> Substring {
    Substring(utf8.dropFirst(beginning.utf8.count))
  }

  /// The next scalar.
  package func index(after index: Index) -> Index { unicodeScalars.index(after: index) }

  /// The text up to a scalar, with it.
  package subscript(range: PartialRangeThrough<Index>) -> Substring {
    self[..<unicodeScalars.index(after: range.upperBound)]
  }

  /// Leaves out scalars.
  package func dropLast(_ count: Int = 1) -> Substring {
    Substring(unicodeScalars.dropLast(count))
  }
}

extension Character {
  /// The byte of an ASCII character, which is what nearly all callers search for; nil for another one.
  fileprivate var byte: UInt8? {
    let bytes = utf8
    return bytes.count == 1 ? bytes.first : nil
  }
}
