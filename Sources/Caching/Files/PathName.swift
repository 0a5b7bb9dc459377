// Paths as the kernel compares them. The equality of strings is that of what people read: names that are written with
// different bytes may be equal, although they are those of different files.

/// A path to look others up by.
package struct PathName: Hashable {
  package let text: String

  package init(_ text: String) { self.text = text }

  init(_ text: Substring) { self.text = String(text) }

  package static func == (left: Self, right: Self) -> Bool {
    left.text.hasSameBytes(as: right.text)
  }

  package func hash(into hasher: inout Hasher) { hasher.combineBytes(of: text) }
}

extension Hasher {
  mutating func combineBytes(of text: String) {
    var text = text
    text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
    combine(UInt8(0xff))
  }
}

extension String {
  package func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

  package func precedesByBytes(_ other: String) -> Bool {
    utf8.lexicographicallyPrecedes(other.utf8)
  }

  /// The rest of a path that is in a directory, or in one that is in it; nil for another one.
  package func path(below folder: String) -> String? {
    let around = folder.utf8.last == UInt8(ascii: "/") ? folder : folder + "/"
    guard utf8.starts(with: around.utf8), utf8.count > around.utf8.count else { return nil }
    return String(Substring(utf8.dropFirst(around.utf8.count)))
  }

  package func isBelow(_ folder: String) -> Bool { path(below: folder) != nil }
}
