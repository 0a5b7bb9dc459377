// A pseudo-terminal whose screen is read by nobody but the test.

import Foundation

/// Programs write to `device`; what they wrote is what `shown` gives.
package final class PseudoTerminal {
  package let path: String
  /// Open on the side of programs.
  package let device: Int32
  private let screen: Int32
  private var seen = Data()

  /// Without columns the terminal does not know its size.
  package init(columns: Int? = nil, rows: Int = 24) throws {
    screen = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var locked: Int32 = 0
    var number: Int32 = 0
    // TIOCSPTLCK and TIOCGPTN, which are macros.
    guard ioctl(screen, 0x4004_5431, &locked) == 0, ioctl(screen, 0x8004_5430, &number) == 0
    else { throw POSIXError(.ENXIO) }
    path = "/dev/pts/\(number)"
    device = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    _ = fcntl(screen, F_SETFL, O_NONBLOCK)
    if let columns { resize(columns: columns, rows: rows) }
  }

  deinit {
    close(device)
    close(screen)
  }

  package func resize(columns: Int, rows: Int = 24) {
    var size = winsize(
      ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(screen, UInt(TIOCSWINSZ), &size)
  }

  package func type(_ text: String) {
    _ = Array(text.utf8).withUnsafeBytes { write(screen, $0.baseAddress, $0.count) }
  }

  /// All that has arrived on the screen so far.
  package func shown() -> String {
    _ = news()
    return String(decoding: seen, as: UTF8.self)
  }

  /// What has arrived since the last call of this or `shown`.
  package func news() -> [UInt8] {
    var news: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(screen, &bytes, bytes.count)
      guard count > 0 else { break }
      news += bytes[..<count]
    }
    seen.append(contentsOf: news)
    return news
  }
}
