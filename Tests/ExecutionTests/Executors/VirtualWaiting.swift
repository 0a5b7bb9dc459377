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
  /// True if the run waited for something that could not come, or again and again for nothing.
  private(set) var isStuck = false
  /// Whether the executor has something that only a look shows.
  var hasNews: ((Nanoseconds) -> Bool)?
  /// How often the run has waited since time last passed.
  private var idleWaits = 0
  /// More than any run needs at one moment.
  private static let mostIdleWaits = 10_000

  /// When the process is stopped after a look, and goes on: what is ready by then is seen by the next look.
  private var stop: (after: Nanoseconds, until: Nanoseconds)?

  init(
    signals: [(second: Nanoseconds, signal: Int32)] = [],
    stop: (after: Nanoseconds, until: Nanoseconds)? = nil
  ) {
    self.signals = signals
    self.stop = stop
  }

  func add(_ descriptor: Int32, for owner: Owner, number: Int, _ interest: Interest) {}

  func remove(_ descriptor: Int32) {}

  /// Three signals end any run, once no time remains that it might wait for; otherwise the tests end here.
  private func end() -> [Ready] {
    precondition(idleWaits < Self.mostIdleWaits * 2, "a run does not end")
    isStuck = true
    now += 1000 * second
    return [Ready(owner: .signals, number: 2)]
  }

  func look() -> [Ready] {
    hasNews?(now) == true ? [Ready(owner: .executor, number: 0)] : []
  }

  func wait(until due: Nanoseconds?) -> [Ready] {
    let next = signals.first.map { $0.second * second }
    guard let time = [due, next].compactMap({ $0 }).min() else {
      return end()
    }
    idleWaits = time > now ? 0 : idleWaits + 1
    now = max(now, time)
    if idleWaits > Self.mostIdleWaits { return end() }
    if let stop {
      guard now >= stop.after * second else { return [] }
      now = stop.until * second
      self.stop = nil
      return []
    }
    guard let signal = signals.first, signal.second * second <= now else { return look() }
    signals.removeFirst()
    return [Ready(owner: .signals, number: Int(signal.signal))]
  }
}

let second: Nanoseconds = 1_000_000_000
