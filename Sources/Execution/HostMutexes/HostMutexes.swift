// The mutexes of the machine that the steps of a run share with those of other runs.

import Diagnostics
import Glibc
import Plans
import Scheduling

final class HostMutexes {
  /// One mutex and its state in the run.
  struct Mutex {
    let pool: PoolID
    let lock: HostLock
    /// When the mutex is tried again; nil if nothing waits for it.
    var retryAt: Nanoseconds?
    /// The time since which the run waits for the mutex.
    var waitingSince: Nanoseconds?
    var hasToldWaiting = false
  }

  var all: [Mutex]
  /// The words by which other runs learn who has a mutex.
  let holder: String
  private let folder: Int32

  /// The time between two attempts to take a mutex.
  static let interval: Nanoseconds = 100_000_000
  /// Waits that last longer than this are reported.
  static let longWait: Nanoseconds = 10_000_000_000

  /// Nil if the plan has no mutexes of the machine.
  init?(_ plan: Plan, _ runID: String, _ workspace: String) throws(SystemError) {
    let pools = plan.pools.indices.filter { plan.pools[$0].isGranted }
    if pools.isEmpty { return nil }
    folder = try HostLockFolder.open()
    holder = "run \(runID) of \(plan.name) in \(workspace) (process \(getpid()))"
    let folder = folder
    all = pools.map { Mutex(pool: PoolID($0), lock: HostLock(plan.pools[$0].name, in: folder)) }
  }

  deinit { close(folder) }

  /// Gives all mutexes back when the run is over: otherwise they would look like those of a killed run.
  func giveBack() { for mutex in all { mutex.lock.release() } }

  /// When a mutex is to be tried again.
  var deadline: Nanoseconds? { all.lazy.compactMap(\.retryAt).min() }
}
