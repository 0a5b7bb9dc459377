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

  /// Called before the run begins for a step of which something goes on that an earlier run has started: nobody else gets
  /// what it has, and it starts first.
  package mutating func goesOn(_ operation: OperationID) { scheduler.promise(operation) }
}
