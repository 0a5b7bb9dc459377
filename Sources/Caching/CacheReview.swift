// What would become of cached steps if they ran now, for people who ask. It reads files, and changes nothing but
// that the commands of `tools` run if they may.

import Diagnostics
package import Plans
import RunFiles
package import Scheduling

/// What would become of a step.
package enum CacheVerdict: Hashable {
  /// It has no `cache`.
  case uncached
  /// A part of it is known only while running.
  case late
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
}

/// One part of a key that is not what it was.
package enum KeyChange: Hashable {
  case file(ChangedFile)
  case part(KeyPart.Kind, name: String, was: String?, now: String?)
}

package final class CacheReview {
  private let cache: StepCache
  private let plan: Plan
  private let runsTools: Bool
  private var work: CacheWork
  /// Files that would be restored, by their paths from where oprun was started.
  private var restored: [PathName: FileEntry] = [:]
  private var verdicts: [OperationID: (verdict: CacheVerdict, result: CacheDigest?)] = [:]

  /// Tools that are not run are taken to say what they said the last time.
  package init(_ cache: StepCache, _ plan: Plan, runsTools: Bool) {
    self.cache = cache
    self.plan = plan
    self.runsTools = runsTools
    work = CacheWork(cache.folder)
  }

  package func verdict(on operation: OperationID) -> CacheVerdict { review(operation).verdict }

  /// The recursion is as deep as cached steps depend on each other.
  private func review(_ operation: OperationID) -> (verdict: CacheVerdict, result: CacheDigest?) {
    if let known = verdicts[operation] { return known }
    let reviewed = reviewNow(operation)
    verdicts[operation] = reviewed
    return reviewed
  }

  private func reviewNow(
    _ operation: OperationID
  ) -> (verdict: CacheVerdict, result: CacheDigest?) {
    let step = plan.steps[operation.index]
    guard let settings = step.settings.cache, plan.groups[operation] == nil else {
      return (.uncached, nil)
    }
    if let parts = step.late?.parts, parts.command != nil || parts.settings != nil {
      return (.late, nil)
    }
    guard case .known(let action) = step.work else { return (.late, nil) }
    let lookup = cache.lookup(
      step.id, ReadyStep(step), action, settings, upstream: upstream(of: operation))
    lookup.isReviewed = true
    answer(lookup)
    if let result = lookup.result {
      if lookup.wasRestorable { noteRestored(lookup) }
      return (lookup.wasRestorable ? .restorable : .upToDate, result)
    }
    if let fault = lookup.fault { return (.refused(fault.message), nil) }
    if lookup.isRefreshed { return (.refreshed, nil) }
    guard let record = lookup.record else { return (.neverRan, nil) }
    let changes = changes(from: record, lookup)
    if !changes.isEmpty { return (.changed(changes), nil) }
    return (.lost(lookup.lost), nil)
  }

  private func upstream(of operation: OperationID) -> [(step: String, result: CacheDigest)] {
    plan.graph.dependencies(of: operation).flatMap { results(of: $0.from) }
  }

  private func results(of operation: OperationID) -> [(step: String, result: CacheDigest)] {
    if let members = plan.groups[operation]?.members, !members.isEmpty {
      return members.flatMap { results(of: $0) }
    }
    guard plan.steps[operation.index].settings.cache != nil else { return [] }
    // A step that would run gives nobody knows what.
    return [(plan.steps[operation.index].id, review(operation).result ?? .none)]
  }

  /// Does all that is asked about the step.
  private func answer(_ lookup: CacheLookup) {
    while case .ask(let jobs) = cache.advance(lookup) {
      for (key, job) in jobs {
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
    }
  }

  private func noteRestored(_ lookup: CacheLookup) {
    for entry in lookup.candidate?.files ?? [] {
      let path = lookup.directory.isEmpty ? entry.path : joined(lookup.directory, entry.path)
      restored[PathName(path)] = entry
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
    for (path, entry) in restored
    where path.text.utf8.starts(with: prefix.utf8) && entry.kind == .file {
      let own = String(Substring(path.text.utf8.dropFirst(prefix.utf8.count)))
      guard patterns.contains(where: { $0.covers(own) }),
        !excluded.contains(where: { $0.covers(own) })
      else { continue }
      entries.removeAll { $0.path.hasSameBytes(as: own) && !$0.isOnlyListed }
      entries.append(entry.moved(to: own))
    }
    return .inspected(
      entries.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) })
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
