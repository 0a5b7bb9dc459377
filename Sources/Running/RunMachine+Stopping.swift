// How a run ends: signals, time limits, failure policies, its own hooks, the exit status.

package import Plans
package import Scheduling

extension RunMachine {
  /// Handles a signal to oprun. The first one asks running commands to end and lets hooks run; the
  /// second kills; the third ends oprun itself.
  package mutating func signalled(_ signal: Int32, at now: Nanoseconds) {
    signalCount += 1
    switch signalCount {
    case 1:
      cancelRun(.signal(signal), at: now)
      advance(to: now)
    case 2:
      for operation in active.keys.sorted() { killAttempt(of: operation) }
    default:
      for operation in active.keys.sorted() { killAnything(of: operation) }
      guard end == nil else { return }
      settleActive(at: now)
      finish(RunEnd(exitStatus: 128 + signal, stopReason: stopReason))
    }
  }

  /// Settles running operations without waiting for the end of the commands that were just killed:
  /// an operation is cancelled, unless it had failed before.
  private mutating func settleActive(at now: Nanoseconds) {
    for operation in active.keys.sorted() where operation != CommandKey.runOperation {
      guard var state = active.removeValue(forKey: operation) else { continue }
      if state.ending?.outcome.isFailure != true {
        state.ending = Ending(.cancelled)
        if let reason = state.cancelReason ?? stopReason { state.cause = .stopped(reason) }
      }
      settle(operation, state, at: now)
    }
  }

  /// Called when the logs or the state cannot be kept; the run ends properly, with status 74. If it
  /// has already been stopped, it ends as it would have, and reports this as well.
  package mutating func stateFailed(_ message: String, at now: Nanoseconds) {
    guard !hasToldStateFailure else { return }
    hasToldStateFailure = true
    guard stopReason == nil || stopReason?.isFailure == true else { return say(.notice(message)) }
    cancelRun(.stateFailure(message), at: now)
    advance(to: now)
  }

  /// Called when an observer has lost what it should keep: the run ends as after any failure of its
  /// state. No observer fails twice, so each failure is reported.
  package mutating func observerFailed(_ message: String, at now: Nanoseconds) {
    if hasToldStateFailure { return say(.notice(message)) }
    stateFailed(message, at: now)
  }

  mutating func fire(_ timer: Timer, at now: Nanoseconds) {
    if timer.purpose == .runTimeLimit {
      if stopReason == nil, end == nil { cancelRun(.runTimeout, at: now) }
      return
    }
    if timer.purpose == .longWait { return tellLongWaits() }
    if timer.purpose == .probeDue || timer.purpose == .probeLimit {
      return fireProbe(timer, at: now)
    }
    guard let state = active[timer.operation], state.phase == timer.phase else { return }
    switch timer.purpose {
    case .timeLimit: askToEnd(timer.operation, .timeLimit, at: now)
    case .killDue: killAnything(of: timer.operation)
    case .retryDue: scheduler.resume(timer.operation)
    case .readyDue: conditionsOfServiceHold(timer.operation)
    case .runTimeLimit, .probeDue, .probeLimit, .longWait: break
    }
  }

  // MARK: Stopping

  /// Starts nothing new, and no further attempts; running commands continue.
  mutating func stopStarting(_ reason: StopReason, at now: Nanoseconds) {
    stopReason = reason
    say(.stopping(reason))
    stopScheduler(reason)
    for operation in active.keys.sorted() where active[operation]?.role == nil {
      cancelRetry(of: operation, reason, at: now)
    }
  }

  /// Starts nothing new, and asks running commands to end. A running hook continues, for a while.
  mutating func cancelRun(_ reason: StopReason, at now: Nanoseconds) {
    let isFirst = stopReason == nil || stopReason?.isFailure == true
    if isFirst {
      stopReason = reason
      say(.stopping(reason))
    }
    stopScheduler(reason)
    for operation in active.keys.sorted() {
      guard let state = active[operation] else { continue }
      switch state.role {
      case .attempt: askToEnd(operation, .cancelled, at: now)
      case .hook: set(.killDue, at: now + RunMachine.hookLimit, operation, state)
      case .probe: break
      case nil: cancelRetry(of: operation, reason, at: now)
      }
    }
  }

  /// Stops the scheduler. An operation that is ready for another attempt has hooks to run, so the
  /// scheduler must not end it.
  private mutating func stopScheduler(_ reason: StopReason) {
    for operation in active.keys.sorted() where operation != CommandKey.runOperation {
      if scheduler.state(of: operation) == .ready { scheduler.pause(operation) }
    }
    scheduler.stop(reason)
    cancelGated(reason)
    tellSettled()
  }

  mutating func cancelRetry(
    of operation: OperationID, _ reason: StopReason, at now: Nanoseconds
  ) {
    // It may have been cancelled before, so its hooks are running.
    guard var state = active[operation], state.role == nil else { return }
    if scheduler.state(of: operation) == .ready { scheduler.pause(operation) }
    state.ending = Ending(.cancelled)
    state.cause = .stopped(reason)
    state.planHooks(for: Ending(.cancelled))
    continueHooks(of: operation, &state, at: now)
  }

  mutating func askToEnd(
    _ operation: OperationID, _ cause: ActiveOperation.StopCause, at now: Nanoseconds
  ) {
    guard var state = active[operation], let role = state.role, state.stop == .none else {
      return
    }
    state.stop = .asked
    state.stopCause = cause
    active[operation] = state
    if case .starting = gates[operation] { setGate(of: operation, to: nil) }
    let sequence = state.settings.stop
    perform(
      .stop(CommandKey(operation: operation, role: role), signal: sequence.signal))
    set(.killDue, at: now + sequence.grace, operation, state)
  }

  private mutating func killAttempt(of operation: OperationID) {
    if case .attempt = active[operation]?.role { killAnything(of: operation) }
  }

  private mutating func killAnything(of operation: OperationID) {
    guard var state = active[operation], let role = state.role, state.stop != .killed else {
      return
    }
    state.stop = .killed
    state.stopCause = state.stopCause ?? .cancelled
    active[operation] = state
    perform(.kill(CommandKey(operation: operation, role: role)))
  }

  // MARK: The end

  /// Called when every operation has its outcome: the run's own hooks follow, then its end.
  mutating func concludeRun(at now: Nanoseconds) {
    guard !isConcluding else { return }
    isConcluding = true
    perform(.resolveRun)
  }

  /// The answer to `.resolveRun`: the run's own settings, with everything that is known now.
  package mutating func runResolved(as settings: StepSettings, at now: Nanoseconds) {
    guard end == nil else { return }
    steps.resolveRun(as: settings)
    var run = ActiveOperation(settings: settings)
    run.ending = Ending(runOutcome)
    run.planHooks(for: Ending(runOutcome))
    continueHooks(of: CommandKey.runOperation, &run, at: now)
  }

  var runOutcome: Outcome {
    switch stopReason {
    case .signal, .noWidth, .suspended, .stateFailure: .cancelled
    case .runTimeout: .timedOut
    case .failure: .failed
    case nil: failedSteps.isEmpty ? .succeeded : .failed
    }
  }

  mutating func finishRun(_ run: ActiveOperation) {
    let hookFailed = run.cause != .itself
    finish(
      RunEnd(
        exitStatus: exitStatus(hookFailed: hookFailed), stopReason: stopReason,
        hookFailed: hookFailed))
  }

  private func exitStatus(hookFailed: Bool) -> Int32 {
    switch stopReason {
    case .signal(let signal): return 128 + signal
    case .runTimeout: return 124
    case .stateFailure: return 74
    case .noWidth, .suspended, .failure: return 1
    case nil: break
    }
    if !failedSteps.isEmpty || hookFailed { return 1 }
    return isStrict && hasAllowedFailure ? 1 : 0
  }

  // MARK: What hooks see

  /// `OPRUN_STATUS` and the others, for a hook of this operation.
  func hookVariables(for operation: OperationID) -> [EnvironmentVariable] {
    guard let state = active[operation] else { return [] }
    let status = (state.ending?.outcome ?? .succeeded).word
    var variables = [("OPRUN_STATUS", status)]
    if operation == CommandKey.runOperation {
      let failed = failedSteps.map { steps[$0].id }.joined(separator: " ")
      variables.append(("OPRUN_FAILED_STEPS", failed))
    } else {
      let (code, signal) = state.attemptEnd?.codes ?? ("", "")
      let duration = (state.attemptEnd?.duration ?? 0) / 1_000_000
      variables += [
        ("OPRUN_EXIT_CODE", code), ("OPRUN_SIGNAL", signal), ("OPRUN_DURATION_MS", "\(duration)"),
      ]
    }
    return variables.map { EnvironmentVariable(name: $0.0, value: $0.1) }
  }
}

extension CommandEnd {
  /// `OPRUN_EXIT_CODE` and `OPRUN_SIGNAL`.
  fileprivate var codes: (exit: String, signal: String) {
    switch status {
    case .exited(let code), .notStarted(_, let code): (String(code), "")
    case .outputsRefused: ("0", "")
    case .abandoned, .lost: ("", "")
    case .signalled(let signal): (String(128 + signal), String(signal))
    }
  }
}

extension StopReason {
  fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }
}
