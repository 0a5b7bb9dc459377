// Runs the hooks of a step, of a group or of the run, one after the other.

import Plans
import Scheduling

extension RunMachine {
  /// Starts the next hook, or settles the operation when there is none.
  mutating func continueHooks(
    of operation: OperationID, _ state: inout ActiveOperation, at now: Nanoseconds
  ) {
    guard !state.hooksLeft.isEmpty else {
      active[operation] = nil
      return settle(operation, state, at: now)
    }
    let hook = state.hooksLeft.removeFirst()
    start(.hook(hook.kind, index: hook.index), of: operation, &state)
    let timeout = state.settings.hooks[hook.kind][hook.index - 1].timeout
    set(.timeLimit, at: now + timeout, operation, state)
    if stopReason?.isUrgent == true || state.ending?.outcome == .cancelled {
      set(.hookLimit, at: now + RunMachine.hookLimit, operation, state)
    }
    active[operation] = state
  }

  mutating func hookEnded(
    _ key: CommandKey, _ kind: HookKind, _ end: CommandEnd, at now: Nanoseconds
  ) {
    var state = state(of: key)
    let end = state.marked(end)
    say(.ended(key.operation, key.role, end))
    if end.isStopped, let reason = state.cancelReason ?? stopReason {
      state.hookStopped(kind, reason)
    } else if !end.isSuccess {
      state.hookFailed(kind)
    }
    continueHooks(of: key.operation, &state, at: now)
  }
}
