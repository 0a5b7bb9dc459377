// Finds a string in another in linear time, byte by byte (Knuth, Morris and Pratt).

package struct TextSearch {
  private let pattern: [UInt8]
  /// The length of the longest shorter match that can be continued, for each length of the match so far.
  private let fallbacks: [Int]

  package init(_ pattern: String) {
    let pattern = Array(pattern.utf8)
    var fallbacks = [Int](repeating: 0, count: pattern.count + 1)
    var length = 0
    for index in pattern.indices.dropFirst() {
      while length > 0, pattern[index] != pattern[length] { length = fallbacks[length] }
      if pattern[index] == pattern[length] { length += 1 }
      fallbacks[index + 1] = length
    }
    self.pattern = pattern
    self.fallbacks = fallbacks
  }

  func isFound(in text: String) -> Bool {
    if pattern.isEmpty { return true }
    var isFound = false
    search(Array(text.utf8)) { _ in
      isFound = true
      return false
    }
    return isFound
  }

  /// The parts between the matches, which do not overlap; nil if there are more than the limit. The
  /// pattern must not be empty.
  package func parts(of text: String, limit: Int) -> [String]? {
    let bytes = Array(text.utf8)
    var parts: [String] = []
    var start = 0
    search(bytes) { end in
      parts.append(String(decoding: bytes[start..<end - pattern.count], as: UTF8.self))
      start = end
      return parts.count < limit
    }
    if parts.count == limit { return nil }
    return parts + [String(decoding: bytes[start...], as: UTF8.self)]
  }

  /// Calls `found` with the end of each match until it returns false.
  private func search(_ bytes: [UInt8], _ found: (Int) -> Bool) {
    var length = 0
    for (index, byte) in bytes.enumerated() {
      while length > 0, byte != pattern[length] { length = fallbacks[length] }
      if byte == pattern[length] { length += 1 }
      if length == pattern.count {
        if !found(index + 1) { return }
        length = 0
      }
    }
  }
}
