// Numbers, texts and digests as bytes, for what is kept and for what processes tell each other. A reader
// of damaged bytes finds nothing, and never more than there is.

package struct ByteWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func add(_ byte: UInt8) { bytes.append(byte) }

  package mutating func append(_ more: [UInt8]) { bytes += more }

  /// Makes it empty, and keeps the memory.
  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  mutating func append(raw more: UnsafeRawBufferPointer) { bytes.append(contentsOf: more) }

  /// Adds a text of which the bytes are at hand.
  mutating func add(raw text: UnsafeRawBufferPointer) {
    add(text.count)
    bytes.append(contentsOf: text)
  }

  /// Adds texts as one, with blanks between them.
  mutating func add(joining texts: [String]) {
    add(texts.reduce(max(0, texts.count - 1)) { $0 + $1.utf8.count })
    for (index, text) in texts.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: " ")) }
      var text = text
      text.withUTF8 { bytes.append(contentsOf: $0) }
    }
  }

  package mutating func add(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

  package mutating func add(_ number: Int) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  package mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { characters in
      add(characters.count)
      bytes.append(contentsOf: characters)
    }
  }

  package mutating func add(data: [UInt8]) {
    add(data.count)
    bytes += data
  }

  mutating func add(_ digest: CacheDigest) {
    withUnsafeBytes(of: digest.words) { bytes.append(contentsOf: $0) }
  }

  package mutating func add<Item>(_ items: [Item], _ body: (inout ByteWriter, Item) -> Void) {
    add(items.count)
    for item in items { body(&self, item) }
  }

  package mutating func add(_ texts: [String]) { add(texts) { $0.add($1) } }
}

/// The bytes cannot be what they should be.
package struct ByteReadFailure: Error {
  package init() {}
}

package struct ByteReader {
  private let bytes: ArraySlice<UInt8>
  private var position: Int

  package init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  package var isAtEnd: Bool { position == bytes.endIndex }

  package mutating func byte() throws(ByteReadFailure) -> UInt8 {
    guard position < bytes.endIndex else { throw ByteReadFailure() }
    position += 1
    return bytes[position - 1]
  }

  package mutating func flag() throws(ByteReadFailure) -> Bool { try byte() != 0 }

  package mutating func number() throws(ByteReadFailure) -> Int {
    Int(truncatingIfNeeded: try word()).littleEndian
  }

  package mutating func text() throws(ByteReadFailure) -> String {
    let count = try number()
    guard count >= 0, count <= bytes.endIndex - position else { throw ByteReadFailure() }
    defer { position += count }
    return String(decoding: bytes[position..<position + count], as: UTF8.self)
  }

  package mutating func data() throws(ByteReadFailure) -> [UInt8] {
    let count = try number()
    guard count >= 0, count <= bytes.endIndex - position else { throw ByteReadFailure() }
    defer { position += count }
    return Array(bytes[position..<position + count])
  }

  mutating func digest() throws(ByteReadFailure) -> CacheDigest {
    CacheDigest(words: (try word(), try word(), try word(), try word()))
  }

  /// A list of items of which each has at least `size` bytes: memory is reserved for no more than there can be.
  package mutating func list<Item>(
    ofBytes size: Int = 1, _ body: (inout ByteReader) throws(ByteReadFailure) -> Item
  ) throws(ByteReadFailure) -> [Item] {
    let count = try number()
    guard count >= 0, count <= (bytes.endIndex - position) / size else { throw ByteReadFailure() }
    var items: [Item] = []
    items.reserveCapacity(count)
    for _ in 0..<count { items.append(try body(&self)) }
    return items
  }

  package mutating func texts() throws(ByteReadFailure) -> [String] {
    try list { reader throws(ByteReadFailure) in try reader.text() }
  }

  private mutating func word() throws(ByteReadFailure) -> UInt64 {
    guard bytes.endIndex - position >= 8 else { throw ByteReadFailure() }
    defer { position += 8 }
    return bytes.withUnsafeBytes { buffer in
      buffer.loadUnaligned(fromByteOffset: position - bytes.startIndex, as: UInt64.self)
    }
  }
}
