// Steps that are asked about once more when they could start, because another run may be doing the same, or have done it
// by now. Only then may a run lock a step: what has a lock and waits for a slot could wait for ever.

import Plans
package import Scheduling

extension RunMachine {
  /// Asks, before the first attempt, whether the operation, which has its slot, must still run;
  /// false if that is known.
  mutating func asksFirst(about operation: OperationID) -> Bool {
    guard rules.asksAtStart, active[operation] == nil, steps.ready(operation).settings.cache != nil
    else {
      return false
    }
    setGate(of: operation, to: .asked(.start))
    perform(.decide(operation, .start))
    return true
  }

  mutating func decidedAtStart(
    _ operation: OperationID, _ decision: Decision, at now: Nanoseconds
  ) {
    switch decision {
    case .run:
      setGate(of: operation, to: nil)
      startAttempt(of: operation, at: now)
    case .keep(let ending, let cause):
      withdraw(operation)
      end(operation, as: ending, cause, at: now)
    case .later:
      withdraw(operation)
      setGate(of: operation, to: .deferred)
    case .fail, .skip, .skipGroup, .expand, .join, .wait:
      preconditionFailure("no answer to whether a step must still run")
    }
  }

  /// Lets deferred operations compete for slots again.
  package mutating func startDeferred(_ operations: [OperationID], at now: Nanoseconds) {
    for operation in operations {
      guard case .deferred = gate(of: operation) else { continue }
      setGate(of: operation, to: nil)
      scheduler.resume(operation)
    }
    startReady(at: now)
  }

  /// Takes back the slot and claims of an operation that was asked about when it could start.
  mutating func withdraw(_ operation: OperationID) {
    guard case .asked(.start) = gate(of: operation) else { return }
    setGate(of: operation, to: nil)
    scheduler.pause(operation)
    // Its job of an earlier run still has its claims.
    if goingOn.contains(operation) { scheduler.promise(operation) }
  }
}
