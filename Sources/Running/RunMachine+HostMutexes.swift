// Mutexes that other runs on the machine share: something outside opens them, once for each step that needs one.

package import Scheduling

extension RunMachine {
  /// The mutexes that steps of the plan name.
  package var hostMutexes: [PoolID] { scheduler.grantedPools }

  /// True if a step could start now if the run had the mutex.
  package mutating func lacks(_ mutex: PoolID) -> Bool {
    hasRoom && scheduler.lacksGrant(mutex)
  }

  /// True if a step holds it.
  package mutating func holds(_ mutex: PoolID) -> Bool { scheduler.isInUse(mutex) }

  /// The step that waits for it.
  package mutating func waiter(for mutex: PoolID) -> OperationID? {
    scheduler.firstAwaiting(mutex)
  }

  /// The run has the mutex now.
  package mutating func open(_ mutex: PoolID, at now: Nanoseconds) {
    scheduler.open(mutex)
    startReady(at: now)
  }

  /// The run has it no more.
  package mutating func close(_ mutex: PoolID) { scheduler.close(mutex) }

  /// True if steps wait for what another run has, which will end one day.
  var waitsForOtherRuns: Bool {
    hasHostMutexes && scheduler.grantedPools.contains { scheduler.awaitsGrant($0) }
  }
}
