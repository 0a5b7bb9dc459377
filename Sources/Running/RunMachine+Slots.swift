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

  /// Called before a step can start whose job of an earlier run goes on: nobody else gets what the
  /// job holds, and the step starts first.
  package mutating func goesOn(_ operation: OperationID) {
    goingOn.insert(operation)
    scheduler.promise(operation)
  }

  /// Called when a step has ended without a start while its job of an earlier run goes on. The job
  /// is to end; until then the run waits, and nobody gets what it holds, unless the run ends early
  /// and lets such jobs go on.
  mutating func endsElsewhere(_ operation: OperationID) {
    if stopReason?.leavesJobs != true { endingElsewhere.insert(operation) }
  }

  /// True if the step has ended without a start, and its job of an earlier run is to end.
  package mutating func mustEndElsewhere(_ operation: OperationID) -> Bool {
    endingElsewhere.contains(operation)
  }

  /// True if news is awaited that decides what is next.
  var awaitsNews: Bool {
    expectedCount > 0 || groupStates.hasAsked || !endingElsewhere.isEmpty
  }

  /// Called when the job of an earlier run has ended, or is not waited for.
  package mutating func isOver(_ operation: OperationID, at now: Nanoseconds) {
    guard endingElsewhere.remove(operation) != nil else { return }
    scheduler.endPromise(to: operation)
    startReady(at: now)
  }
}

extension StopReason {
  /// True if a run that ends early for this reason lets jobs of earlier runs go on.
  fileprivate var leavesJobs: Bool {
    switch self {
    case .left, .overtaken, .stateFailure, .failure, .died, .signal(RunMachine.hangup): true
    case .signal, .runTimeout, .groupTimeout, .noWidth, .suspended, .noOutputs, .request: false
    }
  }
}
