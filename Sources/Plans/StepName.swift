// A name of steps on the command line.

/// A word that names a step, and with it what is an instance or a member of that. A group with instances may
/// be named without them: `deploy/push` is `push` in each instance of `deploy`.
package struct StepName {
  package let word: String

  package init(_ word: String) { self.word = word }

  /// Whether the step of this id is meant.
  package func covers(_ id: String) -> Bool { Self.covers(word.utf8[...], id.utf8[...]) }

  private static func covers(
    _ word: Substring.UTF8View, _ id: Substring.UTF8View
  ) -> Bool {
    var word = word
    var id = id
    while let wanted = word.first {
      if id.first == wanted {
        word.removeFirst()
        id.removeFirst()
        continue
      }
      guard wanted == UInt8(ascii: "/"), id.first == UInt8(ascii: "[") else { return false }
      // The values of an instance may hold brackets and slashes.
      return id.indices.contains { index in
        guard id[index] == UInt8(ascii: "]") else { return false }
        let rest = id[id.index(after: index)...]
        return rest.first == wanted && covers(word, rest)
      }
    }
    return id.isEmpty || id.first == UInt8(ascii: "/") || id.first == UInt8(ascii: "[")
  }
}
