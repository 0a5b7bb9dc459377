// The right to fetch the content of a key: a lock on a file, which names the process that has it.
// It knows neither keys nor what is fetched.

import Diagnostics
import Glibc

/// A turn, which is released with its last owner, and by the kernel when the process ends.
final class CacheTurn: Sendable {
  /// The first pause between two attempts, in microseconds; pauses become longer. Releasing a lock
  /// by closing its file wakes only processes that wait in the kernel, and such a wait could not be
  /// stopped.
  private static let shortestPause: UInt32 = 500
  private static let longestPause: UInt32 = 20_000

  private let file: OpenFile
  /// True if another process had the lock at first.
  let hasWaited: Bool

  /// Takes the lock. If that takes longer than the patience, the closure is called once with the
  /// process that has it. Nil after the limit. Both are in nanoseconds.
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
      if waited >= patience, !hasTold {
        hasTold = true
        tell(Self.owner(of: file))
      }
      if waited >= limit { return nil }
      usleep(min(pause, UInt32(clamping: (limit - waited) / 1000 + 1)))
      pause = min(pause * 2, Self.longestPause)
    }
    self.hasWaited = hasWaited
    sign()
  }

  /// Writes the process number into the file, so that those who wait can name it. If it cannot be
  /// written, they name none.
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
