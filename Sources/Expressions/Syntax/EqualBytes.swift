// Compares two ranges of bytes.

@inlinable
package func areEqual(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>)
  -> Bool
{
  guard left.count == right.count, let first = left.baseAddress, let second = right.baseAddress
  else { return left.count == right.count }
  return areEqual(first, second, count: left.count)
}

/// True if two ranges of `count` bytes are equal. They are compared eight bytes at a time, the last
/// of them perhaps twice.
@inlinable
@inline(__always)
package func areEqual(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, count: Int)
  -> Bool
{
  let left = UnsafeRawPointer(left)
  let right = UnsafeRawPointer(right)
  @inline(__always)
  func areEqual<Word: FixedWidthInteger & BitwiseCopyable>(at offset: Int, _: Word.Type) -> Bool {
    left.loadUnaligned(fromByteOffset: offset, as: Word.self)
      == right.loadUnaligned(fromByteOffset: offset, as: Word.self)
  }
  guard count >= 8 else {
    if count >= 4 { return areEqual(at: 0, UInt32.self) && areEqual(at: count - 4, UInt32.self) }
    var index = 0
    while index < count, areEqual(at: index, UInt8.self) { index += 1 }
    return index == count
  }
  var index = 0
  while index + 8 < count {
    guard areEqual(at: index, UInt64.self) else { return false }
    index += 8
  }
  return areEqual(at: count - 8, UInt64.self)
}

/// True if two strings consist of the same bytes: for `==` of Swift, `é` is also `e` with a
/// combining accent, which is another name to Linux and in JSON.
package func areSameBytes(_ left: String, _ right: String) -> Bool {
  guard left.utf8.count == right.utf8.count else { return false }
  let areSame = left.utf8.withContiguousStorageIfAvailable { left in
    right.utf8.withContiguousStorageIfAvailable { right in areEqual(left, right) }
  }
  return (areSame ?? nil) ?? left.utf8.elementsEqual(right.utf8)
}

/// A string that equals only strings of the same bytes.
package struct ExactText: Hashable, Sendable {
  package let text: String

  package init(text: String) { self.text = text }

  package static func == (left: ExactText, right: ExactText) -> Bool {
    areSameBytes(left.text, right.text)
  }

  package func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(UInt8(0xff))
  }
}

extension Set<ExactText> {
  /// True if the set contains the name. A small set is searched by comparing, because hashing takes longer.
  package func holds(_ name: String) -> Bool {
    count <= 8 ? contains { areSameBytes($0.text, name) } : contains(ExactText(text: name))
  }
}
