// `wait_for`: conditions that are looked at again and again, without a slot.

import Plans
import Scheduling

/// An operation that waits for conditions, one after the other.
struct Wait {
  /// With the values that are known while it waits.
  let step: ReadyStep
  let probes: [Probe]
  /// The one that is waited for.
  var index = 0
  /// Looks at this one that were started.
  var lookCount = 0
  /// The command of the last look runs.
  var isProbing = false
  /// An event said that the operation waits.
  var isReported = false
  /// What the last look that failed said.
  var obstacle: String?
  /// Counts the conditions: timers of an earlier one are void.
  var phase = 0

  var probe: Probe { probes[index] }

  /// The last look's.
  func key(for operation: OperationID) -> CommandKey {
    CommandKey(operation: operation, trial: .probe(index + 1), look: lookCount)
  }
}

extension RunMachine {
  /// Conditions that hold already are met by the first look; no event tells of them.
  mutating func wait(_ operation: OperationID, for wait: Wait, at now: Nanoseconds) {
    guard wait.index < wait.probes.count else { return ask(.conditionsHold, about: operation) }
    var wait = wait
    wait.phase += 1
    if let timeout = wait.probe.timeout { set(.waitLimit, at: now + timeout, operation, wait) }
    look(operation, wait, at: now)
  }

  /// Between looks for room, while as many commands run as may.
  private static let lookDelay: Nanoseconds = 50_000_000

  private mutating func look(_ operation: OperationID, _ wait: Wait, at now: Nanoseconds) {
    var wait = wait
    wait.isProbing = hasRoom
    if wait.isProbing { wait.lookCount += 1 }
    setGate(of: operation, to: .waiting(wait))
    guard wait.isProbing else {
      return set(.probeDue, at: now + RunMachine.lookDelay, operation, wait)
    }
    probeCount += 1
    perform(.start(wait.key(for: operation)))
  }

  /// A look that says nothing leaves what an earlier one has said.
  mutating func probeEnded(
    _ key: CommandKey, _ end: CommandEnd, _ lastWords: String?, at now: Nanoseconds
  ) {
    guard case .waiting(var wait) = gates[key.operation], wait.isProbing,
      key == wait.key(for: key.operation)
    else { preconditionFailure("a look ended that was not running") }
    wait.isProbing = false
    setGate(of: key.operation, to: .waiting(wait))
    if end.status == .exited(0) {
      wait.index += 1
      wait.lookCount = 0
      wait.isReported = false
      wait.obstacle = nil
      return self.wait(key.operation, for: wait, at: now)
    }
    wait.obstacle = lastWords ?? wait.obstacle
    if case .notStarted(let reason, _) = end.status { wait.obstacle = reason }
    if !wait.isReported {
      wait.isReported = true
      say(.waiting(key.operation, wait.probe.words))
    }
    setGate(of: key.operation, to: .waiting(wait))
    set(.probeDue, at: now + wait.probe.every, key.operation, wait)
  }

  mutating func fireWait(_ timer: Timer, at now: Nanoseconds) {
    guard case .waiting(let wait) = gates[timer.operation], wait.phase == timer.phase else {
      return
    }
    if timer.purpose == .probeDue { return look(timer.operation, wait, at: now) }
    let words = wait.probe.words + (wait.obstacle.map { ": \($0)" } ?? "")
    let settings = wait.step.settings
    if settings.hooks.onFailure.isEmpty, settings.hooks.onComplete.isEmpty {
      let isAllowed = settings.allowFailure == .always
      setGate(of: timer.operation, to: nil)
      return end(
        timer.operation, as: Ending(.timedOut, isAllowed: isAllowed), .wait(words), at: now)
    }
    // Hooks run in a slot, as all commands do.
    steps.resolve(timer.operation, as: wait.step)
    setGate(of: timer.operation, to: .expired(words))
    scheduler.resume(timer.operation)
  }

  private mutating func set(
    _ purpose: Timer.Purpose, at time: Nanoseconds, _ operation: OperationID, _ wait: Wait
  ) {
    timers.set(Timer(at: time, operation: operation, purpose: purpose, phase: wait.phase))
  }
}
