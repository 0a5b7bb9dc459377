// `oprun why`: whether a cached step would run, and which part of its key has changed.

import Caching
import Diagnostics
import Execution
import Masking
import Plans
import Reporting
import RunFiles
import Scheduling

extension Tool {
  func why(_ invocation: Invocation) throws(UsageFailure) -> Int32 {
    let options = planningOptions(invocation, nil)
    guard var pipeline = load(invocation.operands[0], options) else {
      return ExitStatus.invalidPipeline
    }
    let reading = readSecrets(of: &pipeline)
    switch plan(invocation, pipeline, options, reading) {
    case .failure(let exit): return exit.status
    case .success(let plan):
      keepUntilExit((pipeline, plan))
      return explain(plan, invocation, reading.secrets)
    }
  }

  private func explain(_ plan: Plan, _ invocation: Invocation, _ secrets: Secrets) -> Int32 {
    let review = review(of: plan, for: .why, invocation, secrets)
    let asked = plan.askedSteps
    let groups = Groups(plan)
    if invocation.isOn(Options.json) {
      output.isFormat = true
      let id = { (operation: OperationID) in
        let id = plan.steps[operation.index].id
        return secrets.masker?.name(id, number: operation.index) ?? id
      }
      output.write(jsonList: asked) { operation in
        let verdict = plan.verdict(on: operation, groups, review)
        let other = verdict.dependsOnFiles ? review?.disturber(of: operation) : nil
        writeJSON(
          verdict, of: id(operation), unless: other.map(id))
      }
      output.writeNewline()
      return ExitStatus.success
    }
    if asked.isEmpty { say("no step has 'cache': nothing to compare") }
    shareOutputWithRunner()
    let shown = { (text: String) in messageLine(secrets.masker?.mask(text) ?? text) }
    let words = ChangeWords(plan)
    var verdicts = asked.map { operation in
      let verdict = plan.verdict(on: operation, groups, review)
      let unless = verdict.dependsOnFiles ? unless(operation, review) ?? "" : ""
      return AskedVerdict(
        name: plan.steps[operation.index].id, headline: verdict.headline + shown(unless),
        lines: words.lines(about: verdict))
    }
    if !invocation.isOn(Options.unfolded) { verdicts = plan.folded(verdicts, of: asked) }
    for asked in verdicts {
      output.write(shown(asked.name) + "  " + asked.headline)
      output.writeNewline()
      for line in asked.lines {
        output.write("  " + messageLine(line))
        output.writeNewline()
      }
    }
    return ExitStatus.success
  }

  /// Who asks for the verdicts of the cache.
  enum ReviewPurpose {
    /// `oprun why`, for which the `tools` are run.
    case why
    case dryRun
    case dryRunOfResume
  }

  /// The verdicts of the cache about the steps; nil if nothing was ever cached.
  func review(
    of plan: Plan, for purpose: ReviewPurpose, _ invocation: Invocation, _ secrets: Secrets
  ) -> CacheReview? {
    guard let opened = try? StateDirectory(path: stateDirectory(invocation)).open(),
      let folder = try? CacheFolder.open(in: opened)
    else { return nil }
    let options = cacheOptions(invocation, runID: "", secrets)
    var surroundings = ReviewSurroundings(
      workspace: options.workspace, secret: { secrets[$0] }, secretHeld: secrets.name(heldBy:),
      hashFiles: FileHashes.digest)
    surroundings.isOfEarlierRun = purpose == .dryRunOfResume
    return CacheReview(
      StepCache(folder, options), plan, surroundings, runsTools: purpose == .why)
  }

  private func writeJSON(_ verdict: CacheVerdict, of id: String, unless other: String?) {
    output.write("{")
    output.write(field: "step", isFirst: true)
    output.write(json: id)
    output.write(field: "state")
    output.write(ownJSON: verdict.word)
    output.write(field: "changes")
    output.write(jsonList: verdict.changes) { change in
      output.write("{")
      output.write(field: "part", isFirst: true)
      output.write(json: change.part)
      output.write(field: "name")
      output.write(json: change.name)
      if let (was, now) = change.values {
        output.write(field: "was")
        was.map { output.write(json: $0) } ?? output.write("null")
        output.write(field: "now")
        now.map { output.write(json: $0) } ?? output.write("null")
      } else {
        output.write(field: "change")
        output.write(json: change.word)
      }
      output.write("}")
    }
    if let other {
      output.write(field: "unless_changed_by")
      output.write(json: other)
    }
    if let reason = verdict.explanation {
      output.write(field: "reason")
      output.write(json: reason)
    }
    output.write("}")
  }
}

/// The answer about a step, or about several instances of one.
private struct AskedVerdict: Hashable {
  var name: String
  var headline: String
  var lines: [String]
}

extension Plan {
  /// The answers, where one stands for all instances of a matrix with the same answer, in place of the first.
  fileprivate func folded(_ verdicts: [AskedVerdict], of asked: [OperationID]) -> [AskedVerdict] {
    let instances = groupsOfInstances
    if instances.isEmpty { return verdicts }
    let shared = zip(asked, verdicts).map { operation, verdict -> AskedVerdict? in
      guard instances[operation.index] >= 0 else { return nil }
      let group = OperationID(Int(instances[operation.index]))
      return AskedVerdict(
        name: steps[group.index].id,
        headline: withoutInstance(verdict.headline, operation, of: group),
        lines: verdict.lines.map { withoutInstance($0, operation, of: group) })
    }
    let counts = Dictionary(shared.compactMap { $0.map { ($0, 1) } }, uniquingKeysWith: +)
    var seen: Set<AskedVerdict> = []
    return zip(verdicts, shared).compactMap { verdict, shared in
      guard var shared, let count = counts[shared], count > 1 else { return verdict }
      guard seen.insert(shared).inserted else { return nil }
      shared.name += " ×\(count)"
      return shared
    }
  }

  /// The steps that were asked about, with members in place of groups; all cached steps if none is named.
  fileprivate var askedSteps: [OperationID] {
    let named =
      named.isEmpty
      ? steps.indices.map { OperationID($0) }.filter { steps[$0.index].settings.cache != nil }
      : named.sorted()
    var seen: Set<OperationID> = []
    return named.flatMap { members(of: $0) }.filter { seen.insert($0).inserted }
  }

  private func members(of operation: OperationID) -> [OperationID] {
    guard let members = groups[operation]?.members, !members.isEmpty else { return [operation] }
    return members.flatMap { self.members(of: $0) }
  }

  fileprivate func verdict(
    on operation: OperationID, _ groups: Groups, _ review: CacheReview?
  ) -> CacheVerdict {
    if let reason = skipReason(of: operation, groups, review) { return .skipped(reason) }
    return review?.verdict(on: operation)
      ?? (steps[operation.index].settings.cache == nil ? .uncached : .neverRan)
  }

  /// Why the step would be skipped, because of its own condition or that of a group around it; nil
  /// if that is not known.
  private func skipReason(
    of operation: OperationID, _ groups: Groups, _ review: CacheReview?
  ) -> String? {
    ([operation] + groups.around(operation)).lazy.compactMap {
      steps[$0.index].late?.skipReason ?? review?.skipReason(of: $0)
    }.first
  }
}

extension CacheVerdict {
  var word: String {
    switch self {
    case .uncached: "uncached"
    case .late: "late"
    case .upToDate: "up_to_date"
    case .restorable: "restorable"
    case .neverRan: "never_ran"
    case .changed: "changed"
    case .lost: "lost"
    case .refused: "refused"
    case .refreshed: "refreshed"
    case .skipped: "skipped"
    }
  }

  /// True if the verdict may change when a step before this one changes the files that it reads.
  var dependsOnFiles: Bool {
    switch self {
    case .upToDate, .restorable: true
    case .changed(let changes):
      changes.allSatisfy { change in
        if case .part(let kind, _, _, _) = change { kind == .upstream } else { true }
      }
    case .uncached, .late, .neverRan, .lost, .refreshed, .refused, .skipped: false
    }
  }

  var headline: String {
    switch self {
    case .uncached: "runs every time: it has no 'cache'"
    case .late(.failure(let message)): "will not start: \(message)"
    case .late(let reason): "is known only during the run: \(reason.words)"
    case .upToDate: "is up to date"
    case .restorable: "is up to date: its outputs will be restored"
    case .neverRan: "would run: no result is known"
    case .changed: "would run: something that it depends on has changed"
    case .lost: "would run: its outputs have changed, and the cache does not have them"
    case .refused(let reason): "runs every time: \(reason)"
    case .refreshed: "would run: --refresh is given"
    case .skipped(let reason): "is skipped: \(joinedLines(reason))"
    }
  }

  /// Why the step cannot be cached, or is not known, in words.
  var explanation: String? {
    switch self {
    case .refused(let reason), .skipped(let reason): reason
    case .late(let reason): reason.words
    case .uncached, .upToDate, .restorable, .neverRan, .changed, .lost, .refreshed: nil
    }
  }

  var changes: [KeyChange] {
    switch self {
    case .changed(let changes): changes
    case .lost(let files): files.map { .file($0) }
    case .uncached, .late, .upToDate, .restorable, .neverRan, .refused, .refreshed, .skipped: []
    }
  }

  var isOfOutputs: Bool { if case .lost = self { true } else { false } }
}

extension LateReason {
  var words: String {
    switch self {
    case .step(let id): "it uses values of \(quoted(id)), which would run"
    case .secret(let name): "it uses the secret \(quoted(name)), which is not set"
    case .run(let name): "it uses 'run.\(name)'"
    case .matrix: "its matrix is not known yet"
    case .instances(let id): "it uses values of \(quoted(id)), whose instances are not known yet"
    case .result(let id): "it depends on the result of \(quoted(id)), which would run"
    case .restored(let path): "it reads \(quoted(path)), which will be restored"
    case .files: "it reads files that earlier steps may change"
    case .failure(let message): message
    }
  }
}

extension KeyChange {
  var part: String {
    switch self {
    case .file: "input"
    case .part(let kind, _, _, _): kind.word
    }
  }

  var name: String {
    switch self {
    case .file(let file): file.path
    case .part(_, let name, _, _): name
    }
  }

  var word: String {
    guard case .file(let file) = self else { return "changed" }
    return switch file.kind {
    case .added: "added"
    case .removed: "removed"
    case .changed: "changed"
    }
  }

  /// The values before and now; nil for a change whose values would tell nothing.
  var values: (was: String?, now: String?)? {
    guard case .part(let kind, _, let was, let now) = self else { return nil }
    switch kind {
    case .tool, .upstream: return nil
    case .format, .command, .shell, .directory, .input, .variable, .declaration, .program:
      return (was.map(ByteText.shown), now.map(ByteText.shown))
    }
  }

  var line: String {
    let subject = [part, name].filter { !$0.isEmpty }.joined(separator: " ")
    guard let (was, now) = values else { return "\(subject) \(word)" }
    guard let was else { return "\(subject) added: \(quoted(now ?? ""))" }
    guard let now else { return "\(subject) removed, was \(quoted(was))" }
    let (before, after) = fromDifference(was, now)
    let look = before == after ? ", which looks the same, but has different bytes" : ""
    return "\(subject) changed from \(quoted(before)) to \(quoted(after))\(look)"
  }
}

/// Two long values from shortly before their first difference: a line does not show all of them.
private func fromDifference(_ was: String, _ now: String) -> (String, String) {
  let shown = 20
  let common = zip(was.unicodeScalars, now.unicodeScalars).prefix { $0 == $1 }.count
  guard common > 2 * shown else { return (was, now) }
  return ("…\(was.dropFirst(common - shown))", "…\(now.dropFirst(common - shown))")
}

extension KeyPart.Kind {
  fileprivate var word: String {
    switch self {
    case .format: "format"
    case .command: "command"
    case .shell: "shell"
    case .directory: "working_dir"
    case .input: "stdin"
    case .variable: "variable"
    case .declaration: "cache"
    case .tool: "tool"
    case .upstream: "step"
    case .program: "program"
    }
  }
}
