// What the kernel says about a descriptor: whether it is a terminal, how large, and whether it is
// the same as another.

import Glibc

/// Rows and columns of a terminal.
struct ScreenSize: Hashable {
  var rows: Int
  var columns: Int

  init(rows: Int, columns: Int) {
    self.rows = rows
    self.columns = columns
  }
}

package enum Terminal {
  package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// The number of columns of the terminal; nil if it is not one, or if that is unknown.
  package static func width(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// The size of the terminal; nil if it is not one, or if its width is unknown.
  static func size(of descriptor: Int32) -> ScreenSize? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return ScreenSize(
      rows: size.ws_row > 0 ? Int(size.ws_row) : usualRows, columns: Int(size.ws_col))
  }

  private static let usualRows = 24

  /// False if the terminal currently belongs to other programs, as for a job in the background.
  static func isInForeground(_ descriptor: Int32) -> Bool {
    let owner = tcgetpgrp(descriptor)
    return owner < 0 || owner == getpgrp()
  }

  /// True if earlier lines continue on further rows when the terminal becomes narrower. The Linux
  /// console, xterm, rxvt, st and GNU screen cut them off instead.
  static func wrapsAgain(environment: (String) -> String?) -> Bool {
    func isSet(_ name: String) -> Bool { environment(name).map { !$0.isEmpty } ?? false }

    if isSet("TMUX") { return true }
    let name = environment("TERM") ?? ""
    let cutting = ["linux", "screen", "rxvt", "st-"]
    return !isSet("STY") && !isSet("XTERM_VERSION") && name != "st"
      && !cutting.contains(where: name.hasPrefix)
  }

  /// True if output ends there: in a file, in `/dev/null`.
  static func neverAnswers(_ descriptor: Int32) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    let kind = status.st_mode & S_IFMT
    return kind == S_IFREG || kind == S_IFCHR && !isTerminal(descriptor)
  }

  /// True if bytes written to either end up in the same file, pipe or terminal.
  package static func isSameTarget(_ first: Int32, _ second: Int32) -> Bool {
    var one = stat()
    var other = stat()
    guard fstat(first, &one) == 0, fstat(second, &other) == 0 else { return false }
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino
  }
}
