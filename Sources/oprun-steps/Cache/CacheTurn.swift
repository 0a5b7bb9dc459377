// The right to fetch what a key stands for: a lock on a file, which tells who has it. It knows neither
// keys nor what is fetched.

import Diagnostics
import Glibc

/// Given back with its last owner, and by the kernel when the process ends.
final class CacheTurn: Sendable {
  /// In microseconds. Looks become rarer: a lock whose file is closed wakes nobody up who does not wait
  /// in the kernel, and who does could not stop.
  private static let shortestPause: UInt32 = 500
  private static let longestPause: UInt32 = 20_000

  private let file: OpenFile
  /// Whether somebody else had it at first.
  let hasWaited: Bool

  /// Calls once with who has it if that takes longer than the patience. Nil after the limit. Both in
  /// nanoseconds.
  init?(
    _ path: String, patience: Int64 = 5_000_000_000, limit: Int64,
    whenLong tell: (_ owner: String) -> Void
  ) throws(SystemError) {
    file = try OpenFile.own(path, O_RDWR | O_CREAT)
    let started = monotonicTime()
    var pause = Self.shortestPause
    var hasTold = false
    var hasWaited = false
    while !file.tryLock(LOCK_EX) {
      hasWaited = true
      let waited = monotonicTime() - started
      if waited >= limit { return nil }
      if waited >= patience, !hasTold {
        hasTold = true
        tell(Self.owner(of: file))
      }
      usleep(min(pause, UInt32(clamping: (limit - waited) / 1000 + 1)))
      pause = min(pause * 2, Self.longestPause)
    }
    self.hasWaited = hasWaited
    sign()
  }

  /// Who waits can say for whom. If it cannot be written, nobody is named.
  private func sign() {
    try? file.truncate()
    let words = Array("\(getpid())\n".utf8)
    words.withUnsafeBytes { bytes in try? file.write(bytes) }
  }

  private static func owner(of file: OpenFile) -> String {
    var text = ""
    try? file.readAll { text += String(decoding: $0, as: UTF8.self) }
    guard let process = Int32(text.trimmed) else { return "another process" }
    return process == getpid() ? "another download of this run" : "process \(process)"
  }
}
