// Attempts of cached steps: what those that do not succeed leave is removed before the next one.

import Plans

extension StepCache {
  /// Called before an attempt starts. Throws if it cannot be noted what is there: then nobody would know what it leaves.
  package func attemptBegins(_ lookup: CacheLookup) throws(CacheFailure) {
    lookup.hasNotedAttempt = false
    if lookup.isBypass || lookup.inputs == nil { return }
    noteOthers(lookup)
    let known = lookup.record?.outputs ?? lookup.refreshedOutputs
    dropRefreshed(lookup)
    guard let step = noted(lookup) else { return }
    let note = folder.note(of: step).next(
      lookup.settings.outputs, known: known, in: lookup.directory)
    // What is behind a link that somebody has made is not seen when it is looked at again.
    lookup.doubtful = note.doubtful + note.foreign.filter { $0.kind == .link }
    try folder.write(note, of: step)
    lookup.hasNotedAttempt = true
  }

  /// Called when an attempt has ended and nothing of it goes on. If its note cannot be written, the older one says less, but
  /// nothing that is wrong.
  package func attemptEnded(_ lookup: CacheLookup, isSuccess: Bool) {
    // An older note says nothing of what was there before this attempt.
    guard lookup.hasNotedAttempt || isSuccess, let step = noted(lookup) else { return }
    let note = folder.note(of: step)
    if note.isEmpty { return }
    let next =
      isSuccess ? note.succeeded(in: lookup.directory) : note.failed(in: lookup.directory)
    try? folder.write(next, of: step)
  }

  /// The name of the note: the files of a step are others in another directory.
  private func noted(_ lookup: CacheLookup) -> CacheDigest? {
    guard !lookup.isBypass, lookup.inputs != nil,
      lookup.settings.outputs.contains(where: { FilePattern($0).isPlain && !$0.hasSuffix("/") })
    else { return nil }
    let place =
      lookup.directory.isEmpty ? options.workspace : joined(options.workspace, lookup.directory)
    return CacheDigest(of: lookup.name.hexadecimal, place)
  }

  /// Whoever asks for a refresh does not trust the earlier result: if the step fails, or its new result is not kept, it runs
  /// again the next time.
  private func dropRefreshed(_ lookup: CacheLookup) {
    guard lookup.isRefreshed, lookup.fault == nil else { return }
    for key in lookup.keys { folder.drop(resultOf: key) }
    guard let record = lookup.record else { return }
    var spoilt = record
    // A directory is never this file, so nothing is as it was.
    spoilt.outputs.append(FileEntry(".", .file))
    index.add(spoilt, of: lookup.name)
    lookup.forgetRecord()
    lookup.refreshedOutputs = record.outputs
  }
}
