// The values that expressions can have before anything runs.

import Diagnostics
import Expressions
import Plans
import Scheduling

/// The facts about the host that expressions may use.
package struct HostFacts: Sendable {
  package var name = ""
  package var operatingSystem = "linux"
  package var architecture = ""
  package var processorCount = 1

  package init() {}

  static let memberTypes: [(String, ExpressionType)] = [
    ("name", .string), ("os", .string), ("arch", .string), ("cpus", .number),
  ]

  var value: Value {
    .map(
      ValueMap([
        ("name", .string(name)), ("os", .string(operatingSystem)),
        ("arch", .string(architecture)), ("cpus", .number(Double(processorCount))),
      ]))
  }
}

/// The text that expressions may still produce in one plan, and the variables that its steps may
/// still have; shared ones count once.
final class PlanBudget {
  let values = ValueBudget()
  private var byteCount = 64 << 20
  private var variables = 4_000_000
  /// The number of parameters that nested pipelines may still have, counted for each use.
  private var inputs = 500_000

  /// Counts bytes; returns false once the budget is spent.
  func allows(_ byteCount: Int) -> Bool {
    self.byteCount -= byteCount
    return self.byteCount >= 0
  }

  func allows(variables count: Int) -> Bool {
    variables -= count
    return !hasTooManyVariables
  }

  func allows(inputs count: Int) -> Bool {
    inputs -= count
    return inputs >= 0
  }

  var hasTooManyVariables: Bool { variables < 0 }
}

/// The values for the expressions of one pipeline.
private final class PipelineValues {
  let inputs: PipelineInputs
  let budget: PlanBudget
  let host: Value
  /// The variables that oprun inherited; nil if the plan is not for a run: then they become known later.
  let inherited: InheritedVariables?
  let secretHeld: (@Sendable (String) -> String?)?

  init(inputs: PipelineInputs, _ options: PlanningOptions, _ budget: PlanBudget) {
    self.inputs = inputs
    self.budget = budget
    host = options.host.value
    secretHeld = options.secretHeld
    inherited = options.demandsAllParameters ? options.inherited : nil
  }
}

/// Collects the failures of a step, of which there may be several.
final class FaultCollector {
  private(set) var failures: [EvaluationFailure] = []

  func add(_ failure: EvaluationFailure) {
    if failures.count < DiagnosticLog.limit { failures.append(failure) }
  }

  func take() -> [EvaluationFailure] {
    defer { failures = [] }
    return failures
  }
}

/// The values of one pipeline, and of one instance of a step.
struct KnownValues: ExpressionBindings {
  private let pipeline: PipelineValues
  /// The values of the matrix; nil if there is none, or it is not known.
  let matrix: ValueMap?
  /// The members of the matrix that are written in the file as literals.
  let writtenNames: Set<ExactText>
  /// True for an instance of a step: other instances may have other values.
  private(set) var isOfInstance = false
  /// True in a group with an unknown matrix: names that are not in `matrix` may be in that one.
  private(set) var hasLateMatrix = false
  /// The collector of failures of single strings, so that the following strings are examined, too;
  /// nil if each failure is thrown.
  var faults: FaultCollector?

  init(inputs: PipelineInputs, _ options: PlanningOptions, _ budget: PlanBudget) {
    self.init(PipelineValues(inputs: inputs, options, budget), nil, [])
  }

  private init(_ pipeline: PipelineValues, _ matrix: ValueMap?, _ writtenNames: Set<ExactText>) {
    self.pipeline = pipeline
    self.matrix = matrix
    self.writtenNames = writtenNames
  }

  /// The values for an instance, which hide those of the matrices around it.
  func with(_ matrix: ValueMap, writtenNames: Set<ExactText>) -> KnownValues {
    let isOutermost = self.matrix == nil && !hasLateMatrix
    let names =
      isOutermost
      ? writtenNames : matrix.writtenNames(own: writtenNames, outer: self.writtenNames)
    var values = KnownValues(pipeline, self.matrix?.merging(matrix) ?? matrix, names)
    values.isOfInstance = true
    values.hasLateMatrix = hasLateMatrix
    return values
  }

  /// The values for a step whose own matrix is not known. Then it is not known either which names
  /// of the matrices around it are hidden.
  func withoutMatrix() -> KnownValues {
    var values = KnownValues(pipeline, nil, [])
    values.hasLateMatrix = true
    return values
  }

  /// The values for the steps of a group.
  func inside(_ group: KnownValues) -> KnownValues {
    var values = KnownValues(pipeline, group.matrix, group.writtenNames)
    values.hasLateMatrix = group.hasLateMatrix
    return values
  }

  var budget: PlanBudget { pipeline.budget }

  var valueBudget: ValueBudget? { pipeline.budget.values }

  func member(_ name: String, of root: ContextRoot) -> Resolution {
    switch root {
    case .params:
      if let value = pipeline.inputs.params[name] { return .known(value) }
      return pipeline.inputs.paramTypes[name] == nil ? .missing : .later
    case .env: return variable(name)
    case .matrix:
      if let value = matrix?[name] { return .known(value) }
      return matrix == nil || hasLateMatrix ? .later : .known(.null)
    case .host: return member(name, of: pipeline.host)
    case .vars: return pipeline.inputs.derived?.member(name) ?? .missing
    case .steps, .run, .secrets: return .later
    }
  }

  func isAuthors(_ name: String, of root: ContextRoot) -> Bool {
    root == .vars
      ? pipeline.inputs.derived?.isWritten(name) == true
      : root == .matrix && writtenNames.holds(name)
  }

  func areArguments(_ param: String) -> Bool { pipeline.inputs.restParam == param }

  func value(of root: ContextRoot) -> Resolution {
    switch root {
    case .params:
      let values = pipeline.inputs.paramTypes.names.map { ($0, pipeline.inputs.params[$0]) }
      guard values.allSatisfy({ $0.1 != nil }) else { return .later }
      return .known(.map(ValueMap(values.compactMap { name, value in value.map { (name, $0) } })))
    case .matrix: return hasLateMatrix ? .later : matrix.map { .known(.map($0)) } ?? .later
    case .host: return .known(pipeline.host)
    case .env, .steps, .run, .secrets, .vars: return .later
    }
  }

  func secret(heldBy text: String) -> String? { pipeline.secretHeld?(text) }

  func variable(closestTo name: String) -> String? {
    let inherited = pipeline.inherited?.names().sorted() ?? []
    return suggestion(for: name, among: pipeline.inputs.environment.map(\.name) + inherited)
  }

  private func member(_ name: String, of value: Value) -> Resolution {
    guard case .map(let map) = value, let member = map[name] else { return .missing }
    return .known(member)
  }

  private func variable(_ name: String) -> Resolution {
    switch pipeline.inputs.variable(name)?.value {
    case .plain(let text): return .known(.string(text))
    case .template: return .later
    case nil: break
    }
    if pipeline.inputs.secretVariables[name] != nil { return .later }
    guard let inherited = pipeline.inherited else { return .later }
    return .known(inherited.text(name).map { .string($0) } ?? .null)
  }
}
