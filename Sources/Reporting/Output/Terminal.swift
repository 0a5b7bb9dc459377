// What the kernel says about a descriptor: whether it is a terminal, how wide, and whether it is
// the same as another.

import Glibc

package enum Terminal {
  package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// The number of columns of the terminal; nil if it is not one, or if that is unknown.
  package static func width(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Whether bytes written to either end up in the same file, pipe or terminal.
  package static func isSameTarget(_ first: Int32, _ second: Int32) -> Bool {
    var one = stat()
    var other = stat()
    guard fstat(first, &one) == 0, fstat(second, &other) == 0 else { return false }
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino
  }
}
