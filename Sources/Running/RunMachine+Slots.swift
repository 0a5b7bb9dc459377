// The slots of the default queue, where others share them: a jobserver grants them to the run. The
// slots of other queues are the run's own.

package import Scheduling

extension RunMachine {
  /// Lets at most this many operations of the default queue run at once, within its width.
  package mutating func grant(_ slots: Int, at now: Nanoseconds) {
    grantAtStart(slots)
    startReady(at: now)
  }

  /// Must be called before `begin`.
  package mutating func grantAtStart(_ slots: Int) { scheduler.grant(slots, to: .default) }

  package mutating func widthOfDefaultQueue() -> Int { scheduler.width(of: .default) }

  /// True if something would start if one more slot were granted.
  package mutating func lacksGrant() -> Bool {
    hasRoom && scheduler.lacksGrant(.default)
  }

  /// The number of slots of the default queue that are in use.
  package mutating func slotsInUse() -> Int { scheduler.counts(of: .default).running }

  /// Called before a step can start, of which something goes on that an earlier run has started: nobody else gets what it
  /// has, and it starts first.
  package mutating func goesOn(_ operation: OperationID) {
    goingOn.insert(operation)
    scheduler.promise(operation)
  }

  /// Called when such a step has ended without a start: nobody needs what goes on of it. It is to end, and until then the
  /// run waits, and nobody gets what it has: unless the run ends early and lets go on what others have started.
  mutating func endsElsewhere(_ operation: OperationID) {
    if stopReason?.leavesJobs != true { endingElsewhere.insert(operation) }
  }

  /// Whether what goes on of a step is to end, because the step has ended without a start.
  package mutating func mustEndElsewhere(_ operation: OperationID) -> Bool {
    endingElsewhere.contains(operation)
  }

  /// Whether something is awaited that decides what is next.
  var awaitsNews: Bool {
    expectedCount > 0 || groupStates.hasAsked || !endingElsewhere.isEmpty
  }

  /// Nothing of the step goes on any more, or it is not waited for.
  package mutating func isOver(_ operation: OperationID, at now: Nanoseconds) {
    guard endingElsewhere.remove(operation) != nil else { return }
    scheduler.endPromise(to: operation)
    startReady(at: now)
  }
}

extension StopReason {
  /// Whether a run that ends early for this reason lets go on what others have started.
  fileprivate var leavesJobs: Bool {
    switch self {
    case .left, .overtaken, .stateFailure, .failure, .died, .signal(RunMachine.hangup): true
    case .signal, .runTimeout, .groupTimeout, .noWidth, .suspended, .noOutputs, .request: false
    }
  }
}
