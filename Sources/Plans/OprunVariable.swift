// The variables that oprun sets for commands, with the words of the reference.

/// A variable of the environment that commands of a run get.
package enum OprunVariable: String, CaseIterable, Sendable {
  case oprun = "OPRUN"
  case runID = "OPRUN_RUN_ID"
  case workspace = "OPRUN_WORKSPACE"
  case step = "OPRUN_STEP"
  case attempt = "OPRUN_ATTEMPT"
  case output = "OPRUN_OUTPUT"
  case cookie = "OPRUN_STEP_COOKIE"
  case status = "OPRUN_STATUS"
  case exitCode = "OPRUN_EXIT_CODE"
  case signal = "OPRUN_SIGNAL"
  case durationMS = "OPRUN_DURATION_MS"
  case failedSteps = "OPRUN_FAILED_STEPS"

  /// The commands that get the variable.
  package enum Audience: CaseIterable, Sendable {
    /// Steps, probes of `wait_for`, and all hooks.
    case commands
    case hooks
    /// The hooks of the run, and of a nested pipeline.
    case runHooks
  }

  package var audience: Audience {
    switch self {
    case .oprun, .runID, .workspace, .step, .attempt, .output, .cookie: .commands
    case .status, .exitCode, .signal, .durationMS: .hooks
    case .failedSteps: .runHooks
    }
  }

  /// True if the variable is about one command: a value inherited from a run around this one must
  /// not reach another command.
  package var isOfCommand: Bool {
    switch self {
    case .oprun, .runID, .workspace: false
    case .step, .attempt, .output, .cookie, .status, .exitCode, .signal, .durationMS, .failedSteps:
      true
    }
  }

  /// The meaning, in the words of the reference page.
  package var meaning: String {
    switch self {
    case .oprun: "`1`"
    case .runID: "the id of the run, which names its directory"
    case .workspace: "the directory that oprun was started in; absolute"
    case .step: "the id of the step, with that of its instance; `@run` for hooks of the run"
    case .attempt: "the number of the attempt, from 1; for hooks the last one, 0 if there was none"
    case .output: "the file for outputs of the step; what hooks write there is not read"
    case .cookie: "identifies the processes of the command to oprun; for nothing else"
    case .status:
      "how the step or the run ended, if no further hook fails: `succeeded`, `failed`, "
        + "`timed_out` or `cancelled`"
    case .exitCode:
      "the exit status of the last attempt, 128 + N after signal N, empty if there is "
        + "none; for hooks of the run, that of oprun, and for those of a used pipeline, what it would be"
    case .signal:
      "the number of the signal that ended the last attempt, or stopped the run; else empty"
    case .durationMS: "how long the last attempt took, or the steps of the run, in milliseconds"
    case .failedSteps:
      "the ids of the steps that failed or timed out (allowed failures only with `--strict`), "
        + "separated by spaces, for a run in the order in which they failed, for a used "
        + "pipeline in that of the file; of a list of more than 64 KiB only the beginning"
    }
  }
}

extension OprunVariable.Audience {
  /// The commands, in the words of the reference page.
  package var words: String {
    switch self {
    case .commands: "all commands"
    case .hooks: "hooks"
    case .runHooks: "hooks of a run or of a used pipeline"
    }
  }
}

extension EnvironmentVariable {
  package init(_ variable: OprunVariable, _ value: String) {
    self.init(name: variable.rawValue, value: value)
  }
}
