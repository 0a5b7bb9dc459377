// How a run ends: signals, time limits, failure policies, its own hooks, the exit status.

import Plans
package import Scheduling

extension RunMachine {
  /// Handles a signal to oprun. The first one asks running commands to end, including hooks, and lets
  /// further hooks run; the second kills what was asked to end; the third ends oprun itself.
  package mutating func signalled(_ signal: Int32, at now: Nanoseconds) {
    signalCount += 1
    switch signalCount {
    case 1:
      cancelRun(.signal(signal), at: now)
      advance(to: now)
    case 2: killWhatWasAsked()
    default:
      for operation in active.keys.sorted() { kill(operation, because: .cancelled) }
      guard end == nil else { return }
      settleActive(at: now)
      settleGroups()
      finish(RunEnd(exitStatus: exitStatus(hookFailed: false), stopReason: reasonOfEnd))
    }
  }

  /// Handles a request from outside to end the run: like a signal, but oprun itself does not end at once.
  package mutating func endRequested(by user: String, at now: Nanoseconds) {
    if signalCount == 0 {
      signalCount = 1
      cancelRun(.request(user), at: now)
    } else {
      signalCount = 2
      killWhatWasAsked()
    }
  }

  /// A run that was cancelled from outside ends like one that got this signal.
  static let cancelSignal: Int32 = 15
  /// SIGHUP, after which jobs go on.
  static let hangup: Int32 = 1

  private mutating func killWhatWasAsked() {
    for operation in active.keys.sorted() where active[operation]?.stop == .asked {
      kill(operation, because: .cancelled)
    }
  }

  /// Settles running operations without waiting for the end of the commands that were just killed:
  /// an operation is cancelled, unless it had failed or was cancelled before.
  private mutating func settleActive(at now: Nanoseconds) {
    for operation in active.keys.sorted() where operation != .run {
      guard let state = active.removeValue(forKey: operation) else { continue }
      if state.ending?.outcome.isFailure != true, state.ending?.outcome != .cancelled {
        state.ending = Ending(.cancelled)
        if let reason = state.cancelReason ?? stopReason { state.cause = .stopped(reason) }
      }
      settle(operation, state, at: now)
    }
  }

  /// Called when the logs or the state cannot be kept, or when an observer has lost what it should keep; the run ends
  /// properly, with status 74. If it has already been stopped, it ends as it would have, and reports this as well.
  package mutating func stateFailed(_ message: String, at now: Nanoseconds) {
    let isFirst = stateFailures.isEmpty
    guard stateFailures.insert(message).inserted else { return }
    guard isFirst, stopReason == nil || stopReason?.isFailure == true else {
      return say(.notice(message))
    }
    cancelRun(.stateFailure(message), at: now)
    advance(to: now)
  }

  // MARK: Stopping

  /// Remembers a failure for the end of the run. Returns whether it is allowed.
  @discardableResult
  mutating func noteFailed(_ operation: OperationID, _ ending: Ending) -> Bool {
    guard ending.outcome.isFailure else { return true }
    let isAllowed = ending.isAllowed || groups.isForgiven(operation)
    if !isAllowed || rules.isStrict { failedSteps.append(operation) }
    return isAllowed
  }

  /// Applies the failure policy of the pipeline to the other steps.
  mutating func followPolicy(_ failed: OperationID, at now: Nanoseconds) {
    guard stopReason == nil else { return }
    switch plan.failurePolicy {
    case .continue: break
    case .stop: stopStarting(.failure(failed), at: now)
    case .cancel: cancelRun(.failure(failed), at: now)
    }
  }

  /// Starts nothing new, and no further attempts; running commands continue.
  mutating func stopStarting(_ reason: StopReason, at now: Nanoseconds) {
    stopReason = reason
    say(.stopping(reason))
    stopScheduler(reason, at: now)
    for operation in active.keys.sorted() where active[operation]?.role == nil {
      cancelRetry(of: operation, reason, at: now)
    }
  }

  /// Starts nothing new, and asks running commands to end. A running hook is asked if a person or the
  /// time limit wants the end; after a failure elsewhere it continues, since it may put something
  /// right.
  mutating func cancelRun(_ reason: StopReason, at now: Nanoseconds) {
    stop(reason, at: now)
    endCommands(because: reason, at: now)
  }

  /// Starts nothing new. Of several reasons the first one counts, unless that is a failure.
  mutating func stop(_ reason: StopReason, at now: Nanoseconds) {
    if stopReason == nil || stopReason?.isFailure == true {
      stopReason = reason
      say(.stopping(reason))
    }
    stopScheduler(reason, at: now)
  }

  mutating func endCommands(because reason: StopReason, at now: Nanoseconds) {
    for operation in active.keys.sorted() {
      guard let state = active[operation] else { continue }
      switch state.role {
      case .attempt: cancelCommand(of: operation, reason, at: now)
      case .hook where reason.endsHooks: cancelCommand(of: operation, reason, at: now)
      case .hook where reason.isUrgent:
        set(.hookLimit, at: now + RunMachine.hookLimit, operation, state)
      case .hook, .probe: break
      case nil: cancelRetry(of: operation, reason, at: now)
      }
    }
  }

  /// Stops the scheduler. An operation that is ready for another attempt has hooks to run, so the
  /// scheduler must not end it; nor one that is ready for its hooks.
  private mutating func stopScheduler(_ reason: StopReason, at now: Nanoseconds) {
    let kept = active.keys.sorted().filter {
      $0 != .run && scheduler.state(of: $0) == .ready
    }
    for operation in kept { scheduler.pause(operation) }
    receiveReached()
    // What has ended is told before groups count what has not.
    tellSettled()
    keepGroups()
    tellSettled()
    scheduler.stop(reason)
    for operation in kept where active[operation]?.ending != nil {
      scheduler.resume(operation)
      limitWait(forHooksOf: operation, at: now)
    }
    cancelGated(reason)
    tellSettled()
  }

  mutating func cancelRetry(
    of operation: OperationID, _ reason: StopReason, at now: Nanoseconds
  ) {
    giveUp(operation, because: .stopped(reason), at: now)
  }

  /// Makes no further attempt of an operation that waits for one: it is cancelled.
  mutating func giveUp(
    _ operation: OperationID, because cause: Cause, at now: Nanoseconds
  ) {
    // It may have been cancelled before, so its hooks run, or wait.
    guard let state = active[operation], state.role == nil, state.ending == nil else { return }
    if scheduler.state(of: operation) == .ready { scheduler.pause(operation) }
    state.ending = Ending(.cancelled)
    state.cause = cause
    state.planHooks(for: Ending(.cancelled))
    awaitHooks(of: operation, state, at: now)
  }

  /// Asks the command of the operation to end. Of several reasons the first one counts.
  mutating func cancelCommand(
    of operation: OperationID, _ reason: StopReason, at now: Nanoseconds
  ) {
    guard let state = active[operation], !isEnding(state) else { return }
    state.cancelReason = reason
    if state.stop == .none {
      askToEnd(operation, .cancelled, at: now)
    } else {
      // The command is ending already: only the consequence changes.
      state.stopCause = .cancelled
    }
  }

  /// True if the command was asked to end already, so that cancelling it changes nothing.
  func isEnding(_ state: ActiveOperation) -> Bool {
    state.role != nil && state.stop != .none && state.stopCause?.yieldsToCancellation != true
  }

  mutating func askToEnd(
    _ operation: OperationID, _ cause: ActiveOperation.StopCause, at now: Nanoseconds
  ) {
    guard let state = active[operation], let role = state.role, state.stop == .none else {
      return
    }
    state.stop = .asked
    state.stopCause = cause
    if case .starting = gates[operation] { setGate(of: operation, to: nil) }
    let sequence = state.settings.stop
    perform(
      .stop(CommandKey(operation: operation, role: role), signal: sequence.signal))
    set(.killDue, at: now + sequence.grace, operation, state)
  }

  /// Kills the command of the operation. The cause counts if nobody asked it to end before.
  mutating func kill(_ operation: OperationID, because cause: ActiveOperation.StopCause) {
    guard let state = active[operation], let role = state.role, state.stop != .killed else {
      return
    }
    state.stop = .killed
    state.stopCause = state.stopCause ?? cause
    perform(.kill(CommandKey(operation: operation, role: role)))
  }

  // MARK: The end

  /// True if an operation is ready that would start if its queue were resumed.
  var isHeldBySuspension: Bool {
    (0..<scheduler.queueCount).lazy.map { QueueID($0) }.contains {
      scheduler[$0].isSuspended && scheduler[$0].width > 0 && scheduler.counts(of: $0).ready > 0
    }
  }

  /// Called when every operation has its outcome: the outputs of the pipeline are made, the run's own hooks follow, then
  /// its end.
  mutating func concludeRun(at now: Nanoseconds) {
    guard concludes(at: now) else { return }
    if plan.outputs == nil { return beginHooksOfRun(at: now) }
    asksForOutputs = true
    perform(.decide(.run, .join))
  }

  /// Handles the answer about the outputs of the pipeline. A run without a failure fails if they cannot be made.
  mutating func concluded(_ decision: Decision, at now: Nanoseconds) {
    guard end == nil else { return }
    asksForOutputs = false
    if case .fail(let reason) = decision {
      say(.notice("the outputs of the pipeline cannot be made: \(reason)"))
      if stopReason == nil { stopReason = .noOutputs }
    }
    beginHooksOfRun(at: now)
  }

  private mutating func beginHooksOfRun(at now: Nanoseconds) {
    let run = ActiveOperation(settings: plan.settings)
    run.ending = Ending(runOutcome)
    // The hooks of a run that was left belong to the run that sees its end.
    if left.isEmpty, !isOvertaken { run.planHooks(for: Ending(runOutcome)) }
    continueHooks(of: .run, run, at: now)
  }

  package var runOutcome: Outcome {
    switch stopReason {
    case .signal, .request, .noWidth, .suspended, .stateFailure, .overtaken, .groupTimeout, .left,
      .died:
      .cancelled
    case .runTimeout: .timedOut
    case .failure, .noOutputs: .failed
    case nil: failedSteps.isEmpty ? .succeeded : .failed
    }
  }

  mutating func finishRun(_ run: ActiveOperation) {
    let hookFailed = run.hasFailedHook
    finish(
      RunEnd(
        exitStatus: exitStatus(hookFailed: hookFailed), stopReason: reasonOfEnd,
        hookFailed: hookFailed))
  }

  private func exitStatus(hookFailed: Bool) -> Int32 {
    switch stopReason {
    case .signal(let signal): return 128 + signal
    case .runTimeout: return 124
    case .stateFailure, .overtaken: return 74
    case .request: return 128 + RunMachine.cancelSignal
    case .noWidth, .suspended, .failure, .groupTimeout, .noOutputs, .died: return 1
    case .left: return failedSteps.isEmpty ? 0 : 1
    case nil: break
    }
    return hookFailed || runOutcome != .succeeded ? 1 : 0
  }

  // MARK: What hooks see

  /// The variables for a hook of this operation: `OPRUN_STATUS` and the others.
  func hookVariables(for operation: OperationID) -> [EnvironmentVariable] {
    guard let state = active[operation] else { return [] }
    let isRun = operation == .run
    let duration = groupStates.durationBeforeHooks(of: operation)
    let end =
      isRun
      ? runEnd(state)
      : duration.map { StepEnd(group: state.ending, $0) } ?? StepEnd(state.attemptEnd)
    var variables: [(OprunVariable, String)] = [
      (.status, (state.ending?.outcome ?? .succeeded).word), (.exitCode, end.exitCode),
      (.signal, end.signal), (.durationMS, String(end.duration / 1_000_000)),
    ]
    if isRun {
      let failures = failedSteps.filter { scheduler.ending(of: $0)?.outcome.isFailure == true }
      variables.append((.failedSteps, names(of: failures)))
    }
    if duration != nil { variables.append((.failedSteps, names(of: failures(in: operation)))) }
    return variables.map { EnvironmentVariable($0.0, $0.1) }
  }

  /// The end of the run as it stands: another hook may still fail.
  private func runEnd(_ run: ActiveOperation) -> StepEnd {
    var end = StepEnd(nil)
    end.exitCode = String(exitStatus(hookFailed: run.hasFailedHook))
    if case .signal(let signal) = stopReason { end.signal = String(signal) }
    if case .concluding(let since) = course { end.duration = since }
    return end
  }

  /// The ids, separated by blanks. Linux refuses to start a command with a variable of more than
  /// 128 KiB: of a long list the last ones are left out.
  private func names(of steps: [OperationID]) -> String {
    var names = ""
    for operation in steps {
      let id = self.steps[operation].id
      if names.utf8.count + id.utf8.count >= RunMachine.longestNameList { break }
      names += names.isEmpty ? id : " " + id
    }
    return names
  }

  private static let longestNameList = 1 << 16
}

/// The end of a step, group or run, as hooks see it.
private struct StepEnd {
  /// The exit code; empty if there is none.
  var exitCode = ""
  var signal = ""
  var duration: Nanoseconds

  /// The end of a group, as if it had been a run of its own.
  init(group ending: Ending?, _ duration: Nanoseconds) {
    self.duration = duration
    switch ending?.outcome {
    case .succeeded, .cached, .skipped, nil: exitCode = "0"
    case .failed, .blocked: exitCode = "1"
    case .timedOut: exitCode = "124"
    case .cancelled: break
    }
  }

  /// The end of the last attempt; nil if there was none.
  init(_ end: CommandEnd?) {
    duration = end?.duration ?? 0
    guard let status = end?.status else { return }
    exitCode = status.exitCode.map { String($0) } ?? ""
    if case .signalled(let number) = status { signal = String(number) }
  }
}

extension StopReason {
  var isFailure: Bool { if case .failure = self { true } else { false } }

  /// True if the end of the run cannot wait for long hooks.
  var isUrgent: Bool { !isFailure && self != .noOutputs }

  /// True if running hooks are asked to end, too.
  var endsHooks: Bool {
    switch self {
    case .signal, .request, .runTimeout, .groupTimeout, .overtaken: true
    case .failure, .noOutputs, .noWidth, .suspended, .stateFailure, .left, .died: false
    }
  }
}
