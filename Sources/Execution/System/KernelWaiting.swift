// Waits with the means of Linux: epoll, signalfd and the monotonic clock.

import CLinux
import Diagnostics
import Glibc
import Plans
import Scheduling

/// The environment of a run. There can be only one in a process, because signals belong to the
/// process.
final class KernelWaiting: Waiting {
  let ownProcesses = OwnProcesses()
  /// The start of the run, as a time of the monotonic clock.
  let start = monotonicTime()
  private(set) var signals: Signals
  private var readiness: Readiness
  /// The owner that is told when a child has changed state.
  private var parent: Ready?
  /// The owner that is told when the terminal has another size.
  private var resizing: Ready?

  init() throws(SystemError) {
    signals = try Signals()
    readiness = try Readiness()
    try readiness.add(signals.descriptor, Ready(owner: .signals, number: 0))
  }

  var now: Nanoseconds { monotonicTime() - start }

  var clock: RunClock { RunClock(wallTime: wallTime() - now, monotonicTime: start) }

  func add(
    _ descriptor: Int32, for owner: Owner, number: Int, _ interest: Interest
  ) throws(SystemError) {
    try readiness.add(descriptor, Ready(owner: owner, number: number), interest)
  }

  func remove(_ descriptor: Int32) { readiness.remove(descriptor) }

  /// Makes SIGCHLD news for this owner, in place of a descriptor.
  func addChildren(for owner: Owner, number: Int) { parent = Ready(owner: owner, number: number) }

  /// Makes SIGWINCH news for this owner.
  func addResizing(for owner: Owner, number: Int) {
    resizing = Ready(owner: owner, number: number)
  }

  func wait(until due: Nanoseconds?) -> [Ready] {
    var ready = readiness.wait(nanoseconds: due.map { $0 - now })
    guard let index = ready.firstIndex(where: { $0.owner == .signals }) else { return ready }
    // Output comes first, then the ends of commands, then requests to end the run.
    ready.remove(at: index)
    if let parent { ready.append(parent) }
    for signal in signals.take() {
      switch signal {
      case .signal(SIGWINCH): if let resizing { ready.append(resizing) }
      case .signal(let number) where number == SIGTSTP || number == SIGCONT:
        ready.append(Ready(owner: .jobControl, number: Int(number)))
      case .signal(let number): ready.append(Ready(owner: .signals, number: Int(number)))
      case .endOfWatched: ready.append(Ready(owner: .watcher, number: 0))
      }
    }
    return ready
  }

  func obey(_ signal: Int32) { clinux_obey(signal) }
}
