// The settings of a step, and what they consist of. It knows neither the steps that share them nor how a file
// specifies them.

import BuiltinSteps
package import Scheduling

/// Everything about a step except its id, work and edges. All steps with equal settings share one
/// instance; most files need one or two.
package final class StepSettings: Sendable {
  /// A label for people; nil means the id.
  package let name: String?
  /// The variables that are added to those that oprun inherited: the pipeline's `env`, then the
  /// step's. Later ones win.
  package let environment: [EnvironmentVariable]
  /// The directory, absolute or relative to where oprun was started; nil means that directory itself.
  package let workingDirectory: String?
  /// The shell's argument vector; the script follows after `-c`.
  package let shell: [String]
  package let standardInput: String?
  /// The time limit of each attempt.
  package let timeout: Nanoseconds?
  package let retry: RetryPolicy
  package let allowFailure: AllowFailure
  package let stop: StopSequence
  /// The number of bytes at the start of the output that the log keeps.
  package let logLimit: Int
  package let nice: Int32
  /// True if the step's own command has a terminal.
  package let usesTerminal: Bool
  /// True if a CI runner must not obey commands in the output.
  package let hasUntrustedOutput: Bool
  package let orphans: OrphanAction
  /// Whether make and other tools in the step share the slots of the run; nil means as oprun does itself.
  package let sharesJobs: Bool?
  package let hooks: Hooks
  /// The declared outputs; nil means that the step may have any.
  package let outputs: [OutputDeclaration]?
  /// True if the text that the command prints is its one output, `value`.
  package let capturesOutput: Bool
  /// The cache declaration; nil means that the step always runs.
  package let cache: CacheSettings?
  /// The request of its job to Slurm; nil if the command runs here.
  package let slurm: SlurmRequest?
  /// True if its command is a job of Slurm. The request itself is large, and looking at it copies it.
  package let isJob: Bool

  package init(
    name: String? = nil, environment: [EnvironmentVariable] = [], workingDirectory: String? = nil,
    shell: [String] = StepSettings.defaultShell, standardInput: String? = nil,
    timeout: Nanoseconds? = nil, retry: RetryPolicy = RetryPolicy(),
    allowFailure: AllowFailure = .never, stop: StopSequence = StopSequence(),
    logLimit: Int = StepSettings.defaultLogLimit, nice: Int32 = 0,
    usesTerminal: Bool = false, hasUntrustedOutput: Bool = false, orphans: OrphanAction = .kill,
    sharesJobs: Bool? = nil, hooks: Hooks = Hooks(), outputs: [OutputDeclaration]? = nil,
    capturesOutput: Bool = false, cache: CacheSettings? = nil, slurm: SlurmRequest? = nil
  ) {
    self.name = name
    self.environment = environment
    self.workingDirectory = workingDirectory
    self.shell = shell
    self.standardInput = standardInput
    self.timeout = timeout
    self.retry = retry
    self.allowFailure = allowFailure
    self.stop = stop
    self.logLimit = logLimit
    self.nice = nice
    self.usesTerminal = usesTerminal
    self.hasUntrustedOutput = hasUntrustedOutput
    self.orphans = orphans
    self.sharesJobs = sharesJobs
    self.hooks = hooks
    self.outputs = outputs
    self.capturesOutput = capturesOutput
    self.cache = cache
    self.slurm = slurm
    isJob = slurm != nil
  }

  /// A copy with changes. It sets each field by itself, and not with an initialiser that has defaults, because so the
  /// compiler refuses a copy that would lose one.
  private init(_ planned: StepSettings, _ changes: Changes) {
    name = changes.name ?? planned.name
    environment = planned.environment + changes.environment
    workingDirectory = changes.workingDirectory ?? planned.workingDirectory
    shell = planned.shell
    standardInput = changes.standardInput ?? planned.standardInput
    timeout = planned.timeout
    retry = changes.retry ?? planned.retry
    allowFailure = changes.allowFailure ?? planned.allowFailure
    stop = planned.stop
    logLimit = planned.logLimit
    nice = planned.nice
    usesTerminal = planned.usesTerminal
    hasUntrustedOutput = planned.hasUntrustedOutput
    orphans = planned.orphans
    sharesJobs = planned.sharesJobs
    hooks = planned.hooks
    outputs = planned.outputs
    capturesOutput = planned.capturesOutput
    cache = changes.cache ?? planned.cache
    slurm = planned.slurm
    isJob = planned.isJob
  }

  func with(_ changes: Changes) -> StepSettings { StepSettings(self, changes) }

  /// The settings of a group with the given settings for its hooks.
  package func running(_ hooks: StepSettings) -> StepSettings {
    StepSettings(
      name: name, environment: hooks.environment, workingDirectory: hooks.workingDirectory,
      shell: hooks.shell, timeout: timeout, allowFailure: allowFailure, stop: hooks.stop,
      hooks: hooks.hooks)
  }

  /// The default shell, `sh -e`; for `bash` the planner writes `bash -eo pipefail`.
  package static let defaultShell = ["/bin/sh", "-e"]
  /// The default limit of a log: 1 GiB.
  package static let defaultLogLimit = 1 << 30
}

extension StepSettings {
  /// The changes that late values make to the planned settings.
  struct Changes {
    /// Variables that are added.
    package var environment: [EnvironmentVariable] = []
    package var workingDirectory: String?
    package var standardInput: String?
    package var allowFailure: AllowFailure?
    package var cache: CacheSettings?
    package var name: String?
    /// The retry policy; nil means as planned.
    package var retry: RetryPolicy?

    package var isEmpty: Bool {
      environment.isEmpty && workingDirectory == nil && standardInput == nil && allowFailure == nil
        && retry == nil && cache == nil && name == nil
    }
  }

  /// The settings with one attempt, because a command that cannot be started now cannot be started later.
  var withoutRetry: StepSettings {
    var changes = Changes()
    changes.retry = RetryPolicy()
    return with(changes)
  }
}

package struct EnvironmentVariable: Hashable, Sendable {
  package let name: String
  package let value: String

  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

package struct RetryPolicy: Hashable, Sendable {
  /// The number of extra attempts.
  package var limit = 0
  /// The delay before the second attempt.
  package var delay: Nanoseconds = 0
  /// The factor between one delay and the next, in thousandths.
  package var backoff = 1000
  package var maxDelay: Nanoseconds = longestTime
  /// True if each delay is random, evenly distributed between 0 and its full length.
  package var hasJitter = false
  /// The ends after which there is another attempt; empty means failed and timed out.
  package var triggers: [RetryTrigger] = []

  package init() {}
}

package enum RetryTrigger: Hashable, Sendable {
  /// The outcome `failed`: any end except success and the time limit.
  case failed
  case timedOut
  /// The command was ended by a signal.
  case signal
  case exit(Int32)
}

/// How a running command is asked to end, and how long that may take until KILL.
package struct StopSequence: Hashable, Sendable {
  /// The signal that is sent first; SIGTERM by default.
  package var signal: Int32 = 15
  package var grace: Nanoseconds = 5_000_000_000

  package init() {}
}

/// Completion hooks: each a list of commands, run one after the other.
package struct Hooks: Hashable, Sendable {
  package var onSuccess: [HookCommand] = []
  package var onFailure: [HookCommand] = []
  package var onCancel: [HookCommand] = []
  package var onComplete: [HookCommand] = []

  package init() {}

  package subscript(kind: HookKind) -> [HookCommand] {
    get {
      switch kind {
      case .onSuccess: onSuccess
      case .onFailure: onFailure
      case .onCancel: onCancel
      case .onComplete: onComplete
      }
    }
    set {
      switch kind {
      case .onSuccess: onSuccess = newValue
      case .onFailure: onFailure = newValue
      case .onCancel: onCancel = newValue
      case .onComplete: onComplete = newValue
      }
    }
  }

  package var isEmpty: Bool {
    onSuccess.isEmpty && onFailure.isEmpty && onCancel.isEmpty && onComplete.isEmpty
  }
}
