// The plan: every name resolved, every default filled in, flat and immutable. The modules that run
// a pipeline and those that show it read only this; neither sees the file's model. `RunSteps` has
// what is added during the run, and what late steps become.

package import Diagnostics
package import Expressions
package import Scheduling

/// A pipeline ready to run. `steps[i]` is operation `i` of `graph`.
package struct Plan: Sendable {
  package private(set) var name: String
  /// The purpose of the pipeline, as the file describes it.
  package let description: String?
  package let sources: SourceMap
  package private(set) var steps: [PlannedStep]
  /// The edges, queues, priorities and claims: everything that the scheduler needs.
  package internal(set) var graph: Graph
  /// True if durations are those of earlier runs, where these are known.
  package internal(set) var knowsEarlierRuns = false
  /// The queues; `queues[0]` is the default queue.
  package internal(set) var queues: [QueueSpec]
  /// The pools: resources in file order, then mutexes.
  package internal(set) var pools: [PoolSpec]
  package let failurePolicy: FailurePolicy
  /// The time limit of the whole run.
  package let timeout: Nanoseconds?
  /// True if the time limit comes from the command line.
  package private(set) var hasTimeoutOfOption = false
  /// The run's own hooks and the pipeline's shell, environment and directory for them.
  package let settings: StepSettings
  /// The part of `settings` that is known only when the run begins.
  package let late: LateStep?
  /// The secrets, which are read before anything runs and masked from then on.
  package let secrets: [SecretSource]
  /// The operations that stand for several: steps with a matrix, or with a nested pipeline.
  package let groups: [OperationID: GroupPlan]
  /// The remarks of the file about operations, beyond what the run needs.
  package let remarks: [OperationID: StepRemark]
  /// The steps of the file itself that do not run because no step was named.
  package let leftOut: [String]
  /// The pipeline's parameters, in file order.
  package let parameters: [ParameterDescription]
  /// The steps that were named for the run; empty if all steps run.
  package let named: Set<OperationID>
  /// True if runs of the pipeline wait for each other.
  package let isExclusive: Bool
  /// The shared cache that the file names.
  package private(set) var sharedCache = SharedCacheAddress()
  /// The outputs of the pipeline itself; nil if it has none, or if not all of its steps run.
  package let outputs: LateStep?
  /// The settings for Slurm; nil if no step is a job.
  package internal(set) var slurm: SlurmPlan?

  /// The plan with another name.
  package func named(_ name: String) -> Plan {
    var plan = self
    plan.name = name
    return plan
  }

  /// The plan with a shared cache.
  package func sharing(_ place: SharedCacheAddress) -> Plan {
    var plan = self
    plan.sharedCache = place
    return plan
  }

  /// The plan with more steps after its own.
  package func adding(_ others: [PlannedStep]) -> Plan {
    var plan = self
    plan.steps += others
    for _ in others { plan.graph.append(OperationSpec()) }
    return plan
  }

  /// The plan, marked with whether its time limit comes from the command line.
  package func havingTimeoutOfOption(_ isOfOption: Bool) -> Plan {
    var plan = self
    plan.hasTimeoutOfOption = isOfOption
    return plan
  }

  /// The services that a resumed run keeps for their own sake, because no step that runs in it
  /// needs them. They go on like services that are named on the command line.
  package var endlessServices: Set<OperationID> = []

  package init(
    name: String, description: String? = nil, sources: SourceMap, steps: [PlannedStep],
    graph: Graph, queues: [QueueSpec],
    pools: [PoolSpec], failurePolicy: FailurePolicy, timeout: Nanoseconds?, settings: StepSettings,
    late: LateStep? = nil, secrets: [SecretSource] = [], groups: [OperationID: GroupPlan] = [:],
    remarks: [OperationID: StepRemark] = [:], leftOut: [String] = [],
    parameters: [ParameterDescription] = [], named: Set<OperationID> = [],
    outputs: LateStep? = nil, isExclusive: Bool = false, slurm: SlurmPlan? = nil
  ) {
    self.slurm = slurm
    self.isExclusive = isExclusive
    self.outputs = outputs
    self.name = name
    self.description = description
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
    self.remarks = remarks
    self.leftOut = leftOut
    self.parameters = parameters
  }
}

/// The remarks of a file about a step, beyond what the step does. Listings show them.
package struct StepRemark: Hashable, Sendable {
  /// True if the step runs only when it is named or needed.
  package var isManual = false
  /// True if `default` names the step.
  package var isDefault = false
  package let description: String?

  package init(description: String? = nil) { self.description = description }
}

/// The place in which to find the value of a secret when a run starts.
package struct SecretSource: Hashable, Sendable {
  package enum Location: Hashable, Sendable {
    /// The variable with the secret's name.
    case environment
    /// A file, with its path relative to where oprun was started.
    case file(String)
  }

  package let name: String
  package let location: Location
  /// True if no run starts without it.
  package let isRequired: Bool

  package init(name: String, location: Location, isRequired: Bool = true) {
    self.name = name
    self.location = location
    self.isRequired = isRequired
  }
}

/// One step of a plan: its work and its settings, which it shares with steps that have the same ones.
package struct PlannedStep: Sendable {
  package let id: String
  /// The step's `id:` value in the file, for messages.
  package let span: Span
  package let work: Work
  package let settings: StepSettings
  /// The late parts; nil if everything about the step is known, as usual.
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
  /// Why the step is a group.
  package enum Kind: Hashable, Sendable {
    /// A known matrix: the members are its instances.
    case matrix
    /// A matrix that is expanded during the run; the string has the axes as they are written.
    case expanding(String)
    /// A nested pipeline: the members are its steps. Its path is a file or `#` and a name; nil for
    /// steps inside of the step.
    case nested(path: String?)
  }

  package let kind: Kind
  /// The members in file order; empty for `expanding`, unless there is a pattern. A step that
  /// stands for others is one member, as a group: groups form a tree.
  package let members: [OperationID]
  /// True if a failure of a member cancels the others.
  package let isFailFast: Bool
  /// The values of each member, if the matrix is known.
  package let combinations: [ValueMap]
  /// The time limit of the whole group, from its first command.
  package let timeout: Nanoseconds?
  /// True if a failure of the group leaves the run green and lets its dependents go on. Inside the group it still
  /// counts as a failure.
  package let allowsFailure: Bool
  /// The policy for its other steps after a failure in it.
  package let failurePolicy: FailurePolicy
  /// The number of members that may be under way at once, if these are groups.
  package let width: Int?
  /// The pattern of its members, if it stands for several steps and its matrix is not known.
  package let pattern: GroupPattern?

  package init(
    kind: Kind, members: [OperationID], isFailFast: Bool = false, combinations: [ValueMap] = [],
    timeout: Nanoseconds? = nil, allowsFailure: Bool = false,
    failurePolicy: FailurePolicy = .continue, width: Int? = nil, pattern: GroupPattern? = nil
  ) {
    self.width = width
    self.failurePolicy = failurePolicy
    self.pattern = pattern
    self.kind = kind
    self.members = members
    self.isFailFast = isFailFast
    self.combinations = combinations
    self.timeout = timeout
    self.allowsFailure = allowsFailure
  }

  /// True if the members are instances of a step.
  package var isOfInstances: Bool {
    switch kind {
    case .matrix, .expanding: true
    case .nested: false
    }
  }

  /// True if the members are made during the run.
  package var isExpanding: Bool { if case .expanding = kind { true } else { false } }
}
