// Searching for a string in a string. The standard library's own functions belong to its module for
// regular expressions, which is a twelfth of a program that uses a single one of them;
// Scripts/build compiles oprun without that module.

extension StringProtocol {
  /// True if the bytes of a string occur in this one.
  package func containsText(_ other: some StringProtocol) -> Bool {
    firstRange(ofText: other) != nil
  }

  /// The range where the bytes of a string first occur in this one. An empty string occurs at the start.
  package func firstRange(ofText other: some StringProtocol) -> Range<Index>? {
    let wanted = other.utf8
    guard let first = wanted.first else { return startIndex..<startIndex }
    var rest = utf8[...]
    while let start = rest.firstIndex(of: first) {
      rest = rest[start...]
      if rest.starts(with: wanted) {
        return start..<utf8.index(start, offsetBy: wanted.count)
      }
      rest = rest.dropFirst()
    }
    return nil
  }

  /// The string with every occurrence of another, which is not empty, replaced.
  package func replacingText(
    _ other: some StringProtocol, with replacement: some StringProtocol
  ) -> String {
    var result = ""
    var rest = self[...]
    while let range = rest.firstRange(ofText: other) {
      result += rest[..<range.lowerBound]
      result += replacement
      rest = rest[range.upperBound...]
    }
    return result + rest
  }
}
