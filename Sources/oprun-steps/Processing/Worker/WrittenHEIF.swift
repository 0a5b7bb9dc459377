// Checks whether a file written by libheif has content. If an encoder runs out of memory, libheif
// (1.15) reports no error: it writes a file that announces an image, and leaves it out.

import Glibc

enum WrittenHEIF {
  /// Goes from box to box (ISO/IEC 14496-12, 4.2) until it finds a data box that is not empty.
  static func hasContent(_ descriptor: Int32) -> Bool {
    var position: off_t = 0
    while let box = header(descriptor, at: position) {
      if box.type == Array("mdat".utf8), box.contentSize > 0 { return true }
      position += off_t(box.size)
    }
    return false
  }

  private static func header(
    _ descriptor: Int32, at position: off_t
  ) -> (type: [UInt8], size: Int, contentSize: Int)? {
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = pread(descriptor, &bytes, bytes.count, position)
    guard count >= 8 else { return nil }
    func number(_ range: Range<Int>) -> Int { bytes[range].reduce(0) { $0 << 8 | Int($1) } }
    let type = Array(bytes[4..<8])
    switch number(0..<4) {
    // The box extends to the end of the file.
    case 0: return (type, count, count - 8)
    case 1:
      guard count == 16, bytes[8] == 0, number(8..<16) >= 16 else { return nil }
      return (type, number(8..<16), number(8..<16) - 16)
    case let size where size >= 8: return (type, size, size - 8)
    default: return nil
    }
  }
}
