// Collects what is known of one step that may be up to date. It decides what to ask next; it neither waits nor
// reads files.

import Diagnostics
package import Plans

/// The result of a step that need not run.
package struct CacheHit {
  package let outputs: [PublishedOutput]
  /// The content of its log; nil if there is none.
  package let log: CacheDigest?
}

/// A part of a result that is not as the cache has stored it.
package enum CacheDamage {
  /// The list of files, with what else is known of a result.
  case result
  /// The content of a file.
  case content(of: String)
}

/// A step at its gate, and until it has ended.
package final class CacheLookup {
  /// The id of the step.
  let step: String
  /// The digest by which its record is found.
  let name: CacheDigest
  let settings: CacheSettings
  /// The directory that patterns are relative to; "" for the one that oprun was started in.
  let directory: String
  private(set) var record: StepRecord?
  var description: StepDescription
  var isDescribed = false
  /// The files that the step reads; nil before they are known.
  var inputs: [FileEntry]?
  private(set) var key = CacheDigest.none
  /// The name of its lock; nil if it is not locked.
  package var lockName: String? { isLocked ? name.hexadecimal : nil }
  /// The key in hexadecimal; nil as long as there is none.
  package var keyInWords: String? { key == .none ? nil : key.hexadecimal }
  /// The key under which the result of the step would be known if it were confined, though it is not: what a confined
  /// step has made is right for it, too.
  private var confinedKey: CacheDigest?
  /// Whether its key is that of what a confined command makes, and of nothing else.
  package var expectsConfinement: Bool { !isBypass && !description.isOfUnconfined }
  /// The result that is being restored, and its key.
  var candidate: (result: StoredResult, key: CacheDigest)?
  /// The keys of results of which this machine lacks something.
  private var brokenKeys: Set<CacheDigest> = []
  var restored: [FileEntry]?
  /// The part of its result that was damaged in the cache, if nobody was told of that yet.
  package var damage: CacheDamage?
  /// True if files were put back, or removed.
  package private(set) var hasRestored = false
  var isMissing = false
  /// The keys that the shared cache was asked for.
  var fetched: Set<CacheDigest> = []
  /// True if it has contents of the result that are not what they should be.
  private(set) var isDamagedOnServer = false
  /// The results of the steps that it depends on, which are in its key.
  var upstream: [Upstream.Result] = []
  /// The variables that the file gives the step.
  var variables: [EnvironmentVariable] = []
  /// The outputs that the step declares; nil if it declares none.
  var declared: [OutputDeclaration]?
  /// How many of the inputs in its settings are its own; the others are what steps before it may have made.
  var ownInputCount = 0
  /// The moment at which it was last seen that the files are those of its key.
  package var comparedAt: Int?
  /// The variables that it uses and does not get, though oprun has them.
  package var withheld: [String] = []
  /// True if it runs whatever is known of it.
  var isRefreshed = false
  /// True if nothing is to be restored or written down, but only found out.
  var isReviewed = false
  /// True if nothing is known of it, and nothing is to be kept: it only waits for other runs.
  package internal(set) var isBypass = false
  /// True if another run runs the step, so that what is known will be out of date.
  var isLockedByOther = false
  /// True while a job that an earlier run has left may write its outputs: what is there is no result, and nothing is
  /// restored beside it.
  package var isBeingMade = false
  package internal(set) var isLocked = false
  /// True if the attempt was begun more than once, because its job was started again elsewhere.
  package var hasBegunAgain = false
  /// Files that earlier attempts have left or changed and that were not removed: they belong to no result unless this
  /// attempt writes them anew.
  var doubtful: [FileEntry] = []
  /// How the output files were before the attempt at hand; nil if that is not known.
  var attempt: NotedAttempt?
  /// The outputs in the record, which a refresh does not trust.
  var refreshedOutputs: [FileEntry] = []
  var wasRestorable = false
  /// Files of the result that are not what they were, and not in the cache.
  var lost: [ChangedFile] = []
  /// Stands for its result in the keys of steps that depend on it; nil if there is none.
  package internal(set) var result: CacheDigest?
  /// Why nothing is known of its result, and the next one will not be kept.
  package var fault: CacheFailure?
  /// Why its outputs were not put back.
  package var refusal: CacheFailure?
  /// The patterns of inputs that no file matches, though the step has succeeded: one may be misspelt.
  package private(set) var unmatchedInputs: [String] = []

  init(
    _ step: String, name: CacheDigest, _ settings: CacheSettings, directory: String,
    _ description: StepDescription, record: StepRecord?
  ) {
    self.step = step
    self.name = name
    self.settings = settings
    self.directory = directory
    self.description = description
    self.record = record
  }

  /// The keys of results that serve the step.
  var keys: [CacheDigest] { [key] + (confinedKey.map { [$0] } ?? []) }
  /// The keys of results that this machine may have whole.
  var openKeys: [CacheDigest] { keys.filter { !brokenKeys.contains($0) } }

  /// Called when what is known of the last run no longer counts.
  func forgetRecord() { record = nil }

  /// True if the result that it is restored from came from the shared cache.
  package var wasFetched: Bool { candidate.map { fetched.contains($0.key) } ?? false }

  /// Takes note that a result is brought from elsewhere.
  func expect(_ key: CacheDigest) {
    fetched.insert(key)
    brokenKeys.remove(key)
    candidate = nil
  }

  func take(inputs: [FileEntry]) {
    self.inputs = inputs
    key = StepDescription.key(description.digest, inputs)
    confinedKey = description.confinedDigest.map { StepDescription.key($0, inputs) }
  }

  /// Called when another run that had the step has ended it: all files may be others.
  func forgetFiles() {
    isLockedByOther = false
    inputs = nil
    key = .none
    confinedKey = nil
    candidate = nil
    brokenKeys = []
    restored = nil
    isMissing = false
  }

  /// Takes the answer to what was asked about it.
  package func take(_ reply: CacheReply) {
    switch reply {
    case .inspected(let entries): take(inputs: entries)
    case .restored(let files, let hasChanged, let damaged):
      restored = files
      hasRestored = hasRestored || hasChanged
      if files == nil, let broken = candidate?.key {
        brokenKeys.insert(broken)
        candidate = nil
        if let damaged { damage = damage ?? .content(of: damaged) }
      }
    case .fault(let fault):
      if inputs == nil {
        self.fault = fault
      } else {
        isMissing = true
        refusal = fault
      }
    case .transferred(let end):
      isMissing = end != .done
      if case .damaged = end { isDamagedOnServer = true }
    case .tool, .kept: preconditionFailure("an answer to another question")
    }
  }
}

/// A result that is kept once its step has succeeded, hooks included.
package struct SealedResult {
  let lookup: CacheLookup
  let inputs: [FileEntry]
  let stored: StoredResult
  let files: [FileEntry]

  /// Stands for the result in the keys of steps that depend on it.
  package var digest: CacheDigest { StepDescription.resultDigest(of: lookup.key, files) }

  /// The job that stores the result in the shared cache, once it is published.
  package var storeJob: CacheJob {
    .store(
      lookup.key, outputs: lookup.settings.outputs, replacing: lookup.isDamagedOnServer)
  }
}

extension CacheLookup {
  /// Checks what was made, and that what was read is still the same.
  package func seal(
    _ reply: CacheReply, _ published: [PublishedOutput]
  ) throws(CacheFailure) -> SealedResult {
    guard case .kept(let after, let outputs, let log, let logSize) = reply else {
      if case .fault(let fault) = reply { throw fault }
      preconditionFailure("an answer to another question")
    }
    if published.contains(where: \.isMasked) {
      throw CacheFailure("one of its outputs contains a secret")
    }
    let read = Set(
      after.lazy.filter { !$0.isOnlyListed && $0.kind != .absent }.map { PathName($0.path) })
    if let both = outputs.first(where: { $0.kind != .directory && read.contains(PathName($0.path)) }
    ) {
      throw CacheFailure(
        "\(quoted(both.path)) is both an input and an output; exclude it from the inputs with '!'")
    }
    if let old = outputs.first(where: isDoubtful) {
      throw old.kind == .link
        ? CacheFailure(
          "output \(quoted(old.path)) is a link that was there before the step ran, and what lies behind it is not kept; name that in 'outputs', or remove the link"
        )
        : CacheFailure(
          "output \(quoted(old.path)) is what an attempt that did not succeed has left, and the step has not written it since; remove it"
        )
    }
    if StepDescription.key(description.digest, after) != key {
      throw CacheFailure("input \(quoted(changedInput(after))) changed while the step ran")
    }
    if let input = firstReplaced(inputs ?? [], after) {
      throw CacheFailure("input \(quoted(input)) was written or replaced while the step ran")
    }
    if let folder = changedFolder(after) {
      throw CacheFailure(
        "files in input \(quoted(folder)) were created and removed while the step ran")
    }
    unmatchedInputs = settings.inputs.filter { isUnmatched($0, after) }
    var stored = StoredResult()
    stored.step = step
    stored.files = outputs
    stored.published = published
    stored.log = log
    stored.logSize = logSize
    return SealedResult(lookup: self, inputs: after, stored: stored, files: outputs)
  }

  private func isDoubtful(_ output: FileEntry) -> Bool {
    doubtful.contains {
      $0.path.hasSameBytes(as: output.path) && $0.stamp.isOfSameChange(as: output.stamp)
    }
  }

  /// A directory of which everything is an input, and in which something was made or removed. With '!' the step, or another
  /// one, may make something there.
  private func changedFolder(_ after: [FileEntry]) -> String? {
    if settings.inputs.contains(where: { $0.hasPrefix("!") }) { return nil }
    let whole = { (entries: [FileEntry]) in
      entries.filter { $0.kind == .directory && !$0.isOnlyListed }
    }
    return zip(whole(inputs ?? []), whole(after)).first { old, new in
      !old.stamp.isOfSameChange(as: new.stamp)
    }?.1.path
  }

  /// A path without wildcards may well be that of a file which is there only sometimes.
  private func isUnmatched(_ text: String, _ entries: [FileEntry]) -> Bool {
    let pattern = FilePattern(text)
    if text.hasPrefix("!") || pattern.isPlain { return false }
    return !entries.contains {
      !$0.isOnlyListed && $0.kind != .absent && pattern.covers($0.path)
    }
  }

  private func changedInput(_ after: [FileEntry]) -> String {
    changedFiles(inputs ?? [], after).first?.path ?? "?"
  }
}

/// The first file that is not the one it was, though it may have the same content: what it held meanwhile is unknown.
/// The stamps of directories do not count, because outputs may be made there.
private func firstReplaced(_ before: [FileEntry], _ after: [FileEntry]) -> String? {
  func stamps(_ entries: [FileEntry]) -> [FileEntry] {
    entries.filter { !$0.isOnlyListed && ($0.kind == .file || $0.kind == .link) }
  }
  for (old, new) in zip(stamps(before), stamps(after))
  where !old.stamp.isOfSameChange(as: new.stamp) { return new.path }
  return nil
}

/// A file that is not what it was.
package struct ChangedFile: Hashable {
  package enum Kind: Sendable { case added, removed, changed }

  package let path: String
  package let kind: Kind
}

/// The files that differ, by path.
func changedFiles(_ before: [FileEntry], _ after: [FileEntry]) -> [ChangedFile] {
  func keyed(_ entries: [FileEntry]) -> [PathName: CacheDigest] {
    var digests: [PathName: DigestBuilder] = [:]
    for entry in entries where !entry.isOnlyListed && entry.kind != .absent {
      entry.add(to: &digests[PathName(entry.path), default: DigestBuilder()])
    }
    return digests.mapValues { builder in
      var builder = builder
      return builder.finish()
    }
  }
  let old = keyed(before)
  let new = keyed(after)
  var changes: [ChangedFile] = []
  let paths = Set(old.keys).union(new.keys).sorted { $0.text.precedesByBytes($1.text) }
  for path in paths where old[path] != new[path] {
    let kind: ChangedFile.Kind =
      old[path] == nil ? .added : new[path] == nil ? .removed : .changed
    changes.append(ChangedFile(path: path.text, kind: kind))
  }
  return changes
}
