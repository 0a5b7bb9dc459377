// The one place where a run waits, and what it waits for. Everything that becomes ready has an owner,
// who gave it a number of its own; nobody else knows what the number means.

import Diagnostics
import Plans
import Scheduling

/// What a run has of the world around it: time, descriptors that become ready, signals, and processes of
/// its own. Tests have one in which time passes at once.
protocol Waiting: AnyObject {
  /// Since the start of the run.
  var now: Nanoseconds { get }

  /// The start of the run.
  var clock: RunClock { get }

  /// From now on `wait` tells when the descriptor is ready. It is not owned, and the owner removes it,
  /// or closes it.
  func add(
    _ descriptor: Int32, for owner: Owner, number: Int, _ interest: Interest
  ) throws(SystemError)

  func remove(_ descriptor: Int32)

  /// Returns what is ready, at once or as soon as there is something; empty at the given time. Without
  /// one it waits for ever.
  func wait(until due: Nanoseconds?) -> [Ready]

  /// Children that are oprun's own.
  var ownProcesses: OwnProcesses { get }
}

extension Waiting {
  func add(_ descriptor: Int32, for owner: Owner, number: Int) throws(SystemError) {
    try add(descriptor, for: owner, number: number, .reading)
  }
}

/// Who waits for something. What becomes ready goes to its owner, and to nobody else.
enum Owner: UInt32 {
  /// The run itself: the number is that of a signal which asks it to end.
  case signals
  case executor
  case hashing
  /// Readers of standard output and standard error.
  case readers
}

/// Something that is ready.
struct Ready: Hashable {
  let owner: Owner
  /// As the owner gave it; at most 32 bits.
  let number: Int
}

enum Interest {
  case reading, writing
}

/// Children of oprun that belong to no command: nobody looks for a command that left them behind.
final class OwnProcesses {
  private(set) var processIDs: Set<Int32> = []

  func insert(_ processID: Int32) { processIDs.insert(processID) }

  func reaped(_ processID: Int32) {
    if !processIDs.isEmpty { processIDs.remove(processID) }
  }
}
