// The current operations of a run: those of the plan, then the instances that steps were expanded
// to. Only this file knows their names, where their logs are, which of them are groups, and what
// they waited for.

import Masking
import Plans
import RunFiles
import Scheduling

/// One command's output: an attempt of a step, or one of its hooks.
struct Stream: Hashable {
  let operation: OperationID
  let role: CommandRole
}

final class RunOperations {
  private struct Instance {
    let id: String
    let group: OperationID
  }

  /// The plan as it was when the run started.
  let plan: Plan
  private let directory: RunDirectory
  private let masker: Masker?
  /// The instances; their numbers follow those of the plan's steps.
  private var instances: [Instance] = []
  private var instancesOfGroup: [OperationID: [OperationID]] = [:]

  init(plan: Plan, directory: RunDirectory, masker: Masker?) {
    self.plan = plan
    self.directory = directory
    self.masker = masker
  }

  var count: Int { plan.steps.count + instances.count }

  func append(_ operation: OperationID, id: String, to group: OperationID) {
    precondition(operation.index == count, "numbers of new operations follow those of all others")
    instances.append(Instance(id: id, group: group))
    instancesOfGroup[group, default: []].append(operation)
  }

  /// The step that was expanded, if this is an instance of one.
  func expandedGroup(of operation: OperationID) -> OperationID? {
    let number = operation.index - plan.steps.count
    return instances.indices.contains(number) ? instances[number].group : nil
  }

  /// It goes on beside the steps that need it.
  func isService(_ operation: OperationID) -> Bool {
    guard plan.graph.hasServices, operation.rawValue >= 0 else { return false }
    let planned = expandedGroup(of: operation) ?? operation
    return !plan.graph.takesSlot(planned)
  }

  /// The services that it depends on.
  func services(of operation: OperationID) -> [OperationID] {
    guard plan.graph.hasServices else { return [] }
    var found: [OperationID] = []
    forEachDependency(of: operation) { dependency in
      let members = instancesOfGroup[dependency] ?? plan.groups[dependency]?.members ?? [dependency]
      found += members.filter { isService($0) }
    }
    return found
  }

  /// Whether people do not count the operation, because others take its place.
  func standsForOthers(_ operation: OperationID) -> Bool {
    plan.standsForOthers(operation) || instancesOfGroup[operation] != nil
  }
}

// Properties of an operation.
extension RunOperations {
  /// The step of an operation; an instance is its group's step with another id. It must not be
  /// called for the run's own hooks.
  func step(_ operation: OperationID) -> PlannedStep {
    guard let group = expandedGroup(of: operation) else { return plan.steps[operation.index] }
    let step = step(group)
    return PlannedStep(
      id: instances[operation.index - plan.steps.count].id, span: step.span, work: step.work,
      settings: step.settings, late: step.late)
  }

  func name(_ operation: OperationID) -> String { id(operation) ?? "the run" }

  /// The path of the log, for people.
  func logPath(of stream: Stream) -> String { directory.path(of: logName(of: stream)) }

  /// The log of a command that is running, or whose end is being reported; nil if it has none.
  func log(of stream: Stream) -> LogFile? { directory.logs.log(of: stream.operation, stream.role) }

  /// The log of a command whose end has been reported.
  func log(
    of stream: Stream, writtenTo identity: FileIdentity?
  ) throws(LogReadFailure) -> LogFile {
    guard let identity else { throw .neverWritten }
    return try directory.log(logName(of: stream), writtenTo: identity)
  }

  private func logName(of stream: Stream) -> String {
    let id = id(stream.operation) ?? RunDirectory.runHookName
    let name = masker?.name(id, number: stream.operation.index) ?? id
    return RunDirectory.logName(of: name, stream.role)
  }

  /// The title: `unit`, `unit (attempt 2)`, `unit (on_failure)`.
  func title(of stream: Stream) -> String {
    switch stream.role {
    case .attempt(1): name(stream.operation)
    case .attempt(let number): "\(name(stream.operation)) (attempt \(number))"
    case .hook(let kind, _): "\(name(stream.operation)) (\(kind.key))"
    case .probe: "\(name(stream.operation)) (wait_for)"
    }
  }

  private func id(_ operation: OperationID) -> String? {
    if plan.steps.indices.contains(operation.index) { return plan.steps[operation.index].id }
    let number = operation.index - plan.steps.count
    return instances.indices.contains(number) ? instances[number].id : nil
  }
}

// The dependencies of an operation.
extension RunOperations {
  /// Calls `body` for each dependency. An instance waited for what its step waited for; a step that
  /// was expanded also for its instances.
  func forEachDependency(of operation: OperationID, _ body: (OperationID) -> Void) {
    var step = operation
    while let group = expandedGroup(of: step) { step = group }
    plan.graph.forEachDependency(of: step) { body($0.from) }
    if !instancesOfGroup.isEmpty { instancesOfGroup[operation]?.forEach(body) }
  }
}
