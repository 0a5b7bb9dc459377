// The cache of one run: finds out whether steps are up to date, and keeps what they make. What takes long it
// leaves to others, as jobs.

import CLinux
import Diagnostics
import Glibc
package import Masking
package import Plans

/// What the command line says of the cache.
package struct CacheOptions {
  /// The pipeline, by which its steps are told from those of others.
  package var pipeline = ""
  /// True if every step runs, and is kept.
  package var refreshesAll = false
  /// True if nothing is looked up or kept. Steps still wait for those of other runs, because these keep what they find.
  package var isOff = false
  /// The steps that run, and are kept, with all that is in them.
  package var refreshed: [StepName] = []
  /// The version of the built-in steps.
  package var version = ""
  /// The variables that oprun inherited.
  package var environment: [String: String] = [:]
  /// Where oprun was started; absolute.
  package var workspace = ""
  package var masker: Masker?
  /// Nil if results are not shared with other machines.
  package var shared: SharedCache?
  /// Whether the kernel can confine commands.
  package var canConfine = true

  package init() {}

  fileprivate func refreshes(_ id: String) -> Bool {
    !refreshed.isEmpty && refreshed.contains { $0.covers(id) }
  }
}

/// Who is asked for.
package enum CacheJobKey: Hashable {
  case tool(ToolQuestion)
  /// The question is about the step itself.
  case step
}

/// What to do about a step at its gate.
package enum CacheNext {
  case ask([(CacheJobKey, CacheJob)])
  case hit(CacheHit)
  case miss
  /// Another run runs it, or restores its outputs.
  case locked
}

package final class StepCache {
  package let folder: CacheFolder
  package var isOff: Bool { options.isOff }
  let options: CacheOptions
  private let run: DescribedRun
  /// The beginning of the names of steps.
  private let names: String
  /// The step that was asked about last.
  var description = StepDescription()
  var index: CacheIndex
  /// The files that steps have made, for the steps that read them.
  var made: [String: MadeBefore] = [:]
  var tools: [ToolQuestion: Result<CacheDigest, CacheFailure>] = [:]
  /// The variables of the step with tools that was asked about last.
  var lastToolEnvironment: ToolEnvironment?
  private let today: Int
  /// How many steps were unchanged, and stamps say all about them.
  private var stampedCount = 0
  /// True if there are no records of runs any more, because this run does not trust a result.
  var hasDroppedRuns = false
  var use: SharedUse?
  /// The state directory, below the workspace; nil if it is elsewhere.
  private(set) lazy var statePath: String? = realPath(options.workspace).flatMap { workspace in
    folder.state?.path?.path(below: workspace)
  }
  /// Finds a job that goes on and makes the result of a step, by the name of its lock, although no process has that lock:
  /// returns the run that has submitted it.
  package var openElsewhere: ((String) -> String?)?
  /// Notices for after the end of the run.
  package var lateNotices: [String] = []

  package init(_ folder: CacheFolder, _ options: CacheOptions) {
    clinux_prepare_hashing()
    self.folder = folder
    self.options = options
    run = DescribedRun(
      environment: options.environment, version: options.version, masker: options.masker,
      canConfine: options.canConfine)
    names = options.pipeline + "\n"
    index = options.isOff ? CacheIndex() : CacheIndex(folder)
    use = options.shared.map { SharedUse($0) }
    today = time(nil) / 86_400
    folder.lockShared()
  }

  /// Begins with a step of which nothing is looked up or kept.
  package func bypass(_ id: String, _ settings: CacheSettings) -> CacheLookup {
    let lookup = CacheLookup(
      id, name: CacheDigest(of: names, id), settings, directory: "", StepDescription(), record: nil)
    lookup.isBypass = true
    return lookup
  }

  /// Begins to find out about a step.
  package func lookup(_ asked: CacheableStep, upstream: Upstream) -> CacheLookup {
    let id = asked.id
    let settings = upstream.added(to: asked.settings)
    describe(asked, settings, upstream)
    let name = CacheDigest(of: names, id)
    let lookup = CacheLookup(
      options.masker?.mask(id) ?? id, name: name, settings, directory: asked.directory ?? "",
      description, record: index.record(of: name))
    lookup.upstream = upstream.results
    lookup.ownInputCount = settings.inputs.count - upstream.inputs.count
    lookup.fault = misplaced(settings, asked.directory)
    lookup.declared = asked.step.settings.outputs
    lookup.withheld = withheld(from: asked.step, asked.action, settings)
    lookup.variables = asked.step.settings.environment
    lookup.isRefreshed = options.refreshesAll || options.refreshes(id)
    return lookup
  }

  /// Describes a step for its key. `settings` are those of its cache, with what upstream steps add.
  func describe(_ asked: CacheableStep, _ settings: CacheSettings, _ upstream: Upstream) {
    description.describe(asked.step, asked.action, settings, in: run)
    // A command sees its name.
    description.add(
      .variable, OprunVariable.step.rawValue, value: options.masker?.mask(asked.id) ?? asked.id)
    for part in upstream.results {
      description.add(.upstream, part.step, value: part.result.hexadecimal)
    }
  }

  /// The last result, if neither the step nor the stamps of its files have changed. This is the fast path of most
  /// steps. Nil if `lookup` must find out more.
  package func unchanged(_ asked: CacheableStep, upstream: Upstream) -> CacheHit? {
    let settings = upstream.added(to: asked.settings)
    guard !options.refreshesAll, !options.refreshes(asked.id),
      misplaced(settings, asked.directory) == nil
    else { return nil }
    describe(asked, settings, upstream)
    if !settings.tools.isEmpty {
      let environment = toolEnvironment(asked.step.settings.environment, settings)
      for command in settings.tools {
        guard case .success(let digest)? = tools[environment.question(command)] else { return nil }
        description.add(.tool, command, value: digest.hexadecimal)
      }
    }
    let name = CacheDigest(of: names, asked.id)
    let unchanged = index.withContent(of: name) { content in
      UnchangedRecord(content, description, in: asked.directory ?? "", on: today)
    }
    guard let unchanged else { return nil }
    if !unchanged.publishesOutputs {
      if settings.tools.isEmpty { stampedCount += 1 }
      return CacheHit(outputs: [], log: unchanged.log)
    }
    return index.record(of: name).map { CacheHit(outputs: $0.published, log: $0.log) }
  }

  /// Keeps the record of a run of which all steps but those that ran were up to date, unless there was more to it than
  /// stamps. `unplanned` of them were not asked about, because their files had not changed.
  package func keep(
    _ run: UnchangedRun, of key: RunKey, _ sources: SourceFiles, unplanned: Int = 0
  ) {
    guard stampedCount + unplanned + run.ran.count == run.steps.count, sources.areSettled else {
      return
    }
    var files = ByteWriter()
    for (place, step) in run.steps.enumerated() {
      files.add(step.directory ?? "")
      if run.ran.contains(place) {
        // A directory is never this file.
        files.add([FileEntry(".", .file)]) { $1.write(to: &$0) }
        files.add(0)
        continue
      }
      let found: Void? = index.withContent(of: CacheDigest(of: names, step.id)) {
        UnchangedRecord.files(in: $0).map { files.append(raw: $0) }
      }
      if found == nil { return }
    }
    folder.keep(run, of: key, sources.files, files: files)
  }

  /// The digest that stands in the keys of other steps for the result of an unchanged one.
  package func result(ofUnchanged id: String) -> CacheDigest? {
    index.record(of: CacheDigest(of: names, id)).map {
      StepDescription.resultDigest(of: $0.key, $0.outputs)
    }
  }

  func record(ofStep id: String) -> StepRecord? { index.record(of: CacheDigest(of: names, id)) }

  /// Decides what to do next about the step.
  package func advance(_ lookup: CacheLookup) -> CacheNext {
    if lookup.isBypass { return .miss }
    if lookup.fault != nil { return .miss }
    if !lookup.isDescribed {
      let missing = missingTools(of: lookup)
      if !missing.isEmpty { return .ask(missing) }
      describe(lookup)
      if lookup.fault != nil { return .miss }
    }
    if lookup.isLockedByOther, lock(lookup) {
      lookup.forgetFiles()
    }
    if lookup.isLockedByOther { return .locked }
    if lookup.inputs == nil {
      if let record = lookup.record, record.description == lookup.description.digest,
        areUnchanged(record.inputs, in: lookup.directory)
      {
        lookup.take(inputs: record.inputs)
      } else {
        return .ask([
          (
            .step,
            .inspect(
              directory: lookup.directory, patterns: lookup.settings.inputs,
              known: lookup.record?.inputs ?? [])
          )
        ])
      }
    }
    if lookup.isBeingMade { return .miss }
    if let next = upToDate(lookup) { return next }
    if lookup.isRefreshed { return .miss }
    return lookup.isMissing ? askOthers(lookup) : advanceResult(lookup)
  }

  /// The last result, if the stamps of all files show that nothing has changed.
  private func upToDate(_ lookup: CacheLookup) -> CacheNext? {
    guard !lookup.isRefreshed, lookup.candidate == nil, let record = lookup.record,
      record.key == lookup.key, areUnchanged(record.outputs, in: lookup.directory)
    else { return nil }
    return hit(lookup, record.result(of: lookup.step), record.outputs)
  }

  private func advanceResult(_ lookup: CacheLookup) -> CacheNext {
    if let candidate = lookup.candidate {
      guard let files = lookup.restored else { return .miss }
      return hit(lookup, candidate.result, files)
    }
    let known = lookup.record?.outputs ?? []
    // Read from the cache folder: the record only lists what lay in the workspace.
    let found = lookup.openKeys.lazy.compactMap { key in
      self.result(of: key, lookup).map { (result: $0, key: key) }
    }.first
    guard let (candidate, _) = found else { return askOthers(lookup) }
    lookup.candidate = found
    if candidate.files.isEmpty { return hit(lookup, candidate, []) }
    guard lock(lookup) else {
      lookup.candidate = nil
      return .locked
    }
    return .ask([
      (
        .step,
        .restore(
          RestoreJob(
            directory: lookup.directory, patterns: lookup.settings.outputs,
            files: candidate.files, known: known))
      )
    ])
  }

  /// The text of a log; nil if it is not there, or damaged.
  package func text(of log: CacheDigest) -> [UInt8]? {
    guard (0...CacheWork.longestLog).contains(folder.size(of: log)),
      let text = folder.read("cas/\(log.path)")
    else { return nil }
    var builder = DigestBuilder()
    text.withUnsafeBytes { builder.addRaw($0) }
    return builder.finish() == log ? text : nil
  }

  private func hit(
    _ lookup: CacheLookup, _ result: StoredResult, _ files: [FileEntry]
  ) -> CacheNext {
    lookup.result = StepDescription.resultDigest(of: lookup.key, files)
    if !lookup.isReviewed { remember(lookup, result, lookup.inputs ?? [], files) }
    return .hit(CacheHit(outputs: result.published, log: result.log))
  }

  /// Keeps a result, now that the step has succeeded.
  package func publish(_ sealed: SealedResult) throws(CacheFailure) {
    let lookup = sealed.lookup
    guard folder.lockShared(patience: 0) else {
      throw CacheFailure("another process removes old results")
    }
    try folder.write(sealed.stored, of: lookup.key)
    lookup.result = sealed.digest
    remember(lookup, sealed.stored, sealed.inputs, sealed.files)
  }

  /// Writes down what was learnt.
  package func flush() throws(CacheFailure) { try index.flush(to: folder) }

  /// Writes what is left; if that fails, more has to be looked at the next time.
  package func end() {
    if isOff { return }
    try? flush()
    index.compact(in: folder)
    folder.sweepNowAndThen(CacheLimits())
  }

  private func remember(
    _ lookup: CacheLookup, _ result: StoredResult, _ inputs: [FileEntry], _ files: [FileEntry]
  ) {
    if let old = lookup.record, old.day == today, old.key == lookup.key, old.inputs == inputs,
      old.outputs == files
    {
      return
    }
    if lookup.record?.day != today { for key in lookup.keys { folder.touch(key) } }
    var record = StepRecord()
    record.parts = lookup.description.parts
    record.description = lookup.description.digest
    record.inputs = inputs
    record.key = lookup.key
    record.outputs = files
    record.published = result.published
    record.log = result.log
    record.logSize = result.logSize
    record.day = today
    index.add(record, of: lookup.name)
  }

  // MARK: Stamps

  /// Whether every file has the stamp that it had.
  private func areUnchanged(_ entries: [FileEntry], in directory: String) -> Bool {
    entries.allSatisfy { entry in
      let file = SeenFile(
        kind: entry.kind, isBehindLink: entry.isBehindLink, stamp: entry.stamp)
      return file.isStill(at: directory.isEmpty ? entry.path : joined(directory, entry.path))
    }
  }
}
