// Attempts of cached steps: what one that fails leaves in the place of the outputs is removed before the next one.

import Caching
import Plans
import Running
import Scheduling

extension RunLoop {
  /// Removes what an earlier attempt has left, and notes what is there now.
  func attemptBegins(_ key: CommandKey) {
    // A job that an earlier run has left may be taken over: its attempt has begun then.
    guard let caching, let lookup = caching.lookups[key.operation],
      earlierRuns(of: machine.steps[key.operation].id).isEmpty
    else { return }
    do throws(CacheFailure) {
      try caching.cache.attemptBegins(lookup)
    } catch {
      lookup.fault = error
      tellOfFault(error, key.operation)
    }
  }

  /// What an attempt removes that begins once more elsewhere, where nobody asks the cache.
  func replaceableOutputs(of operation: OperationID) -> [String] {
    guard let caching, let lookup = caching.lookups[operation] else { return [] }
    return caching.cache.replaceableOutputs(of: lookup)
  }

  /// Notes what an attempt has left. Of one that may go on, that cannot be known.
  func attemptEnded(_ key: CommandKey, _ end: CommandEnd) {
    guard case .attempt = key.role, let caching, let lookup = caching.lookups[key.operation] else {
      return
    }
    switch end.status {
    case .abandoned, .lost: break
    case .exited, .signalled, .notStarted, .outputsRefused:
      // A command that was asked to end may say that all is well.
      let isSuccess =
        end.status == .exited(0) && !end.timedOut && machine.undisturbedAttempt(of: key, end) != nil
      caching.cache.attemptEnded(lookup, isSuccess: isSuccess)
    }
  }
}
