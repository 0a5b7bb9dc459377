// Mutexes that other runs on the machine share: something outside opens them, once for each step that needs one.

package import Scheduling

extension RunMachine {
  /// The mutexes that steps of the plan name.
  package var hostMutexes: [PoolID] { scheduler.grantedPools }

  /// True if a step could start now if the run had the mutex.
  package mutating func lacks(_ mutex: PoolID) -> Bool {
    hasRoom && scheduler.lacksGrant(mutex)
  }

  /// True if a step holds the mutex.
  package mutating func holds(_ mutex: PoolID) -> Bool { scheduler.isInUse(mutex) }

  /// The first step that waits for the mutex.
  package mutating func waiter(for mutex: PoolID) -> OperationID? {
    scheduler.firstAwaiting(mutex)
  }

  /// Opens a mutex that the run has now.
  package mutating func open(_ mutex: PoolID, at now: Nanoseconds) {
    scheduler.open(mutex)
    startReady(at: now)
  }

  /// Closes a mutex that the run no longer has.
  package mutating func close(_ mutex: PoolID) { scheduler.close(mutex) }

  /// True if steps wait for a mutex of another run, which will give it back one day.
  var waitsForOtherRuns: Bool {
    hasHostMutexes && scheduler.grantedPools.contains { scheduler.awaitsGrant($0) }
  }
}
