// An operation between its first start and its outcome.

import Plans
import Scheduling

/// What the machine remembers about an operation that was started and has no outcome yet. The run
/// itself is one while its own hooks run. An object, because it is looked up several times for each
/// command, and a copy of it has ten parts to be counted.
final class ActiveOperation {
  enum Stop: Comparable {
    case none, asked, killed
  }

  /// Why its command was asked to end.
  enum StopCause {
    case timeLimit, cancelled
    /// A service that was not ready in time, or whose outputs cannot be used.
    case notReady
    /// A service that no step needs any more.
    case unneeded

    /// True if a cancellation replaces this cause: an attempt that would be retried or count as a
    /// failure becomes cancelled; an unneeded service has done its work.
    var yieldsToCancellation: Bool {
      switch self {
      case .timeLimit, .notReady: true
      case .cancelled, .unneeded: false
      }
    }
  }

  let settings: StepSettings
  /// The number of the last attempt that was started.
  var attempt = 0
  /// The command that runs now; nil while it waits for a retry.
  var role: CommandRole?
  /// Counts the commands and delays of the operation: timers of an earlier phase are ignored.
  var phase = 0
  var stop = Stop.none
  var stopCause: StopCause?
  /// Why the operation was cancelled.
  var cancelReason: StopReason?
  /// When the last attempt of a service was started, and how long it had run when it was given up.
  var serviceStart: Nanoseconds = 0
  var notReadyAfter: Nanoseconds?

  /// True if no hook of the operation runs: its first attempt was stopped before it started, or
  /// another run goes on with this one.
  var runsNoHooks = false
  /// How the last attempt ended.
  var attemptEnd: CommandEnd?
  /// The ending, decided when the attempts are over; hooks may still turn a success into a failure.
  var ending: Ending?
  var cause = Cause.itself
  var hooksLeft: [HookNumber] = []
  /// True if a hook failed or was stopped, whether that changed the ending or not.
  private(set) var hasFailedHook = false

  /// The attempts that were made before somebody asked for another one; `retry` counts from there.
  let attemptsBefore: Int

  /// The number of attempts since then.
  var attemptsOfRetry: Int { attempt - attemptsBefore }

  init(settings: StepSettings, after attempts: Int = 0) {
    self.settings = settings
    attemptsBefore = attempts
    attempt = attempts
  }

  func begin(_ role: CommandRole?) {
    self.role = role
    phase += 1
    stop = .none
    stopCause = nil
    notReadyAfter = nil
  }

  /// Plans the hooks for the ending: those of its kind, then `on_complete`. A step that never ran a command has none.
  func planHooks(for ending: Ending) {
    if runsNoHooks || settings.hooks.isEmpty { return }
    hooksLeft = ending.outcome.hooks.flatMap { kind in
      settings.hooks[kind].indices.map { HookNumber(kind, $0 + 1) }
    }
  }

  /// Drops the hooks, which belong to another run.
  func dropHooks() {
    hooksLeft = []
    runsNoHooks = true
  }

  /// Ends an operation whose `wait_for` timed out: it makes no attempt.
  func waitExpired(_ words: String) {
    ending = Ending(.timedOut, isAllowed: settings.allowFailure == .always)
    cause = .wait(words)
    planHooks(for: Ending(.timedOut))
  }

  /// Called when a hook failed. This turns success into failure, never hides an earlier failure,
  /// and ends the list of hooks that it is in.
  func hookFailed(_ kind: HookKind) {
    if ending?.outcome == .succeeded {
      ending = Ending(.failed, isAllowed: settings.allowFailure == .always)
      cause = .hook(kind)
    }
    hasFailedHook = true
    hooksLeft.removeAll { $0.kind == kind }
  }

  /// Called when a hook was stopped, which ends the list of hooks that it is in. A success becomes
  /// `outcome`; after a hook of success, the hooks of that outcome follow.
  func hookStopped(_ kind: HookKind, _ reason: StopReason, outcome: Outcome) {
    hasFailedHook = true
    hooksLeft.removeAll { $0.kind == kind }
    guard ending?.outcome == .succeeded else { return }
    let ending = Ending(outcome)
    self.ending = ending
    cause = .stopped(reason)
    if kind == .onSuccess { planHooks(for: ending) }
  }
}

extension ActiveOperation {
  /// Why oprun ended the command, if it did: a command that was over before it was asked has ended by itself.
  private func stopCause(of end: CommandEnd) -> StopCause? {
    switch stopCause {
    case .timeLimit, .cancelled: end.endedByItself ? nil : stopCause
    case .notReady, .unneeded, nil: stopCause
    }
  }

  /// True if nobody had asked the command to end before it ended like this, or asked too late to matter.
  func isUndisturbed(by end: CommandEnd) -> Bool { stopCause(of: end) == nil }

  /// The meaning of the end of an attempt, apart from retries and hooks.
  func outcome(of end: CommandEnd) -> Outcome {
    switch stopCause(of: end) {
    case .cancelled: .cancelled
    case .timeLimit: .timedOut
    case .notReady: .failed
    case .unneeded: .succeeded
    case nil: end.timedOut ? .timedOut : end.status == .exited(0) ? .succeeded : .failed
    }
  }

  /// The end, marked with the reason if oprun ended the command.
  func marked(_ end: CommandEnd) -> CommandEnd {
    guard let cause = stopCause(of: end) else { return end }
    return end.marked(
      timedOut: cause == .timeLimit, isStopped: cause == .cancelled,
      notReadyAfter: cause == .notReady ? notReadyAfter : nil)
  }
}

extension RetryPolicy {
  /// True if an attempt that ended like this is tried again.
  func covers(_ outcome: Outcome, _ end: CommandEnd) -> Bool {
    guard outcome.isFailure else { return false }
    if triggers.isEmpty { return true }
    return triggers.contains { trigger in
      switch trigger {
      case .failed: outcome == .failed
      case .timedOut: outcome == .timedOut
      case .signal: outcome == .failed && end.status.isSignal
      case .exit(let code): code == end.status.exitCode
      }
    }
  }

  /// The delay after the attempt with this number, before any jitter. It never overflows.
  func delay(afterAttempt attempt: Int) -> Nanoseconds {
    var wait = delay
    if wait == 0 || backoff == 1000 { return min(wait, maxDelay) }
    for _ in 1..<max(1, attempt) {
      let (product, overflow) = wait.multipliedReportingOverflow(by: Nanoseconds(backoff))
      wait = overflow ? maxDelay : product / 1000
      if wait >= maxDelay { return maxDelay }
    }
    return min(wait, maxDelay)
  }
}
