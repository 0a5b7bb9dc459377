// Finds out what cached steps would do if they ran now, for people who ask. It reads files, and changes nothing but
// that the commands of `tools` run if they may.

import Diagnostics
import Expressions
package import Plans
import RunFiles
package import Scheduling

/// What a step would do if it ran now.
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
  private var restored = RestoredFiles()
  /// The steps in each group whose results are not known.
  private var doubts: [OperationID: Doubts] = [:]
  private var reviews: [OperationID: Reviewed] = [:]
  /// How operations would end that do not run; nil for the others.
  var ends: [OperationID: ReviewedEnd?] = [:]
  /// The operations that may change files that steps read, as `disturber` finds them; nil for none.
  var disturbers: [OperationID: OperationID?] = [:]
  /// The outputs of the instances of groups, as one value.
  var lists: [OperationID: Value] = [:]

  /// Steps that stand for copies, which are made during a run.
  private let copied: Set<OperationID>

  private enum Resolution {
    case ready(ReadyStep)
    case late(LateReason)
  }

  /// The findings about a step.
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
    // So the files that a step would restore are known before the steps are looked at that come after it.
    let order = plan.graph.dependenciesFirst().map { OperationID(Int($0)) }
    for operation in order { _ = review(operation) }
    // Asked about in this order, no step has to ask about more than those right before it.
    for operation in order {
      _ = end(of: operation)
      _ = disturber(of: operation)
    }
  }

  package func verdict(on operation: OperationID) -> CacheVerdict { review(operation).verdict }

  /// Whether files would be put back that are not there now.
  var restoresFiles: Bool { !restored.isEmpty }

  func hit(on operation: OperationID) -> CacheHit? { review(operation).hit }

  /// Stands for the result of a step that is up to date; nil for any other.
  package func result(of operation: OperationID) -> CacheDigest? { review(operation).result }

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
    case .ready(let ready):
      guard let asked = CacheableStep(step.id, ready) else { return Reviewed(verdict: .uncached) }
      return review(operation, asked)
    case .late(let reason): return Reviewed(verdict: .late(reason))
    }
  }

  /// The step with all values that it would run with.
  private func ready(_ operation: OperationID) -> Resolution {
    let step = plan.steps[operation.index]
    guard let late = step.late else { return .ready(ReadyStep(step)) }
    let facts = facts(for: operation)
    let resolved = late.resolved(step.work, step.settings, facts)
    if let missing = facts.missing { return .late(missing) }
    guard let action = resolved.action else {
      let words = resolved.failures[.attempt]?.words.message ?? "it runs nothing"
      return .late(.failure(words))
    }
    return .ready(ReadyStep(action, resolved.settings))
  }

  private func review(_ operation: OperationID, _ asked: CacheableStep) -> Reviewed {
    let upstream = cache.asRecorded(upstream(of: operation, asked.directory), of: asked)
    let lookup = cache.lookup(asked, upstream: upstream)
    lookup.isReviewed = true
    let hit = answer(lookup)
    // What a tool printed last time is remembered for each step by itself.
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
    let prefix = lookup.directory.isEmpty ? "" : lookup.directory + "/"
    var found: String?
    changes.removeAll { change in
      guard case .file(let file) = change else { return false }
      let path = prefix + file.path
      let place = restored.link(onTheWayTo: path) ?? restoredPlace(of: path)
      found = found ?? place
      return place != nil
    }
    return found
  }

  /// The place to which a path with `..` leads, if something would be restored there; nil otherwise.
  private func restoredPlace(of path: String) -> String? {
    guard path.hasPrefix("../") || path.containsText("/../") else { return nil }
    let place = LinkTrail("\(surroundings.workspace)/\(path)").end
    return place.path(below: surroundings.workspace).flatMap { restored.changes($0) ? $0 : nil }
  }

  /// A step before the operation whose result is not known, if nothing else has changed: it may come to the same
  /// result again.
  private func onlyDoubt(of operation: OperationID, _ changes: [KeyChange]) -> String? {
    var first: String?
    var single = Doubts()
    var all: [Doubts] = []
    for edge in plan.graph.dependencies(of: operation) {
      if plan.groups[edge.from] == nil {
        if let step = doubtfulStep(edge.from) { single.add(step) }
        first = first ?? single.first
      } else {
        let doubts = doubts(in: edge.from)
        first = first ?? doubts.first
        all.append(doubts)
      }
    }
    all.append(single)
    let isOnly = changes.allSatisfy { change in
      guard case .part(.upstream, let name, _, _) = change else { return false }
      return all.contains { $0.steps.contains(name) } || all.contains { $0.cover(name) }
    }
    return isOnly ? first : nil
  }

  private func doubts(in operation: OperationID) -> Doubts {
    if let known = doubts[operation] { return known }
    var found = Doubts()
    let members = plan.groups[operation]?.members ?? []
    for member in members { found.formUnion(doubts(in: member)) }
    if members.isEmpty, let step = doubtfulStep(operation) { found.add(step) }
    doubts[operation] = found
    return found
  }

  private func doubtfulStep(_ operation: OperationID) -> String? {
    switch review(operation).verdict {
    case .late, .lost, .refreshed, .refused: plan.steps[operation.index].id
    case .uncached, .upToDate, .restorable, .neverRan, .changed, .skipped: nil
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
    upstream.add(review(operation).result ?? .none, of: step.id, step.settings)
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
    case .tool(let question): answer(question, job, lookup)
    case .step:
      if case .restore(let job) = job {
        compare(lookup, job)
      } else {
        lookup.take(withRestored(work.perform(job), lookup))
      }
    }
  }

  private func noteRestored(_ lookup: CacheLookup) {
    restored.add(
      lookup.candidate?.result.files ?? [], in: lookup.directory, outputs: lookup.settings.outputs)
  }

  /// The answer with the files that the step would read once the results of others are restored.
  private func withRestored(_ reply: CacheReply, _ lookup: CacheLookup) -> CacheReply {
    guard case .inspected(let entries) = reply, !restored.isEmpty else { return reply }
    return .inspected(
      restored.applied(to: entries, in: lookup.directory, inputs: lookup.settings.inputs))
  }

  private func answer(_ question: ToolQuestion, _ job: CacheJob, _ lookup: CacheLookup) {
    if runsTools { return cache.take(work.perform(job), ofTool: question) }
    let before = lookup.record?.parts.first {
      $0.kind == .tool && $0.name.hasSameBytes(as: question.command.text)
    }?.value
    cache.take(.tool(before.flatMap { CacheDigest(hexadecimal: $0) } ?? .none), ofTool: question)
  }

  /// Notes what restoring would change.
  private func compare(_ lookup: CacheLookup, _ job: RestoreJob) {
    let reply = work.compare(job)
    lookup.wasRestorable = reply.hasChanged
    lookup.lost = reply.missing
    lookup.take(.restored(reply.missing.isEmpty ? job.files : nil, hasChanged: false))
  }

  private func changes(from record: StepRecord, _ lookup: CacheLookup) -> [KeyChange] {
    typealias Name = PartName
    let before = Dictionary(
      record.parts.map { (Name($0), $0.value) },
      uniquingKeysWith: { _, last in last })
    let now = Dictionary(
      lookup.description.parts.map { (Name($0), $0.value) },
      uniquingKeysWith: { _, last in last })
    var changes: [KeyChange] = []
    for name in Set(before.keys).union(now.keys).sorted() {
      let was = before[name] ?? nil
      let value = now[name] ?? nil
      if was.map(ExactText.init) != value.map(ExactText.init) {
        changes.append(.part(name.kind, name: name.name.text, was: was, now: value))
      }
    }
    return changes + changedFiles(record.inputs, lookup.inputs ?? []).map { .file($0) }
  }
}

/// Steps whose results are not known.
private struct Doubts {
  private(set) var first: String?
  private(set) var steps: Set<String> = []

  mutating func add(_ step: String) {
    first = first ?? step
    steps.insert(step)
  }

  mutating func formUnion(_ other: Doubts) {
    first = first ?? other.first
    steps.formUnion(other.steps)
  }

  /// Whether one of them stands for the step of this id, such as an instance of it.
  func cover(_ id: String) -> Bool { steps.contains { StepName($0).covers(id) } }
}

private struct PartName: Hashable, Comparable {
  let kind: KeyPart.Kind
  let name: ExactText

  init(_ part: KeyPart) {
    kind = part.kind
    name = ExactText(text: part.name)
  }

  static func < (left: Self, right: Self) -> Bool {
    left.kind == right.kind
      ? left.name.text.precedesByBytes(right.name.text) : left.kind.rawValue < right.kind.rawValue
  }
}
