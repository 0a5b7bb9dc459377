// What would become of cached steps if they ran now, for people who ask. It reads files, and changes nothing but
// that the commands of `tools` run if they may.

import Diagnostics
import Expressions
import Glibc
package import Plans
import RunFiles
package import Scheduling

/// What would become of a step.
package enum CacheVerdict: Hashable {
  /// It has no `cache`.
  case uncached
  /// A part of it is known only while running.
  case late(LateReason)
  case upToDate
  /// Its outputs are not what they were; the cache has them.
  case restorable
  /// Nothing is known of an earlier run of it.
  case neverRan
  case changed([KeyChange])
  /// Nothing has changed, but its outputs have, and the cache does not have them.
  case lost([ChangedFile])
  /// It runs because the command line says so.
  case refreshed
  /// It cannot be cached.
  case refused(String)
  /// Its condition, or that of a group that it is in, is known to be false; the reason says so.
  case skipped(String)
}

/// One part of a key that is not what it was.
package enum KeyChange: Hashable {
  case file(ChangedFile)
  case part(KeyPart.Kind, name: String, was: String?, now: String?)
}

package final class CacheReview {
  package let plan: Plan
  private let cache: StepCache
  private let surroundings: ReviewSurroundings
  private let runsTools: Bool
  private var work: CacheWork
  /// Files that would be restored, by their paths from where oprun was started.
  private var restored: [PathName: FileEntry] = [:]
  /// Directories from which restoring removes what does not belong there.
  private var cleared: [String] = []
  private var reviews: [OperationID: Reviewed] = [:]
  /// How operations would end that do not run; nil for the others.
  var ends: [OperationID: ReviewedEnd?] = [:]
  /// What may change what steps read; nil for nothing.
  var disturbers: [OperationID: OperationID?] = [:]
  /// The outputs of the instances of groups, as one value.
  var lists: [OperationID: Value] = [:]

  /// Steps that stand for copies, which are made during a run.
  private let copied: Set<OperationID>

  /// What was found out about a step.
  private struct Reviewed {
    let verdict: CacheVerdict
    /// Stands for its result in the keys of others.
    var result: CacheDigest?
    var hit: CacheHit?
  }

  /// Tools that are not run are taken to say what they said the last time.
  package init(
    _ cache: StepCache, _ plan: Plan, _ surroundings: ReviewSurroundings, runsTools: Bool
  ) {
    self.cache = cache
    self.plan = plan
    self.surroundings = surroundings
    self.runsTools = runsTools
    work = CacheWork(cache.folder)
    copied = plan.copiedOperations
    // What a step would restore is known before those are looked at that come after it.
    for number in plan.graph.dependenciesFirst() { _ = review(OperationID(Int(number))) }
  }

  package func verdict(on operation: OperationID) -> CacheVerdict { review(operation).verdict }

  /// Whether files would be put back that are not there now.
  var restoresFiles: Bool { !restored.isEmpty }

  func hit(on operation: OperationID) -> CacheHit? { review(operation).hit }

  /// The facts for what is evaluated before an operation runs.
  func facts(for operation: OperationID) -> ReviewedFacts {
    ReviewedFacts(self, plan, surroundings, of: operation)
  }

  /// The recursion is as deep as cached steps depend on each other.
  private func review(_ operation: OperationID) -> Reviewed {
    if let known = reviews[operation] { return known }
    let reviewed = reviewNow(operation)
    reviews[operation] = reviewed
    return reviewed
  }

  private func reviewNow(_ operation: OperationID) -> Reviewed {
    let step = plan.steps[operation.index]
    guard step.settings.cache != nil else { return Reviewed(verdict: .uncached) }
    if let group = plan.groups[operation] {
      return Reviewed(verdict: group.isExpanding ? .late(.matrix) : .uncached)
    }
    if copied.contains(operation) { return Reviewed(verdict: .late(.matrix)) }
    switch ready(operation) {
    case .success(let ready): return review(operation, ready)
    case .failure(let reason): return Reviewed(verdict: .late(reason))
    }
  }

  /// The step with all values that it would run with.
  private func ready(_ operation: OperationID) -> Result<ReadyStep, LateReason> {
    let step = plan.steps[operation.index]
    guard let late = step.late else { return .success(ReadyStep(step)) }
    let facts = facts(for: operation)
    let resolved = late.resolved(step.work, step.settings, facts)
    if let missing = facts.missing { return .failure(missing) }
    guard let action = resolved.action else {
      let words = resolved.failures[.attempt]?.words.message ?? "it runs nothing"
      return .failure(.failure(words))
    }
    return .success(ReadyStep(action, resolved.settings))
  }

  private func review(_ operation: OperationID, _ ready: ReadyStep) -> Reviewed {
    guard let action = ready.action, let settings = ready.settings.cache else {
      return Reviewed(verdict: .uncached)
    }
    let lookup = cache.lookup(
      plan.steps[operation.index].id, ready, action, settings,
      upstream: upstream(of: operation, ready.settings.workingDirectory))
    lookup.isReviewed = true
    let hit = answer(lookup)
    // What a tool said the last time is known of each step by itself.
    if !runsTools { cache.forgetTools() }
    if let result = lookup.result {
      if lookup.wasRestorable { noteRestored(lookup) }
      return Reviewed(
        verdict: lookup.wasRestorable ? .restorable : .upToDate, result: result, hit: hit)
    }
    if let fault = lookup.fault { return Reviewed(verdict: .refused(fault.message)) }
    if lookup.isRefreshed { return Reviewed(verdict: .refreshed) }
    guard let record = lookup.record else { return Reviewed(verdict: .neverRan) }
    var changes = changes(from: record, lookup)
    if changes.isEmpty { return Reviewed(verdict: .lost(lookup.lost)) }
    if let place = removeDoubtful(&changes, lookup), changes.isEmpty {
      return Reviewed(verdict: .late(.restored(place)))
    }
    if let doubtful = onlyDoubt(of: operation, changes) {
      return Reviewed(verdict: .late(.result(doubtful)))
    }
    return Reviewed(verdict: .changed(changes))
  }

  /// Takes out what may be as it was once other results are restored: files that are found through links, or by paths with
  /// `..` in them. Returns what is restored there.
  private func removeDoubtful(_ changes: inout [KeyChange], _ lookup: CacheLookup) -> String? {
    if restored.isEmpty { return nil }
    let links = restored.filter { $0.value.kind == .link }.map(\.key.text).sorted()
    let prefix = lookup.directory.isEmpty ? "" : lookup.directory + "/"
    var found: String?
    changes.removeAll { change in
      guard case .file(let file) = change else { return false }
      let path = prefix + file.path
      let place =
        links.first { path.hasSameBytes(as: $0) || path.isBelow($0) }
        ?? restoredPlace(of: path)
      found = found ?? place
      return place != nil
    }
    return found
  }

  /// What is restored where a path with `..` leads; nil if nothing is, or it has no `..`.
  private func restoredPlace(of path: String) -> String? {
    guard path.hasPrefix("../") || path.containsText("/../") else { return nil }
    let place = LinkTrail("\(surroundings.workspace)/\(path)").end
    return place.path(below: surroundings.workspace).flatMap { place in
      restored.keys.contains { place.hasSameBytes(as: $0.text) || $0.text.isBelow(place) }
        || cleared.contains { place.isBelow($0) } ? place : nil
    }
  }

  /// A step before the operation whose result is not known, if nothing else has changed: it may come to the same
  /// result again.
  private func onlyDoubt(of operation: OperationID, _ changes: [KeyChange]) -> String? {
    let doubtful = plan.graph.dependencies(of: operation).flatMap { doubtfulSteps(in: $0.from) }
    let isOnly = changes.allSatisfy { change in
      guard case .part(.upstream, let name, _, _) = change else { return false }
      return doubtful.contains { StepName($0).covers(name) }
    }
    return isOnly ? doubtful.first : nil
  }

  private func doubtfulSteps(in operation: OperationID) -> [String] {
    if let members = plan.groups[operation]?.members, !members.isEmpty {
      return members.flatMap { doubtfulSteps(in: $0) }
    }
    switch review(operation).verdict {
    case .late, .lost, .refreshed, .refused: return [plan.steps[operation.index].id]
    case .uncached, .upToDate, .restorable, .neverRan, .changed, .skipped: return []
    }
  }

  private func upstream(of operation: OperationID, _ directory: String?) -> Upstream {
    var upstream = Upstream(of: directory, in: surroundings.workspace)
    for edge in plan.graph.dependencies(of: operation) { add(edge.from, to: &upstream) }
    return upstream
  }

  private func add(_ operation: OperationID, to upstream: inout Upstream) {
    if let members = plan.groups[operation]?.members, !members.isEmpty {
      for member in members { add(member, to: &upstream) }
      return
    }
    let step = plan.steps[operation.index]
    guard step.settings.cache != nil else { return }
    if end(of: operation)?.ending.outcome == .skipped {
      return upstream.addOutputs(of: step.settings)
    }
    // A step that would run gives nobody knows what.
    upstream.add(
      review(operation).result ?? .none, of: step.id, in: step.settings.workingDirectory)
  }

  /// Does all that is asked about the step; returns what it would give without running.
  private func answer(_ lookup: CacheLookup) -> CacheHit? {
    while true {
      switch cache.advance(lookup) {
      case .ask(let jobs): for (key, job) in jobs { answer(key, job, lookup) }
      case .hit(let hit): return hit
      case .miss, .locked: return nil
      }
    }
  }

  private func answer(_ key: CacheJobKey, _ job: CacheJob, _ lookup: CacheLookup) {
    switch key {
    case .tool(let command): answer(tool: command, job, lookup)
    case .step:
      if case .restore(let directory, let patterns, let files, let known) = job {
        compare(lookup, directory, patterns, files, known)
      } else {
        lookup.take(withRestored(work.perform(job), lookup))
      }
    }
  }

  private func noteRestored(_ lookup: CacheLookup) {
    let named = Set(lookup.settings.outputs.map { PathName(FilePattern($0).path) })
    for entry in lookup.candidate?.files ?? [] {
      let path = lookup.directory.isEmpty ? entry.path : joined(lookup.directory, entry.path)
      restored[PathName(path)] = entry
      if entry.kind == .directory, named.contains(PathName(entry.path)) { cleared.append(path) }
    }
  }

  /// What the step would read once the results of others are restored.
  private func withRestored(_ reply: CacheReply, _ lookup: CacheLookup) -> CacheReply {
    guard case .inspected(var entries) = reply, !restored.isEmpty else { return reply }
    let prefix = lookup.directory.isEmpty ? "" : lookup.directory + "/"
    let patterns = lookup.settings.inputs.filter { !$0.hasPrefix("!") }.map { FilePattern($0) }
    let excluded = lookup.settings.inputs.filter { $0.hasPrefix("!") }.map {
      FilePattern(String($0.dropFirst()))
    }
    entries.removeAll { entry in
      let path = PathName(prefix + entry.path)
      return restored[path] == nil && cleared.contains { path.text.isBelow($0) }
    }
    for (path, entry) in restored
    where path.text.utf8.starts(with: prefix.utf8) {
      let own = String(Substring(path.text.utf8.dropFirst(prefix.utf8.count)))
      // A pattern with wildcards finds no directories.
      guard
        patterns.contains(where: { $0.finds(own) && ($0.isPlain || entry.kind != .directory) }),
        !excluded.contains(where: { $0.covers(own) })
      else { continue }
      let behind = restoredBehind(entry, path)
      // The link is there, and leads to what is there.
      let isThere = entries.contains {
        $0.path.hasSameBytes(as: own) && $0.kind == .link && $0.target == entry.target
      }
      if isThere, behind == nil { continue }
      entries.removeAll { $0.path.hasSameBytes(as: own) && !$0.isOnlyListed }
      entries.append(entry.moved(to: own))
      if var behind = behind?.moved(to: own) {
        behind.isBehindLink = true
        entries.append(behind)
      }
    }
    return .inspected(
      entries.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) })
  }

  /// The file that a restored link leads to, if that is restored, too, in the same directory or below it; or that there
  /// is none.
  private func restoredBehind(_ entry: FileEntry, _ path: PathName) -> FileEntry? {
    guard entry.kind == .link else { return nil }
    let start = path.text.lastIndex(of: "/").map { path.text[...$0] } ?? ""
    let target = entry.target.hasPrefix("/") ? entry.target : start + entry.target
    if let known = restored[PathName(target)] { return known.kind == .file ? known : nil }
    return access(target, F_OK) == 0 ? nil : FileEntry(entry.path, .absent)
  }

  private func answer(tool command: String, _ job: CacheJob, _ lookup: CacheLookup) {
    if runsTools { return cache.take(work.perform(job), ofTool: command) }
    let before = lookup.record?.parts.first { $0.kind == .tool && $0.name == command }?.value
    cache.take(.tool(before.flatMap { CacheDigest(hexadecimal: $0) } ?? .none), ofTool: command)
  }

  /// What restoring would come to.
  private func compare(
    _ lookup: CacheLookup, _ directory: String, _ patterns: [String], _ files: [FileEntry],
    _ known: [FileEntry]
  ) {
    let reply = work.compare(files, patterns, in: directory, known)
    lookup.wasRestorable = reply.hasChanged
    lookup.lost = reply.missing
    lookup.take(.restored(reply.missing.isEmpty ? files : nil, hasChanged: false))
  }

  private func changes(from record: StepRecord, _ lookup: CacheLookup) -> [KeyChange] {
    typealias Name = PartName
    let before = Dictionary(
      record.parts.map { (Name(kind: $0.kind, name: $0.name), $0.value) },
      uniquingKeysWith: { _, last in last })
    let now = Dictionary(
      lookup.description.parts.map { (Name(kind: $0.kind, name: $0.name), $0.value) },
      uniquingKeysWith: { _, last in last })
    var changes: [KeyChange] = []
    for name in Set(before.keys).union(now.keys).sorted() {
      let was = before[name] ?? nil
      let value = now[name] ?? nil
      if was != value {
        changes.append(.part(name.kind, name: name.name, was: was, now: value))
      }
    }
    return changes + changedFiles(record.inputs, lookup.inputs ?? []).map { .file($0) }
  }
}

private struct PartName: Hashable, Comparable {
  let kind: KeyPart.Kind
  let name: String

  static func < (left: Self, right: Self) -> Bool {
    (left.kind.rawValue, left.name) < (right.kind.rawValue, right.name)
  }
}
