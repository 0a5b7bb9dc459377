// `wait_for`: conditions that are looked at again and again, without a slot.

import Pipelines
import Scheduling

/// An operation that waits for conditions.
struct Wait {
  /// With the values that are known while it waits.
  let step: PlannedStep
  let probes: [Probe]
  /// The one that is waited for.
  var index = 0
  /// Its command runs.
  var isProbing = false
  /// That it waits was told.
  var isTold = false
  /// What the last look that failed said.
  var obstacle: String?
  /// Counts the conditions: timers of an earlier one are void.
  var phase = 0
}

extension RunMachine {
  /// Conditions that hold already are met by the first look; no event tells of them.
  mutating func beginWait(of operation: OperationID, _ wait: Wait, at now: Nanoseconds) {
    waits[operation] = wait
    beginCondition(of: operation, at: now)
  }

  private mutating func beginCondition(of operation: OperationID, at now: Nanoseconds) {
    guard var wait = waits[operation] else { return }
    guard wait.index < wait.probes.count else {
      waits[operation] = nil
      metConditions.insert(operation)
      return perform(.decide(operation))
    }
    wait.phase += 1
    waits[operation] = wait
    if let timeout = wait.probes[wait.index].timeout {
      set(.waitLimit, at: now + timeout, operation, wait)
    }
    probe(operation, at: now)
  }

  /// While as many commands run as may.
  private static let probeDelay: Nanoseconds = 50_000_000

  private mutating func probe(_ operation: OperationID, at now: Nanoseconds) {
    guard let wait = waits[operation] else { return }
    guard hasRoom else {
      return set(.probeDue, at: now + RunMachine.probeDelay, operation, wait)
    }
    waits[operation]?.isProbing = true
    probeCount += 1
    perform(.start(CommandKey(operation: operation, trial: .probe(wait.index + 1))))
  }

  mutating func probeEnded(_ key: CommandKey, _ end: CommandEnd, at now: Nanoseconds) {
    guard var wait = waits[key.operation], key.trial == .probe(wait.index + 1) else { return }
    wait.isProbing = false
    probeCount -= 1
    if case .notStarted(let reason, _) = end.status { wait.obstacle = reason }
    if end.status == .exited(0) {
      wait.index += 1
      wait.isTold = false
      wait.obstacle = nil
      waits[key.operation] = wait
      return beginCondition(of: key.operation, at: now)
    }
    if !wait.isTold {
      wait.isTold = true
      say(.waiting(key.operation, wait.probes[wait.index].words))
    }
    waits[key.operation] = wait
    set(.probeDue, at: now + wait.probes[wait.index].every, key.operation, wait)
  }

  /// Before its end is told. One that says nothing leaves what an earlier one has said.
  mutating func lookFailed(_ key: CommandKey, saying words: String?) {
    if let words { waits[key.operation]?.obstacle = words }
  }

  mutating func fireWait(_ timer: Timer, at now: Nanoseconds) {
    guard let wait = waits[timer.operation], wait.phase == timer.phase else { return }
    if timer.purpose == .probeDue { return probe(timer.operation, at: now) }
    endWait(of: timer.operation)
    let words = wait.probes[wait.index].words + (wait.obstacle.map { ": \($0)" } ?? "")
    let settings = wait.step.settings
    if settings.hooks.onFailure.isEmpty, settings.hooks.onComplete.isEmpty {
      let isAllowed = settings.allowFailure == .always
      return end(
        timer.operation, as: Ending(.timedOut, isAllowed: isAllowed), .wait(words), at: now)
    }
    // Hooks run in a slot, as all commands do.
    plan.steps[timer.operation.index] = wait.step
    vainWaits[timer.operation] = words
    gated.remove(timer.operation)
    scheduler.resume(timer.operation)
  }

  /// It waits no longer; a look that goes on is ended.
  mutating func endWait(of operation: OperationID) {
    guard let wait = waits.removeValue(forKey: operation), wait.isProbing else { return }
    probeCount -= 1
    perform(.kill(CommandKey(operation: operation, trial: .probe(wait.index + 1))))
  }

  private mutating func set(
    _ purpose: Timer.Purpose, at time: Nanoseconds, _ operation: OperationID, _ wait: Wait
  ) {
    timers.set(Timer(at: time, operation: operation, purpose: purpose, phase: wait.phase))
  }
}
