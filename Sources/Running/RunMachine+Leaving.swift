// How a run is left while commands of it go on elsewhere: they have no end in this run, and another one goes on with them,
// or does already. It does not know where they are.

import Plans
package import Scheduling

extension RunMachine {
  /// Leaves these commands to themselves. Their steps are cancelled without hooks, which belong to the run that sees how
  /// the commands end, and so do the hooks of the groups around them and of the run. A signal asks everything else to
  /// end, as if it had come alone.
  package mutating func leave(
    _ commands: Set<CommandKey>, because signal: Int32? = nil, at now: Nanoseconds
  ) {
    let operations = running(commands)
    if let signal {
      if operations.isEmpty { return signalled(signal, at: now) }
      signalCount += 1
    }
    let reason = signal.map { StopReason.signal($0) } ?? .left
    stop(reason, leaving: operations, at: now)
    endCommands(because: reason, at: now)
    advance(to: now)
  }

  /// Ends a run that another one goes on with, because its lock was lost. It ends like one whose
  /// oprun was killed: these commands are left to the other run, the rest is killed, and no hook
  /// runs. The exit status is 74, unless something else has stopped the run before.
  package mutating func overtaken(
    _ message: String, leaving commands: Set<CommandKey>, at now: Nanoseconds
  ) {
    guard end == nil else { return }
    isOvertaken = true
    // The other run ends these jobs: the journal says so.
    endingElsewhere = []
    if let stopReason, !stopReason.isFailure { say(.notice(message)) }
    stop(.overtaken(message), leaving: running(commands), at: now)
    for index in dueGroupHooks.indices { dueGroupHooks[index].state.dropHooks() }
    for operation in active.keys.sorted() {
      guard let state = active[operation] else { continue }
      state.dropHooks()
      if state.role != nil {
        if case .starting = gates[operation] { setGate(of: operation, to: nil) }
        kill(operation, because: .cancelled)
      } else if state.ending != nil {
        continueHooks(of: operation, state, at: now)
      } else {
        cancelRetry(of: operation, .overtaken(message), at: now)
      }
    }
    advance(to: now)
  }

  /// The operations of those of the commands that still run.
  private func running(_ commands: Set<CommandKey>) -> [OperationID] {
    commands.filter { active[$0.operation]?.role == $0.role }.map(\.operation).sorted()
  }

  /// Starts nothing new, and settles these operations, whose commands go on elsewhere.
  private mutating func stop(
    _ reason: StopReason, leaving operations: [OperationID], at now: Nanoseconds
  ) {
    for operation in operations {
      left.insert(operation)
      left.formUnion(groups.around(operation))
    }
    stop(reason, at: now)
    for operation in operations {
      guard let state = active.removeValue(forKey: operation) else { continue }
      if case .starting = gates[operation] { setGate(of: operation, to: nil) }
      state.ending = Ending(.cancelled)
      state.cause = .stopped(.left)
      settle(operation, state, at: now)
    }
  }

  /// Why the run ends early: `.left` counts more than the signal while commands go on, unless they
  /// belong to another run.
  var reasonOfEnd: StopReason? { left.isEmpty || isOvertaken ? stopReason : .left }

  /// The commands that run, if nothing can begin before one of them has ended; nil if a timer, an
  /// answer or another run may start something.
  package mutating func commandsAlone() -> [CommandKey]? {
    guard !hasConcluded, signalCount == 0, expectedCount == 0, probeCount == 0,
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
