// Writes text to a descriptor that it does not own.

import Glibc

/// An output that writes at once. A reader that has gone away must not stop the work, so failures
/// are ignored.
struct Output: Sendable {
  let descriptor: Int32

  var isTerminal: Bool { isatty(descriptor) == 1 }

  /// The number of columns of a terminal; nil if it is unknown.
  var columnCount: Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  func write(_ text: String) {
    var text = text
    text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
  }

  func write(_ bytes: UnsafeRawBufferPointer) { _ = writeAll(bytes, to: descriptor) }
}

/// Writes all of the bytes, however often it takes; false, with `errno`, if that is not possible.
func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
  var rest = bytes
  while !rest.isEmpty {
    let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
    if count > 0 {
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    } else if count < 0, errno != EINTR {
      return false
    }
  }
  return true
}
