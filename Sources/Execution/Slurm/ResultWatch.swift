// Notices that a result was written on this machine, or by a node whose file system reports
// changes. Otherwise nothing is noticed, and results are looked for now and then.

import Diagnostics
import Glibc

final class ResultWatch {
  /// The number under which its descriptor is reported as ready.
  static let number = SlurmProcesses.firstNumber - 1

  private let descriptor: Int32
  private let waiting: any Waiting

  /// Nil if the kernel has no such watch.
  init?(_ waiting: any Waiting) {
    self.waiting = waiting
    descriptor = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
    guard descriptor >= 0 else { return nil }
    do throws(SystemError) {
      try waiting.add(descriptor, for: .executor, number: Self.number)
    } catch {
      close(descriptor)
      return nil
    }
  }

  deinit {
    waiting.remove(descriptor)
    close(descriptor)
  }

  /// Watches the results of the run with this directory.
  func add(_ folder: String) {
    for name in ["results", "stops"] {
      inotify_add_watch(
        descriptor, "\(folder)/@node/\(name)", UInt32(IN_MOVED_TO) | UInt32(IN_CREATE))
    }
  }

  /// Takes all events; false if there are none.
  func take() -> Bool {
    var piece = [UInt8](repeating: 0, count: 1 << 14)
    var isAny = false
    while read(descriptor, &piece, piece.count) > 0 { isAny = true }
    return isAny
  }
}
