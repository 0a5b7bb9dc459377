// A name of steps on the command line.

/// A word that names a step, together with its instances or members. A group with instances may be
/// named without them: `deploy/push` is `push` in each instance of `deploy`.
package struct StepName {
  package let word: String

  package init(_ word: String) { self.word = word }

  /// True if the word names the step with this id.
  package func covers(_ id: String) -> Bool {
    var word = word.utf8[...]
    var id = id.utf8[...]
    /// The last instance that the word leaves out: the rest of the word, and the text that may
    /// belong to the instance. Its values may contain brackets and slashes.
    var skipped: (word: Substring.UTF8View, id: Substring.UTF8View)?
    while true {
      if word.isEmpty, id.isEmpty || id.first == UInt8(ascii: "/") || id.first == UInt8(ascii: "[")
      {
        return true
      }
      if let wanted = word.first, wanted == id.first {
        word.removeFirst()
        id.removeFirst()
        continue
      }
      if word.first == UInt8(ascii: "/"), id.first == UInt8(ascii: "[") { skipped = (word, id) }
      guard let place = skipped, let rest = Self.behindInstance(place.id) else { return false }
      skipped?.id = rest
      (word, id) = (place.word, rest)
    }
  }

  /// The text after the next bracket that could end an instance: a slash, and the rest of the id.
  private static func behindInstance(_ id: Substring.UTF8View) -> Substring.UTF8View? {
    var rest = id
    while let end = rest.firstIndex(of: UInt8(ascii: "]")) {
      rest = rest[rest.index(after: end)...]
      if rest.first == UInt8(ascii: "/") { return rest }
    }
    return nil
  }
}
