// Steps that other runs may be running, too: who has the lock of a step may restore its outputs, or run it.

extension StepCache {
  /// Decides what to do next about a step that could start at once, because it was not found up to date. The run has
  /// its lock from then on, and does not give it back before the step has ended.
  package func begin(_ lookup: CacheLookup) -> CacheNext {
    if lookup.isLocked { return advance(lookup) }
    let hasWaited = lookup.isLockedByOther
    guard lock(lookup) else { return .locked }
    if lookup.isBypass || lookup.fault != nil { return .miss }
    if hasWaited || !hasSameInputs(lookup) {
      lookup.forgetFiles()
    } else if lookup.isRefreshed || lookup.candidate != nil
      || !lookup.openKeys.contains(where: folder.hasResult)
    {
      return .miss
    }
    lookup.isMissing = false
    return advance(lookup)
  }

  /// Whether the step reads what it would have read when it was asked about, as far as stamps tell. It may have waited
  /// long for its turn since, and what a confined command can read is found out when it starts.
  func hasSameInputs(_ lookup: CacheLookup) -> Bool {
    lookup.inputs?.allSatisfy { $0.isOfSameChange(in: lookup.directory) } ?? true
  }

  /// Takes the lock of the step, if no other run has it.
  func lock(_ lookup: CacheLookup) -> Bool {
    if lookup.isLocked || lookup.isReviewed { return true }
    // A run that waits for a job does not try: the run that takes the job over must find the lock free.
    lookup.isLocked = makerOver(of: lookup) == nil && folder.lock(lookup.name)
    if lookup.isLocked, makerOver(of: lookup) != nil {
      folder.unlock(lookup.name)
      lookup.isLocked = false
    }
    lookup.isLockedByOther = !lookup.isLocked
    return lookup.isLocked
  }

  /// The run, which is over, of which a job goes on that makes the result of the step; nil if there is none.
  package func makerOver(of lookup: CacheLookup) -> String? {
    openElsewhere?(lookup.name.hexadecimal)
  }

  /// Calls `body` with the name of the lock of a step that a job makes for which no process waits, if that is so. Nobody
  /// gets the lock meanwhile.
  package func withLockOfJob(making lookup: CacheLookup, _ body: (String) -> Void) {
    guard makerOver(of: lookup) != nil, !lookup.isLocked, folder.lock(lookup.name) else { return }
    body(lookup.name.hexadecimal)
    folder.unlock(lookup.name)
  }

  /// Called when a job has ended that an earlier run had left: only now may what is known of the step help.
  package func jobEnded(making lookup: CacheLookup) {
    lookup.isBeingMade = false
    lookup.isLockedByOther = true
  }

  /// Called when the step has ended, or before it waits for its turn to run.
  package func release(_ lookup: CacheLookup) {
    if lookup.isLocked { folder.unlock(lookup.name) }
    lookup.isLocked = false
  }
}
