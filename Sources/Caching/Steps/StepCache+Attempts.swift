// Attempts of cached steps: what those that do not succeed leave is removed before the next one.

import Diagnostics
import Plans

/// An attempt that has begun. Its note is kept at hand, so that a good end needs no look at the file.
struct NotedAttempt {
  /// The name of the note, in `cache/left`.
  let name: String
  var note: AttemptNote
}

extension StepCache {
  /// Called before an attempt starts. Throws if it cannot be noted what is there: then nobody would know what it leaves if oprun
  /// was killed.
  package func attemptBegins(_ lookup: CacheLookup) throws(CacheFailure) {
    lookup.attempt = nil
    lookup.hasBegunAgain = false
    if lookup.isBypass || lookup.inputs == nil { return }
    let known = lookup.record?.outputs ?? lookup.refreshedOutputs
    dropRefreshed(lookup)
    let paths = pathsOfNote(lookup)
    if paths.isEmpty { return }
    let name = nameOfNote(lookup)
    let first = AttemptNote().next(paths, known: known, in: lookup.directory)
    lookup.attempt = NotedAttempt(name: name, note: first)
    lookup.doubtful = first.links
    if try folder.write(first, named: name, isFirst: true) { return }
    let old = folder.note(named: name) ?? .cutOff
    let note = old.next(paths, known: known, in: lookup.directory)
    lookup.attempt = NotedAttempt(name: name, note: note)
    lookup.doubtful = note.doubtful + note.links
    try folder.write(note, named: name)
  }

  /// Called when an attempt has ended and nothing of it goes on.
  package func attemptEnded(_ lookup: CacheLookup, isSuccess: Bool) {
    guard var attempt = lookup.attempt ?? (isSuccess ? attemptOfEarlierRun(lookup) : nil) else {
      return
    }
    lookup.attempt = nil
    let directory = lookup.directory
    if lookup.hasBegunAgain {
      attempt.note = attempt.note.begunAgain(in: directory)
      lookup.doubtful = attempt.note.doubtful + attempt.note.links
    }
    let next =
      isSuccess ? attempt.note.succeeded(in: directory) : attempt.note.failed(in: directory)
    if next.isEmpty { return folder.removeNote(named: attempt.name) }
    do throws(CacheFailure) {
      try folder.write(next, named: attempt.name)
    } catch {
      next.removeLeft(in: directory)
    }
  }

  /// The output files that are the work of the attempt at hand alone, relative to the directory of the step.
  package func replaceableOutputs(of lookup: CacheLookup) -> [String] {
    (lookup.attempt ?? attemptOfEarlierRun(lookup))?.note.replaceable.map(\.path) ?? []
  }

  /// The attempt of a job that an earlier run has left and this one has taken over; nil if it has no note.
  private func attemptOfEarlierRun(_ lookup: CacheLookup) -> NotedAttempt? {
    let paths = lookup.isBypass || lookup.inputs == nil ? [] : pathsOfNote(lookup)
    if paths.isEmpty { return nil }
    let name = nameOfNote(lookup)
    guard var note = folder.note(named: name) else { return nil }
    if note.isCutOff {
      note.doubtful = FileEntry.files(at: paths, in: lookup.directory).filter { $0.kind != .absent }
    }
    lookup.doubtful = note.doubtful + note.links
    return NotedAttempt(name: name, note: note)
  }

  /// The files that the outputs name.
  private func pathsOfNote(_ lookup: CacheLookup) -> [String] {
    lookup.settings.outputs.lazy.filter { !$0.hasSuffix("/") }.map { FilePattern($0) }
      .filter(\.isPlain).map(\.fixedPath)
  }

  /// The files of a step are others in another directory.
  private func nameOfNote(_ lookup: CacheLookup) -> String {
    let place =
      lookup.directory.isEmpty ? options.workspace : joined(options.workspace, lookup.directory)
    return CacheDigest(of: lookup.name.hexadecimal, place).hexadecimal
  }

  /// Whoever asks for a refresh does not trust the earlier result: if the step fails, or its new result is not kept, it runs
  /// again the next time.
  private func dropRefreshed(_ lookup: CacheLookup) {
    guard lookup.isRefreshed, lookup.fault == nil else { return }
    for key in lookup.keys { folder.drop(resultOf: key) }
    if !hasDroppedRuns { folder.dropRuns() }
    hasDroppedRuns = true
    guard let record = lookup.record else { return }
    var spoilt = record
    // A directory is never this file, so nothing is as it was.
    spoilt.outputs.append(FileEntry(".", .file))
    index.add(spoilt, of: lookup.name)
    lookup.forgetRecord()
    lookup.refreshedOutputs = record.outputs
  }
}

extension AttemptNote {
  /// The links that somebody else has made. A change of the file behind one is not noticed when it is looked at again.
  fileprivate var links: [FileEntry] { foreign.filter { $0.kind == .link } }
}

/// Removes what is in the place of output files: the attempt that begins once more has made it.
package func removeLeftovers(_ paths: [String], in directory: String) {
  for entry in FileEntry.files(at: paths, in: directory) where entry.kind != .absent {
    _ = entry.remove(in: directory)
  }
}
