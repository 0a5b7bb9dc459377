// An environment in which time passes at once: a wait is over when something is due.

import Plans
import Scheduling

@testable import Execution

final class VirtualWaiting: Waiting {
  private(set) var now: Nanoseconds = 0
  let clock = RunClock(wallTime: 0, monotonicTime: 0)
  let ownProcesses = OwnProcesses()
  /// Signals to the run, by the second they arrive in; earliest first.
  private var signals: [(second: Nanoseconds, signal: Int32)]
  /// True if the run waited for something that could not come.
  private(set) var isStuck = false

  init(signals: [(second: Nanoseconds, signal: Int32)] = []) { self.signals = signals }

  func add(_ descriptor: Int32, for owner: Owner, number: Int, _ interest: Interest) {}

  func remove(_ descriptor: Int32) {}

  func wait(until due: Nanoseconds?) -> [Ready] {
    let next = signals.first.map { $0.second * second }
    guard let time = [due, next].compactMap({ $0 }).min() else {
      // Three signals end any run.
      isStuck = true
      return [Ready(owner: .signals, number: 2)]
    }
    now = max(now, time)
    guard let signal = signals.first, signal.second * second <= now else { return [] }
    signals.removeFirst()
    return [Ready(owner: .signals, number: Int(signal.signal))]
  }
}

let second: Nanoseconds = 1_000_000_000
