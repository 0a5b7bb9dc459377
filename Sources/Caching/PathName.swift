// Paths as the kernel compares them. The equality of strings is that of what people read: names that are written with
// different bytes may be equal, although they are those of different files.

/// A path to look others up by.
struct PathName: Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  init(_ text: Substring) { self.text = String(text) }

  static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }

  func hash(into hasher: inout Hasher) { hasher.combineBytes(of: text) }
}

extension Hasher {
  mutating func combineBytes(of text: String) {
    var text = text
    text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
    combine(UInt8(0xff))
  }
}

extension String {
  func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

  func precedesByBytes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
