// The plan: every name resolved, every default filled in, flat and immutable. What runs a pipeline
// and what shows it read only this; neither sees the file's model. What is added while running, and what
// late steps become, is `RunSteps`.

package import Diagnostics
package import Expressions
package import Scheduling

/// A pipeline ready to run. `steps[i]` is operation `i` of `graph`.
package struct Plan: Sendable {
  package let name: String
  package let sources: SourceMap
  package let steps: [PlannedStep]
  /// Edges, queues, priorities, claims: all that the scheduler needs.
  package let graph: Graph
  /// `queues[0]` is the default queue.
  package let queues: [QueueSpec]
  /// Resources in file order, then mutexes.
  package let pools: [PoolSpec]
  package let failurePolicy: FailurePolicy
  /// Of the whole run.
  package let timeout: Nanoseconds?
  /// The run's own hooks and the pipeline's shell, environment and directory for them.
  package let settings: StepSettings
  /// What of `settings` is known only when the run begins.
  package let late: LateStep?
  /// What is to be read before anything runs, and masked from then on.
  package let secrets: [SecretSource]
  /// Operations that stand for several: a step with a matrix, or with a pipeline of its own.
  package let groups: [OperationID: GroupPlan]
  /// The pipeline's params, in file order.
  package let parameters: [ParameterDescription]
  /// What the run was asked for by name; empty if it is of all steps.
  package let named: Set<OperationID>

  package init(
    name: String, sources: SourceMap, steps: [PlannedStep], graph: Graph, queues: [QueueSpec],
    pools: [PoolSpec], failurePolicy: FailurePolicy, timeout: Nanoseconds?, settings: StepSettings,
    late: LateStep? = nil, secrets: [SecretSource] = [], groups: [OperationID: GroupPlan] = [:],
    parameters: [ParameterDescription] = [], named: Set<OperationID> = []
  ) {
    self.name = name
    self.named = named
    self.sources = sources
    self.steps = steps
    self.graph = graph
    self.queues = queues
    self.pools = pools
    self.failurePolicy = failurePolicy
    self.timeout = timeout
    self.settings = settings
    self.late = late
    self.secrets = secrets
    self.groups = groups
    self.parameters = parameters
  }
}

/// Where the value of a secret is when a run starts.
package struct SecretSource: Hashable, Sendable {
  package enum Location: Hashable, Sendable {
    /// The variable with the secret's name.
    case environment
    /// A path, from where oprun was started.
    case file(String)
  }

  package let name: String
  package let location: Location
  /// Nothing runs without it.
  package let isRequired: Bool

  package init(name: String, location: Location, isRequired: Bool = true) {
    self.name = name
    self.location = location
    self.isRequired = isRequired
  }
}

/// One step of a plan: what to run, and how (shared with the steps that set nothing else).
package struct PlannedStep: Sendable {
  package let id: String
  /// The step's `id:` value in the file, for messages.
  package let span: Span
  package let work: Work
  package let settings: StepSettings
  /// Nil for a step of which everything is known, as of most.
  package let late: LateStep?

  package init(
    id: String, span: Span, work: Work, settings: StepSettings, late: LateStep? = nil
  ) {
    self.id = id
    self.span = span
    self.work = work
    self.settings = settings
    self.late = late
  }
}

/// The operations that a group stands for. The group's own operation runs nothing, takes no slot,
/// and ends after all of them.
package struct GroupPlan: Sendable {
  /// What made a group of the step.
  package enum Kind: Hashable, Sendable {
    /// Instances of its matrix, which is known.
    case matrix
    /// Instances that are made while running; the text is the axes as they are written.
    case expanding(String)
    /// The steps of another pipeline file.
    case nested(path: String)
  }

  package let kind: Kind
  /// In file order; empty for `expanding`. A step that stands for others is one member, its group:
  /// groups form a tree.
  package let members: [OperationID]
  /// A failure of a member cancels the others.
  package let isFailFast: Bool
  /// Of a matrix that is known: the values of each member.
  package let combinations: [ValueMap]

  package init(
    kind: Kind, members: [OperationID], isFailFast: Bool = false, combinations: [ValueMap] = []
  ) {
    self.kind = kind
    self.members = members
    self.isFailFast = isFailFast
    self.combinations = combinations
  }

  /// Its members are instances of a step.
  package var isOfInstances: Bool {
    switch kind {
    case .matrix, .expanding: true
    case .nested: false
    }
  }

  /// Its members are made while running.
  package var isExpanding: Bool { if case .expanding = kind { true } else { false } }
}

/// Everything about a step but its id, work and edges. One instance serves all steps that have
/// the same; most files need one or two.
package final class StepSettings: Sendable {
  /// Label for people; nil means the id.
  package let name: String?
  /// Added to what oprun inherited: the pipeline's `env`, then the step's. Later ones win.
  package let environment: [EnvironmentVariable]
  /// Absolute, or relative to where oprun was started; nil means there.
  package let workingDirectory: String?
  /// The shell's argument vector; the script follows after `-c`.
  package let shell: [String]
  package let standardInput: String?
  /// Per attempt.
  package let timeout: Nanoseconds?
  package let retry: RetryPolicy
  package let allowFailure: AllowFailure
  package let stop: StopSequence
  /// Bytes of head that the log keeps.
  package let logLimit: Int
  package let nice: Int32
  package let orphans: OrphanAction
  package let hooks: Hooks
  /// Nil: the step may give any output.
  package let outputs: [OutputDeclaration]?

  package init(
    name: String? = nil, environment: [EnvironmentVariable] = [], workingDirectory: String? = nil,
    shell: [String] = StepSettings.defaultShell, standardInput: String? = nil,
    timeout: Nanoseconds? = nil, retry: RetryPolicy = RetryPolicy(),
    allowFailure: AllowFailure = .never, stop: StopSequence = StopSequence(),
    logLimit: Int = StepSettings.defaultLogLimit, nice: Int32 = 0, orphans: OrphanAction = .kill,
    hooks: Hooks = Hooks(), outputs: [OutputDeclaration]? = nil
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
    self.orphans = orphans
    self.hooks = hooks
    self.outputs = outputs
  }

  /// `sh -e`; for `bash` the planner writes `bash -eo pipefail`.
  package static let defaultShell = ["/bin/sh", "-e"]
  /// 1 GiB.
  package static let defaultLogLimit = 1 << 30
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
  /// Extra attempts.
  package var limit = 0
  /// Before the second attempt.
  package var delay: Nanoseconds = 0
  /// Each further delay is this many times the last, in thousandths.
  package var backoff = 1000
  package var maxDelay: Nanoseconds = .max
  /// Each delay is drawn evenly from 0 to itself.
  package var hasJitter = false
  /// What is retried; empty means failed and timed out.
  package var triggers: [RetryTrigger] = []

  package init() {}
}

package enum RetryTrigger: Hashable, Sendable {
  /// The outcome `failed`: any end but success and the time limit.
  case failed
  case timedOut
  /// Ended by any signal.
  case signal
  case exit(Int32)
}

package enum AllowFailure: Hashable, Sendable {
  case never, always
  case exitCodes([Int32])
}

/// How a running command is asked to end, and how long it may take until KILL.
package struct StopSequence: Hashable, Sendable {
  /// SIGTERM.
  package var signal: Int32 = 15
  package var grace: Nanoseconds = 5_000_000_000

  package init() {}
}

/// Completion hooks: each a list of commands, run one after the other; none is `Work.none`.
package struct Hooks: Hashable, Sendable {
  package var onSuccess: [Work] = []
  package var onFailure: [Work] = []
  package var onCancel: [Work] = []
  package var onComplete: [Work] = []

  package init() {}

  package subscript(kind: HookKind) -> [Work] {
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
