// Runs the hooks of a step, of a group or of the run, one after the other.

import Plans
import Scheduling

extension RunMachine {
  /// Runs the hooks, if any, of an operation that has no running attempt: like an attempt, they
  /// wait for slot, mutex and resources.
  mutating func awaitHooks(
    of operation: OperationID, _ state: ActiveOperation, at now: Nanoseconds
  ) {
    guard !state.hooksLeft.isEmpty else {
      return continueHooks(of: operation, state, at: now)
    }
    state.begin(nil)
    active[operation] = state
    scheduler.resume(operation)
    limitWait(forHooksOf: operation, at: now)
  }

  /// Limits the wait for hooks at the end of the run: other runs may keep a mutex for as long as they like.
  mutating func limitWait(forHooksOf operation: OperationID, at now: Nanoseconds) {
    guard hasHostMutexes, stopReason?.isUrgent == true, let state = active[operation] else {
      return
    }
    set(.hookLimit, at: now + RunMachine.hookLimit, operation, state)
  }

  /// Leaves out hooks that have waited for too long.
  mutating func leaveOutHooks(of operation: OperationID, at now: Nanoseconds) {
    guard let state = active[operation] else { return }
    tellLeftOutHooks(of: operation)
    state.hooksLeft = []
    continueHooks(of: operation, state, at: now)
  }

  mutating func tellLeftOutHooks(of operation: OperationID) {
    let obstacle = scheduler.obstacle(of: operation).map { "'\(scheduler[$0].name)' is held" }
    let reason = obstacle ?? "no slot is free"
    say(.notice("hooks of '\(steps[operation].id)' do not run: \(reason)"))
  }

  /// Starts the next hook, or settles the operation when there is none.
  mutating func continueHooks(
    of operation: OperationID, _ state: ActiveOperation, at now: Nanoseconds
  ) {
    guard !state.hooksLeft.isEmpty else {
      active[operation] = nil
      return settle(operation, state, at: now)
    }
    let hook = state.hooksLeft.removeFirst()
    let round = 1 + (reopenings[operation] ?? 0)
    start(.hook(hook.kind, index: hook.index, round: round), of: operation, state)
    let timeout = state.settings.hooks[hook.kind][hook.index - 1].timeout
    set(.timeLimit, at: now + timeout, operation, state)
    let isCutShort = [stopReason, state.cancelReason].contains { $0?.isUrgent == true }
    if isCutShort || state.ending?.outcome == .cancelled {
      set(.hookLimit, at: now + RunMachine.hookLimit, operation, state)
    }
    active[operation] = state
  }

  mutating func hookEnded(
    _ key: CommandKey, _ kind: HookKind, _ end: CommandEnd, at now: Nanoseconds
  ) {
    let state = state(of: key)
    let end = state.marked(end)
    say(.ended(key.operation, key.role, end))
    if end.isStopped, let reason = state.cancelReason ?? stopReason {
      state.hookStopped(kind, reason, outcome: key.operation == .run ? runOutcome : .cancelled)
    } else if !end.isSuccess {
      state.hookFailed(kind)
    }
    continueHooks(of: key.operation, state, at: now)
  }
}
