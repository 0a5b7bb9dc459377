// Handles `wait_for`: conditions that are checked repeatedly, without a slot.

package import Plans
package import Scheduling

/// An operation that waits for conditions, one after the other.
struct Probing {
  /// The step, with the values that are known while it waits.
  let step: ReadyStep
  let probes: [Probe]
  /// The index of the condition that the step waits for.
  var index = 0
  /// Counts the probes that were started.
  var repetition: Int
  /// True if the command of the last probe is running.
  var isRunning = false
  /// True if an event has reported that the operation waits.
  var isReported = false
  /// The last words of the last probe that failed.
  var obstacle: String?
  /// Counts the conditions: timers of an earlier one are ignored.
  var phase: Int
  /// When this condition was first checked.
  var since: Nanoseconds = 0
  /// When the last probe was started or, once it has ended, when the next one is due.
  var moment: Nanoseconds = 0
  /// True if the time limit is over, and only the end of the last probe is waited for.
  var isLast = false

  /// `attempt` is the last attempt, for a service: late probes of an earlier one are not mistaken for those of this
  /// one.
  init(step: ReadyStep, probes: [Probe], attempt: Int = 0) {
    self.step = step
    self.probes = probes
    repetition = attempt << 32
    phase = attempt << 32
  }

  var probe: Probe { probes[index] }

  /// True if oprun could not check in time before the limit, because it was stopped or had to wait
  /// for the processor: a probe has only just been started, or is overdue.
  fileprivate func isLate(for limit: Nanoseconds, at now: Nanoseconds) -> Bool {
    isRunning ? moment > limit : moment < now
  }

  /// The key of the last probe.
  func key(for operation: OperationID) -> CommandKey {
    CommandKey(operation: operation, role: .probe(index + 1), repetition: repetition)
  }
}

extension RunMachine {
  /// Starts a probe. A condition that already holds is met by the first probe; no event reports it.
  mutating func probe(_ operation: OperationID, for probing: Probing, at now: Nanoseconds) {
    guard probing.index < probing.probes.count else {
      if case .starting = gates[operation] { return conditionsOfServiceHold(operation) }
      return ask(.conditionsHold, about: operation)
    }
    var probing = probing
    probing.phase += 1
    probing.since = now
    probing.isLast = false
    if let timeout = probing.probe.timeout {
      set(.probeLimit, at: now + timeout, operation, probing)
    }
    startProbe(operation, probing, at: now)
  }

  /// The time after which an event reports that a service is waited for.
  private static let quietTime: Nanoseconds = 3_000_000_000

  /// The time between two attempts to start a probe while the maximum number of commands is
  /// running.
  private static let probeDelay: Nanoseconds = 50_000_000

  /// How long the last probe may take if it starts when the time limit is over.
  private static let lastProbeTime: Nanoseconds = 5_000_000_000

  private mutating func startProbe(
    _ operation: OperationID, _ probing: Probing, at now: Nanoseconds
  ) {
    var probing = probing
    probing.isRunning = hasRoom
    probing.moment = now
    if probing.isRunning { probing.repetition += 1 }
    setGate(of: operation, to: gates[operation]?.with(probing) ?? .waiting(probing))
    guard probing.isRunning else {
      return set(.probeDue, at: now + RunMachine.probeDelay, operation, probing)
    }
    probeCount += 1
    perform(.start(probing.key(for: operation)))
  }

  /// Called when a probe that was started has ended; `lastWords` are the last line that it printed.
  package mutating func ended(
    probe key: CommandKey, _ end: CommandEnd, lastWords: String?, at now: Nanoseconds
  ) {
    probeEnded(key, end, lastWords, at: now)
    startReady(at: now)
  }

  /// Handles the end of a probe. If it printed nothing, the words of an earlier one are kept.
  mutating func probeEnded(
    _ key: CommandKey, _ end: CommandEnd, _ lastWords: String?, at now: Nanoseconds
  ) {
    probeCount -= 1
    if abandonedProbes.remove(key) != nil { return }
    guard let gate = gates[key.operation], var probing = gate.probing, probing.isRunning,
      key == probing.key(for: key.operation)
    else { preconditionFailure("a probe ended that was not running") }
    probing.isRunning = false
    setGate(of: key.operation, to: gate.with(probing))
    if end.status == .exited(0) {
      probing.index += 1
      probing.isReported = false
      probing.obstacle = nil
      return self.probe(key.operation, for: probing, at: now)
    }
    probing.obstacle = lastWords ?? probing.obstacle
    var words = probing.probe.words
    if case .notStarted(let reason, _) = end.status {
      probing.obstacle = reason
      words += ": \(reason)"
    }
    if !probing.isReported, !gate.isQuiet || now - probing.since >= RunMachine.quietTime {
      probing.isReported = true
      say(.waiting(key.operation, words))
    }
    if probing.isLast { return expire(key.operation, probing, at: now) }
    probing.moment = now + probing.probe.every
    setGate(of: key.operation, to: gate.with(probing))
    set(.probeDue, at: probing.moment, key.operation, probing)
  }

  /// True if an abandoned probe of the operation has not ended yet.
  func awaitsAbandonedProbe(of operation: OperationID) -> Bool {
    abandonedProbes.contains { $0.operation == operation }
  }

  mutating func fireProbe(_ timer: Timer, at now: Nanoseconds) {
    guard let gate = gates[timer.operation], var probing = gate.probing,
      probing.phase == timer.phase
    else { return }
    if timer.purpose == .probeDue {
      if !probing.isRunning { startProbe(timer.operation, probing, at: now) }
      return
    }
    guard !probing.isLast, probing.isLate(for: timer.at, at: now) else {
      return expire(timer.operation, probing, at: now)
    }
    probing.isLast = true
    set(.probeLimit, at: now + RunMachine.lastProbeTime, timer.operation, probing)
    if probing.isRunning { return setGate(of: timer.operation, to: gate.with(probing)) }
    startProbe(timer.operation, probing, at: now)
  }

  /// Ends the wait for a condition that did not hold in time.
  private mutating func expire(
    _ operation: OperationID, _ probing: Probing, at now: Nanoseconds
  ) {
    let words = probing.probe.words + (probing.obstacle.map { ": \($0)" } ?? "")
    if case .starting = gates[operation] {
      setGate(of: operation, to: nil)
      return fail(operation, because: words, at: now)
    }
    setGate(of: operation, to: nil)
    steps.resolve(operation, as: probing.step)
    let state = ActiveOperation(settings: probing.step.settings, after: attempts(of: operation))
    state.waitExpired(words)
    awaitHooks(of: operation, state, at: now)
  }

  private mutating func set(
    _ purpose: Timer.Purpose, at time: Nanoseconds, _ operation: OperationID, _ probing: Probing
  ) {
    timers.set(Timer(at: time, operation: operation, purpose: purpose, phase: probing.phase))
  }
}
