// Text onto a descriptor that somebody else owns.

import Glibc

/// Writes at once. A reader that went away must not stop the work: failures are passed over.
struct Output: Sendable {
  let descriptor: Int32

  var isTerminal: Bool { isatty(descriptor) == 1 }

  /// Of a terminal; nil if it does not say.
  var columnCount: Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
        if count > 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        } else if count < 0, errno != EINTR {
          return
        }
      }
    }
  }
}
