// The messages about runs that were recorded.

import BuiltinSteps
import Diagnostics
import Plans
import Scheduling

extension UsageFailure {
  static func submitsStandardInput(_ command: Subcommand) -> UsageFailure {
    UsageFailure(
      "a job cannot read the pipeline from standard input", help: "write it to a file",
      command: command.name)
  }

  static func submitsOtherwise(_ word: String, _ command: Subcommand) -> UsageFailure {
    UsageFailure(
      "\(quoted(word)) cannot be used: the job must be a run of oprun",
      command: command.name)
  }

  static func noRuns(_ command: Subcommand) -> UsageFailure {
    UsageFailure(
      "no run is recorded", help: "'oprun FILE' runs a pipeline and records it",
      command: command.name)
  }

  static func unknownRun(_ word: String, among names: [String], _ command: Subcommand)
    -> UsageFailure
  {
    if Invocation.isFileName(word) { return fileAsRun(word, command) }
    let close = suggestion(for: word, among: names.prefix(1000))
    return UsageFailure(
      "unknown run \(quoted(word))",
      help: didYouMean(close) ?? "'oprun history' lists the runs",
      command: command.name)
  }

  private static func fileAsRun(_ file: String, _ command: Subcommand) -> UsageFailure {
    let isResume = command.name == Subcommand.resume.name
    return UsageFailure(
      "\(quoted(file)) is a file, and 'oprun \(command.name)' wants a run",
      help: isResume
        ? "'oprun \(printable(file)) --resume' resumes the last run of a file"
        : "leave it out, or name a run that 'oprun history' lists",
      command: command.name)
  }

  static func severalRuns(_ word: String, _ names: [String], _ command: Subcommand) -> UsageFailure
  {
    UsageFailure(
      "\(quoted(word)) is the beginning or the end of \(names.count) run names",
      help: "name one of them: \(firstNames(of: names, most: 3))", command: command.name)
  }

  /// A run in which steps are looked for.
  struct SearchedRun {
    let name: String
    let isInProgress: Bool
  }

  static func unknownStep(
    _ id: String, of run: SearchedRun, among ids: some Sequence<String>, _ command: Subcommand
  ) -> UsageFailure {
    UsageFailure(
      run.isInProgress
        ? "no step \(quoted(id)) has started in run \(run.name)"
        : "unknown step \(quoted(id)) in run \(run.name)",
      help: didYouMean(suggestion(for: id, among: ids))
        ?? (run.isInProgress
          ? "'oprun status' shows the progress of that run" : "'oprun show' lists its steps"),
      command: command.name)
  }

  /// What the plan of a run that is resumed holds.
  enum ResumedPart {
    /// The steps that `--until` selects.
    case selection
    case file(String)
    case recordedSteps
  }

  /// The failure for a step that cannot be selected in a run that is resumed.
  static func stepNotResumed(
    _ id: String, for option: Option, in plan: Plan, of part: ResumedPart
  ) -> UsageFailure {
    var failure = unknownStep(id, for: option, among: plan.steps.lazy.map(\.id))
    switch part {
    case .selection:
      failure.message =
        "'\(option.flag)' wants one of the steps that '--until' selects, found \(quoted(id))"
    case .file(let file):
      failure.message = "unknown step \(quoted(id)) in \(printable(file))"
    case .recordedSteps: break
    }
    failure.command = Subcommand.resume.name
    if let matrix = plan.lateMatrix(ofInstance: id) {
      failure.help =
        "the instances of \(quoted(matrix)) are known only during the run: name \(quoted(matrix))"
    }
    return failure
  }

  /// The failure for a step with which two options want to do opposite things.
  static func contradiction(_ option: Option, _ other: Option, of step: String) -> UsageFailure {
    UsageFailure(
      "'\(option.flag)' and '\(other.flag)' both name \(quoted(step))",
      help: "leave one of them out", command: Subcommand.resume.name)
  }

  /// The failure for a word that may be a run, or a step of the newest run.
  static func neitherRunNorStep(
    _ word: String, of run: SearchedRun, among ids: some Sequence<String>, _ command: Subcommand
  ) -> UsageFailure {
    let step =
      run.isInProgress ? "a step that has started in run \(run.name)" : "a step of run \(run.name)"
    return UsageFailure(
      "\(quoted(word)) is neither a run nor \(step)",
      help: didYouMean(suggestion(for: word, among: ids))
        ?? (run.isInProgress
          ? "'oprun status' shows the progress of that run"
          : "'oprun history' lists the runs, and 'oprun show' the steps of the last one"),
      command: command.name)
  }

  static func hasJobs(_ run: String, _ command: Subcommand) -> UsageFailure {
    UsageFailure(
      "run \(run) may still have jobs in Slurm, but none of its steps would run there",
      help: "use --executor slurm to continue them, or --executor local to cancel them",
      command: command.name)
  }

  static func severalRunsInProgress(_ names: [String], _ command: Subcommand) -> UsageFailure {
    UsageFailure(
      "\(names.count) runs are in progress",
      help: "name one of them: \(firstNames(of: names, most: 5))", command: command.name)
  }

  static func wrongSetting(_ word: String) -> UsageFailure {
    let name = word.split(separator: "=", omittingEmptySubsequences: false).first.map(String.init)
    let close = name.flatMap { suggestion(for: $0, among: ["max_parallel", "priority"]) }
    return UsageFailure(
      "'oprun set' wants 'max_parallel=N' or 'priority=N STEP', found \(quoted(word))",
      help: didYouMean(close.map { "\($0)=" }), command: Subcommand.set.name)
  }

  static func wrongWidth(_ text: String) -> UsageFailure {
    UsageFailure(
      "'max_parallel' wants a whole number from 0 to \(ControlRequest.mostParallel) or 'auto', found "
        + quoted(text),
      command: Subcommand.set.name)
  }

  static func wrongPriority(_ text: String) -> UsageFailure {
    UsageFailure(
      "'priority' wants very_low, low, normal, high, very_high or a number from -1000 to 1000, found "
        + quoted(text), command: Subcommand.set.name)
  }

  static let missingStepOfPriority = UsageFailure(
    "'priority' needs a step", help: "write it last: oprun set priority=high STEP",
    command: Subcommand.set.name)

  static func notResumable(_ run: String) -> UsageFailure {
    UsageFailure(
      "run \(run) cannot be resumed: its pipeline was read from standard input, which is not kept",
      help: "put the pipeline in a file", command: Subcommand.resume.name)
  }

  /// The failure for a run of another directory; nil if that no longer exists.
  static func resumedElsewhere(_ run: String, _ directory: String?) -> UsageFailure {
    guard let directory else {
      return UsageFailure(
        "run \(run) cannot be resumed: the directory in which it ran no longer exists",
        help: "run the pipeline anew", command: Subcommand.resume.name)
    }
    return UsageFailure(
      "run \(run) did not run here, but in '\(shortened(directory, to: .max))'",
      help: "resume it there, or name a run of this directory: 'oprun history' lists all",
      command: Subcommand.resume.name)
  }

  static func secretParameter(_ name: String) -> UsageFailure {
    UsageFailure(
      "parameter \(quoted(name)) holds a secret, which is not kept",
      help: "set it again with \(parameterVariable(name)) or --param",
      command: Subcommand.resume.name)
  }

  static func missingUpstream(_ needed: String, of step: String) -> UsageFailure {
    UsageFailure(
      "'--only' runs nothing else, but \(quoted(step)) needs \(quoted(needed)), which must run again",
      help: "leave '--only' out, or run '--until \(printable(step))' instead",
      command: Subcommand.resume.name)
  }

  static func wrongSize(_ text: String, for option: Option, _ command: Subcommand) -> UsageFailure {
    UsageFailure(
      "'\(option.flag)' wants a size such as 500M or 2G, found \(quoted(text))",
      help: exceededLimit(text),
      command: command.name)
  }

  static func wrongURL(_ text: String, for option: Option, _ command: Subcommand) -> UsageFailure {
    UsageFailure(
      "'\(option.flag)' wants a URL of http or https, found \(quoted(shownURL(text)))",
      command: command.name)
  }

  static func unknownQueue(_ name: String, among names: [String]) -> UsageFailure {
    UsageFailure(
      "unknown queue \(quoted(name))",
      help: didYouMean(suggestion(for: name, among: names)),
      command: Subcommand.analyze.name)
  }

  static func wrongWidth(_ text: String, of queue: String, for option: Option) -> UsageFailure {
    UsageFailure(
      "'\(option.flag)' wants a number of at least 1 for \(quoted(queue)), found \(quoted(text))",
      command: Subcommand.analyze.name)
  }

  static func missingFactor(_ text: String) -> UsageFailure {
    UsageFailure(
      "'--faster' wants a step and a factor, as in test=2x, found \(quoted(text))",
      command: Subcommand.analyze.name)
  }

  static func wrongFactor(_ text: String, of step: String) -> UsageFailure {
    UsageFailure(
      "'--faster' wants a factor such as 2x for \(quoted(step)), found \(quoted(text))",
      command: Subcommand.analyze.name)
  }
}

extension Plan {
  /// The step whose instances are known only while running, if the id is that of one of its
  /// instances, or of a step in one.
  fileprivate func lateMatrix(ofInstance id: String) -> String? {
    for bracket in id.indices where id[bracket] == "[" {
      let name = id[..<bracket]
      let isLate = groups.contains { operation, group in
        if case .expanding = group.kind { steps[operation.index].id == name } else { false }
      }
      guard isLate else { continue }
      let inner = id[bracket...].firstRange(ofText: "]/").map {
        name + id[$0.lowerBound...].dropFirst()
      }
      return inner.flatMap { inner in steps.first { $0.id == inner }?.id } ?? String(name)
    }
    return nil
  }
}
