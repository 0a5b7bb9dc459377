// A recorded run with everything that is known about its steps, in words.

import Diagnostics
import Plans
import Reporting
import RunFiles
import Scheduling
import State

/// A run with everything that is recorded about it.
struct ShownRun {
  let run: RecordedRunSummary
  let isInUse: Bool
  /// The newest run that has resumed this one; nil if none has.
  let resumer: String?
  let steps: [RecordedStep]
  /// The hooks and earlier attempts, by step.
  let commands: [String: [RecordedStepCommand]]
  /// The recorded outputs, by step.
  let outputs: [String: [RecordedOutput]]
  /// The placement of commands that did not run here, by role and step.
  private let places: [String: CommandPlacement]
  let folder: StateFolder
  /// The time limit of a step, if it is known.
  var limits: (_ step: String) -> Nanoseconds? = { _ in nil }
  /// The endings of steps by which others may have been blocked, by id.
  private let causes: [String: Ending]
  /// The ids of groups and matrices in which a step has started, because they have no commands of their own.
  private let startedGroups: Set<String>

  init(_ run: RecordedRunSummary, in store: StateStore) throws(StoreFailure) {
    self.run = run
    isInUse = run.exitStatus == nil && store.isInUse(run.name)
    resumer = try store.successors(of: run.name).first?.name
    steps = try store.steps(of: run)
    commands = Dictionary(grouping: try store.commands(of: run), by: \.step)
    outputs = Dictionary(grouping: try store.outputs(of: run), by: \.step)
    places = Dictionary(
      try store.placements(of: run).map { ("\($0.role) \($0.step)", $0.place) },
      uniquingKeysWith: { $1 })
    folder = store.folder
    var causes: [String: Ending] = [:]
    for step in steps { causes[step.name] = step.ending }
    self.causes = causes
    startedGroups = Set(
      steps.lazy.filter { $0.started != nil }.flatMap { Self.groups(around: $0.name) })
  }

  /// The ids of the groups that may contain an id, by its text: `g` and `g/m` for `g/m[1]`.
  private static func groups(around id: String) -> [String] {
    id.utf8.indices.filter { [UInt8(ascii: "/"), UInt8(ascii: "[")].contains(id.utf8[$0]) }
      .map { String(id[..<$0]) }
  }

  /// The hooks of the run itself, in the order in which they ran.
  var hooks: [RecordedStepCommand] { commands[RunDirectory.runHookName] ?? [] }

  /// True if resuming the run would run something that may come out differently.
  var isWorthResuming: Bool {
    run.file != nil && (run.exitStatus != 0 || run.wasLeft) && !isInUse
      // The jobs that were left are with the run that has resumed this one.
      && !(run.wasLeft && resumer != nil)
      // A run that died after its steps was running its hooks.
      && (run.exitStatus == nil || run.endingCounts[.notEnded] > 0
        || steps.contains(where: \.isUnsuccessful))
  }

  /// The path of a log; nil if there is none.
  func logPath(of step: RecordedStep, _ role: String, _ output: Int?) -> String? {
    guard output ?? 0 > 0, !step.hasLostLogs, let role = CommandRole(named: role) else {
      return nil
    }
    let name = RunDirectory.logName(of: step.name, role)
    return folder.shown("runs/\(step.origin ?? run.name)/\(name)")
  }

  func logWords(of step: RecordedStep, _ role: String, _ output: Int?) -> String {
    logPath(of: step, role, output).map { "  \($0)" } ?? ""
  }

  /// The placement of a command of a step; nil if it ran here.
  func place(of step: RecordedStep, _ role: String?) -> CommandPlacement? {
    places.isEmpty ? nil : role.flatMap { places["\($0) \(step.name)"] }
  }

  /// The role of the last known attempt; an attempt that goes on is not recorded.
  func lastAttempt(of step: RecordedStep) -> String? {
    if step.isLeft {
      let ended = commands[step.name]?.count { Int($0.role) != nil && $0.last.duration != nil } ?? 0
      return "\(ended + 1)"
    }
    return step.attempts.map { "\($0)" }
  }

  /// The words about a placement: `, job 12 on n3`; empty for a command that ran here.
  func placeWords(of step: RecordedStep, _ role: String?) -> String {
    place(of: step, role).map { ", " + oneLine($0.wordsAfterEnd) } ?? ""
  }

  /// The words for how a step ended.
  func words(of step: RecordedStep) -> String {
    let place = placeWords(of: step, lastAttempt(of: step))
    return endWords(of: step, place)
  }

  /// The words for a command without an end.
  var runningWords: String { isInUse ? "running" : "was running when oprun died" }

  /// The words for a step without an end. A first attempt that runs has no record of its own.
  private func unendedWords(of step: RecordedStep) -> String {
    let commands = commands[step.name] ?? []
    let isBetweenAttempts = !commands.isEmpty && commands.allSatisfy { $0.end != nil }
    return !isInUse && isBetweenAttempts ? "had not ended when oprun died" : runningWords
  }

  private func endWords(of step: RecordedStep, _ place: String) -> String {
    guard let ending = step.ending else { return unendedWords(of: step) }
    if let origin = step.origin {
      return step.hasLostLogs ? "kept from a run that was removed" : "kept from \(origin)"
    }
    switch ending.outcome {
    case .succeeded: return step.elapsed + step.attemptWords + place
    case .cached: return "up to date"
    case .failed, .timedOut:
      return failureWords(of: step, ending, place) + (ending.isAllowed ? ", allowed" : "")
    case .cancelled:
      let cause = causeWords(of: step)
      if step.started == nil, !startedGroups.contains(step.name) {
        return "did not start" + (cause.isEmpty ? "" : ": \(cause)")
      }
      if step.isLeft { return "goes on in Slurm" + place }
      // `cancelled by ann` is complete.
      return cause.hasPrefix("cancelled ")
        ? cause : "cancelled" + (cause.isEmpty ? "" : ": \(cause)")
    case .skipped: return "skipped: \(causeWords(of: step))"
    case .blocked: return "blocked: \(causeWords(of: step))"
    }
  }

  private func failureWords(of step: RecordedStep, _ ending: Ending, _ place: String) -> String {
    let cause = step.cause == nil ? "" : ": \(causeWords(of: step))"
    guard let end = step.end else {
      let isWait = step.cause?.kind == .wait
      return isWait ? causeWords(of: step) : Ending(ending.outcome).words + cause
    }
    return oneLine(end.words(limit: limits(step.name))) + step.attemptWords + place + cause
  }

  /// The cause in words: `'unit' failed` for `dependency unit`.
  private func causeWords(of step: RecordedStep) -> String {
    guard let cause = step.cause else { return "" }
    let about = oneLine(cause.about)
    switch cause.kind {
    case .dependency:
      let root = causes[cause.about]?.outcome.pastTense
      return "'\(about)' " + (root ?? (step.isBlocked ? "failed" : "did not run"))
    case .wait: return "timed out waiting for \(about)"
    case .hook: return "hook \(about) failed"
    case .stopped: return oneLine(cause.stop?.words ?? "")
    case .condition, .timeLimit, .service, .notReady: return about
    // It is of a newer program.
    case nil: return about.isEmpty ? oneLine(cause.text) : about
    }
  }

  /// Why there is no output of a step to print; nil if it may have printed something.
  func silence(of step: RecordedStep) -> String? {
    let name = "'\(oneLine(step.name))'"
    if step.hasLostLogs { return "\(name) ran in a run that was removed together with its logs" }
    guard let ending = step.ending else {
      return isInUse ? nil : "\(name) printed nothing: it \(words(of: step))"
    }
    switch ending.outcome {
    case .blocked: return "\(name) did not run, because \(causeWords(of: step))"
    case .skipped: return "\(name) was skipped: \(causeWords(of: step))"
    case .cancelled where step.attempts == nil && !startedGroups.contains(step.name):
      return "\(name) \(words(of: step))"
    case .cached: return "\(name) did not run: it was up to date"
    case .succeeded where !step.isGroup && step.origin == nil:
      return "\(name) printed nothing in \(words(of: step))"
    case .succeeded, .failed, .timedOut, .cancelled:
      return step.isGroup ? nil : "\(name) printed nothing: \(words(of: step))"
    }
  }
}

extension RecordedStep {
  /// True if a resumed run would run the step again.
  var isUnsuccessful: Bool {
    guard let ending else { return true }
    switch ending.outcome {
    case .succeeded, .cached, .skipped: return false
    case .failed, .timedOut: return !ending.isAllowed
    case .cancelled, .blocked: return true
    }
  }

  fileprivate var elapsed: String { duration.map { elapsedText(Int64($0) * 1000) } ?? "" }

  fileprivate var attemptWords: String { attempts.map { $0 > 1 ? " (attempt \($0))" : "" } ?? "" }

  fileprivate var isBlocked: Bool { ending?.outcome == .blocked }
}
