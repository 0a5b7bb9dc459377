// Converts offsets: libyaml counts characters, spans count bytes.

/// A cursor over UTF-8 text that knows its position in characters and in bytes. Events come in file
/// order, so it moves a little at a time. It is public to be inlined, as `Span` is.
public struct CharacterOffsets {
  private let text: UnsafeBufferPointer<UInt8>
  @usableFromInline let isASCII: Bool
  private var character = 0
  private var byte = 0

  /// A cursor at the start of a text, which must outlive it. `isASCII` says that each character is one byte long.
  package init(_ text: UnsafeBufferPointer<UInt8>, isASCII: Bool) {
    self.text = text
    self.isASCII = isASCII
  }

  /// The number of bytes before the character with this number.
  @inlinable public mutating func byteOffset(of target: Int) -> Int {
    isASCII ? target : move(to: target)
  }

  @usableFromInline mutating func move(to target: Int) -> Int {
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
