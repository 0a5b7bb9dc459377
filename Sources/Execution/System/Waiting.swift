// The one place where a run waits. Everything that can become ready has an owner, who gave it a
// number; nothing else knows what the number means.

import Diagnostics
import Glibc
import Plans
import Scheduling

/// The environment of a run: time, descriptors that become ready, signals, and processes of oprun
/// itself. Tests have one in which time passes at once.
protocol Waiting: AnyObject {
  /// The time since the start of the run.
  var now: Nanoseconds { get }

  /// The start of the run.
  var clock: RunClock { get }

  /// Makes `wait` report when the descriptor is ready. The descriptor stays its owner's, who
  /// removes or closes it.
  func add(
    _ descriptor: Int32, for owner: Owner, number: Int, _ interest: Interest
  ) throws(SystemError)

  func remove(_ descriptor: Int32)

  /// Returns what is ready, at once or as soon as there is something; empty at the given time. Without
  /// one it waits for ever.
  func wait(until due: Nanoseconds?) -> [Ready]

  /// Returns what is ready, without waiting.
  func look() -> [Ready]

  /// Stops oprun as the signal would have, and returns when oprun continues, or at once if nobody
  /// could continue it.
  func obey(_ signal: Int32)

  /// The children that belong to oprun itself.
  var ownProcesses: OwnProcesses { get }
}

extension Waiting {
  func look() -> [Ready] { wait(until: now) }

  func obey(_ signal: Int32) {}

  func add(_ descriptor: Int32, for owner: Owner, number: Int) throws(SystemError) {
    try add(descriptor, for: owner, number: number, .reading)
  }
}

/// An owner of something that can become ready. News goes only to its owner.
enum Owner: UInt32 {
  /// The run itself: the number is that of a signal that asks it to end.
  case signals
  /// The run itself: the `oprun watch` that has started it requests its end.
  case watcher
  case executor
  case hashing
  /// Processes that do the work of the step cache.
  case caching
  /// Readers of standard output and standard error.
  case readers
  /// Job control: the number is that of SIGTSTP or SIGCONT.
  case jobControl
  /// The jobserver, which may have a token.
  case jobs
  /// The clients that ask the run something through its socket.
  case control
}

/// Something that is ready.
struct Ready: Hashable {
  let owner: Owner
  /// The number that the owner gave it; at most 32 bits.
  let number: Int
}

enum Interest {
  case reading, writing
  /// Only the departure of the other side.
  case leaving
}

/// Children of oprun that belong to no command: they are not mistaken for processes that a command
/// left behind.
final class OwnProcesses {
  private(set) var processIDs: Set<Int32> = []
  /// The descriptors whose work a run waits for at its end.
  private(set) var awaited: Set<Int32> = []

  func insert(_ processID: Int32, isAwaited: Bool = false) {
    processIDs.insert(processID)
    if isAwaited { awaited.insert(processID) }
  }

  /// Kills a child unless its end was collected: its number may be that of another process by then.
  func kill(_ processID: Int32) {
    if processIDs.contains(processID) { _ = Glibc.kill(processID, SIGKILL) }
  }

  func reaped(_ processID: Int32) {
    if !processIDs.isEmpty { processIDs.remove(processID) }
    if !awaited.isEmpty { awaited.remove(processID) }
  }
}
