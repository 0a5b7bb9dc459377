// Queries of those who run commands: whether a command may start, whether its end is expected.

import Plans
package import Scheduling

extension RunMachine {
  /// True if the end of this command is still expected. Callers must ask this if they may hear of
  /// an end twice, or of one that is no longer expected.
  package mutating func awaitsEnd(of key: CommandKey) -> Bool {
    guard end == nil else { return false }
    switch key.role {
    case .attempt, .hook: return active[key.operation]?.role == key.role
    case .probe:
      if abandonedProbes.contains(key) { return true }
      guard let probing = gates[key.operation]?.probing, probing.isRunning else { return false }
      return key == probing.key(for: key.operation)
    }
  }

  /// Must be called right before a command is started. If something stopped the run or the command
  /// since the decision to start it, the command ends here, like one that was cancelled; a step
  /// that never ran a command has no hooks.
  package mutating func mayStart(_ key: CommandKey, at now: Nanoseconds) -> Bool {
    if isWanted(key) { return true }
    if case .attempt(let number) = key.role {
      let state = active[key.operation]
      if number == 1 + (state?.attemptsBefore ?? 0) { state?.runsNoHooks = true }
      if state?.stopCause == nil { state?.stopCause = .cancelled }
    }
    let end = CommandEnd(.notStarted(CommandEnd.stoppedEarly, exitCode: 126))
    ended(key, end, at: now)
    return false
  }

  private mutating func isWanted(_ key: CommandKey) -> Bool {
    switch key.role {
    case .attempt: stopReason == nil && state(of: key).stop == .none
    case .hook: state(of: key).stop == .none
    case .probe: !abandonedProbes.contains(key)
    }
  }
}
