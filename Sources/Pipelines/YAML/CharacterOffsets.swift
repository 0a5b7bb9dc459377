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

/// Whether two stretches of `count` bytes are equal; eight at a time.
@inline(__always)
func areEqual(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, count: Int) -> Bool {
  let left = UnsafeRawPointer(left)
  let right = UnsafeRawPointer(right)
  var index = 0
  while index + 8 <= count {
    let word = left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
    if word != right.loadUnaligned(fromByteOffset: index, as: UInt64.self) { return false }
    index += 8
  }
  while index < count {
    let byte = left.load(fromByteOffset: index, as: UInt8.self)
    if byte != right.load(fromByteOffset: index, as: UInt8.self) { return false }
    index += 1
  }
  return true
}
