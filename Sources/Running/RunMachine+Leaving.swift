// How a run is left while commands of it go on elsewhere: they have no end in this run, and another one goes on with them.
// It does not know where they are.

import Plans
package import Scheduling

extension RunMachine {
  /// Leaves these commands to themselves. Their steps are cancelled without hooks, which belong to the run that sees how
  /// the commands end, and so do the hooks of the groups around them and of the run. A signal asks everything else to
  /// end, as if it had come alone.
  package mutating func leave(
    _ commands: Set<CommandKey>, because signal: Int32? = nil, at now: Nanoseconds
  ) {
    let operations = commands.filter { active[$0.operation]?.role == $0.role }.map(\.operation)
    if let signal {
      if operations.isEmpty { return signalled(signal, at: now) }
      signalCount += 1
    }
    let reason = signal.map { StopReason.signal($0) } ?? .left
    for operation in operations {
      left.insert(operation)
      left.formUnion(groups.around(operation))
    }
    stop(reason, at: now)
    for operation in operations.sorted() {
      guard var state = active.removeValue(forKey: operation) else { continue }
      state.ending = Ending(.cancelled)
      state.cause = .stopped(.left)
      settle(operation, state, at: now)
    }
    endCommands(because: reason, at: now)
    advance(to: now)
  }

  /// Why the run ends early. What goes on says more of it than the signal.
  var reasonOfEnd: StopReason? { left.isEmpty ? stopReason : .left }

  /// The commands that run, if nothing can begin before one of them has ended; nil if something may, because a timer, an
  /// answer or another run is waited for.
  package mutating func commandsAlone() -> [CommandKey]? {
    guard end == nil, !isConcluding, signalCount == 0, expectedCount == 0, probeCount == 0,
      dueGroupHooks.isEmpty, !groupStates.hasAsked, !waitsForOtherRuns
    else { return nil }
    var commands: [CommandKey] = []
    for (operation, state) in active {
      guard let role = state.role, case .attempt = role else { return nil }
      commands.append(CommandKey(operation: operation, role: role))
    }
    return commands.isEmpty ? nil : commands
  }
}
