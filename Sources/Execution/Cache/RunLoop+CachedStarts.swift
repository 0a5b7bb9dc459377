// Cached steps that could start: another run may have them, or have made their results by now, and
// a job that an earlier run has left may still write their outputs. docs/design-cache.md;
// docs/design-slurm.md, “Resume”.

import Caching
import Diagnostics
import Plans
import Running
import Scheduling

extension RunLoop {
  /// The decision about a step that could start: another run may be running it, or have made its result by now.
  func startDecision(about operation: OperationID) -> Decision {
    let runs = Decision.run(machine.steps.ready(operation))
    guard let caching, let lookup = caching.lookups[operation] else { return runs }
    let wasLocked = lookup.isLocked
    switch caching.cache.begin(lookup) {
    case .ask(let jobs):
      caching.await(jobs, by: operation)
      return runs
    case .locked:
      caching.deferStart(of: operation, at: now)
      return .later
    case .hit(let hit):
      tellOfDamage(to: lookup, operation, runs: false)
      noteResult(of: operation)
      guard restore(hit.outputs, of: operation) else { return runs }
      showAgain(hit.log, of: operation)
      if lookup.hasRestored { tell(.restored(operation), at: turnTime) }
      return .keep(Ending(.cached))
    case .miss where endsJobFirst(lookup, operation, caching): return .later
    case .miss:
      // The files of a step that already has its lock were compared some time ago.
      lookup.comparedAt = wasLocked ? nil : Int(turnTime)
      tellOfMiss(lookup, operation)
      return runs
    }
  }

  /// Says, once for a step, that its result in the cache was damaged, and what is done instead.
  func tellOfDamage(to lookup: CacheLookup, _ operation: OperationID, runs: Bool) {
    guard let damage = lookup.damage else { return }
    lookup.damage = nil
    let step = quoted(machine.steps[operation].id)
    let subject =
      switch damage {
      case .result: "the result of step \(step) in the cache is damaged"
      case .content(let path):
        "the content of \(quoted(path)), an output of step \(step), is damaged in the cache"
      }
    let remedy =
      runs
      ? "the step runs again"
      : lookup.wasFetched
        ? "the shared cache has brought it" : "another result of the step is used"
    say("\(subject): \(remedy)")
  }

  /// Ends the job of an earlier run that makes the step from other inputs than it has now: while
  /// that job may write the outputs, nothing is found or restored, and no other attempt begins.
  /// False if there is none, or if the step takes it over as it is.
  private func endsJobFirst(
    _ lookup: CacheLookup, _ operation: OperationID, _ caching: RunCache
  ) -> Bool {
    guard lookup.isBeingMade, lookup.fault == nil, !takesOver(operation) else { return false }
    caching.cache.release(lookup)
    caching.awaitingJobs.insert(operation)
    executor.openJobs?.endEarlier(operation, of: machine.steps[operation].id, startsThen: true)
    return true
  }

  /// Asks about the step once more after the job of an earlier run has ended, because its result may be there.
  func startAfterJob(_ operation: OperationID, at time: Nanoseconds) {
    guard let caching, caching.awaitingJobs.remove(operation) != nil else { return }
    caching.hasChangedFiles = true
    if let lookup = caching.lookups[operation] { caching.cache.jobEnded(making: lookup) }
    machine.startDeferred([operation], at: time)
  }
}
