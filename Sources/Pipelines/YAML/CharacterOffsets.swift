// libyaml counts characters, spans count bytes. This turns the one into the other.

/// A cursor over UTF-8 text that knows its place in characters and in bytes. Events come in file
/// order, so it moves a little at a time.
struct CharacterOffsets {
  private let text: UnsafeBufferPointer<UInt8>
  private let isASCII: Bool
  private var character = 0
  private var byte = 0

  init(_ text: UnsafeBufferPointer<UInt8>, isASCII: Bool) {
    self.text = text
    self.isASCII = isASCII
  }

  /// The bytes before the character with this number.
  @inline(__always)
  mutating func byteOffset(of target: Int) -> Int {
    isASCII ? target : move(to: target)
  }

  private mutating func move(to target: Int) -> Int {
    while character < target, byte < text.count {
      byte += 1
      while byte < text.count, text[byte] & 0xC0 == 0x80 { byte += 1 }
      character += 1
    }
    while character > target, byte > 0 {
      byte -= 1
      while byte > 0, text[byte] & 0xC0 == 0x80 { byte -= 1 }
      character -= 1
    }
    return byte
  }
}

func areEqual(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
  guard left.count == right.count, let first = left.baseAddress, let second = right.baseAddress
  else { return left.count == right.count }
  return areEqual(first, second, count: left.count)
}

/// Whether two stretches of `count` bytes are equal; eight at a time, the last of them
/// perhaps twice.
@inline(__always)
func areEqual(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, count: Int) -> Bool {
  let left = UnsafeRawPointer(left)
  let right = UnsafeRawPointer(right)
  @inline(__always)
  func areEqual<Word: FixedWidthInteger & BitwiseCopyable>(at offset: Int, _: Word.Type) -> Bool {
    left.loadUnaligned(fromByteOffset: offset, as: Word.self)
      == right.loadUnaligned(fromByteOffset: offset, as: Word.self)
  }
  guard count >= 8 else {
    if count >= 4 { return areEqual(at: 0, UInt32.self) && areEqual(at: count - 4, UInt32.self) }
    return (0..<count).allSatisfy { areEqual(at: $0, UInt8.self) }
  }
  var index = 0
  while index + 8 < count {
    guard areEqual(at: index, UInt64.self) else { return false }
    index += 8
  }
  return areEqual(at: count - 8, UInt64.self)
}
