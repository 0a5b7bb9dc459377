// A cache of parsed expressions by their text, because the steps of a file often repeat one. It
// knows no grammar.

/// Some of the latest expressions. An expression that is found here shares its nodes with the one
/// that was parsed.
package final class ReadExpressions {
  /// An expression that was parsed without an error.
  struct Entry {
    let text: ArraySlice<UInt8>
    /// The distance from the start of the text to the start of the expression.
    let inset: Int
    let nodes: [ExpressionNode]
  }

  private var entries = [Entry?](repeating: nil, count: 64)

  package init() {}

  subscript(text: ArraySlice<UInt8>) -> Entry? {
    guard let entry = entries[place(of: text)], areSame(entry.text, text) else { return nil }
    return entry
  }

  func add(_ entry: Entry) { entries[place(of: entry.text)] = entry }

  private func place(of text: ArraySlice<UInt8>) -> Int {
    guard let first = text.first, let last = text.last else { return 0 }
    let middle = text[text.startIndex + text.count / 2]
    return (text.count &* 37 &+ Int(first) &* 11 &+ Int(middle) &* 5 &+ Int(last)) & 63
  }
}

/// True if two texts have the same bytes.
package func areSame(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
  left.withUnsafeBufferPointer { left in
    right.withUnsafeBufferPointer { right in areEqual(left, right) }
  }
}
