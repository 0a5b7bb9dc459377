// Attempts of cached steps: the outputs of a failed attempt are removed before the next one.

import Caching
import Plans
import Running
import Scheduling

extension RunLoop {
  /// Removes the outputs that an earlier attempt has left, and notes the files that are there now.
  func attemptBegins(_ key: CommandKey) {
    // A job that an earlier run has left may be taken over: then its attempt has already begun.
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

  /// The outputs that an attempt removes before it begins again elsewhere, where the cache cannot be asked.
  func replaceableOutputs(of operation: OperationID) -> [String] {
    guard let caching, let lookup = caching.lookups[operation] else { return [] }
    return caching.cache.replaceableOutputs(of: lookup)
  }

  /// Notes the outputs that an attempt has left; those of an attempt that may go on cannot be known.
  func attemptEnded(_ key: CommandKey, _ end: CommandEnd) {
    guard case .attempt = key.role, let caching, let lookup = caching.lookups[key.operation] else {
      return
    }
    switch end.status {
    case .abandoned, .lost: break
    case .exited, .signalled, .notStarted, .outputsRefused:
      // A command that was asked to end may exit with 0.
      let isSuccess =
        end.status == .exited(0) && !end.timedOut && machine.undisturbedAttempt(of: key, end) != nil
      caching.cache.attemptEnded(lookup, isSuccess: isSuccess)
    }
  }
}
