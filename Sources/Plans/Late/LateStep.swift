// The parts of a step that are decided only after its dependencies have ended: whether it runs,
// with which values, as how many instances. It is pure: facts of the run come from outside.
// docs/design-planning.md, “Late steps”.

package import Expressions
package import Scheduling

/// The late parts of a `PlannedStep` that has expressions left after planning, or a condition.
package final class LateStep: Sendable {
  /// The texts for display; nil if there is no condition and nothing is waited for, as for most
  /// steps, to save memory.
  private let shown: Shown?
  package let parts: LateParts
  package let scope: LateScope

  package init(_ parts: LateParts, in scope: LateScope) {
    shown = parts.isUnconditional ? nil : Shown(parts)
    self.scope = scope
    // The parts are moved here: copying all of them would take long.
    self.parts = parts
  }

  /// The `if` of the step as it is written, for display; nil if there is none or it is known to be true.
  package var condition: String? { shown?.condition }
  /// Why the step will not run, if that is already known: `if: params.branch == 'main' is false`.
  package var skipReason: String? { shown?.skipReason }
  /// The conditions of `wait_for`: `tcp localhost:5432`.
  package var probes: [String] { shown?.probes ?? [] }
  /// The conditions that make a service ready: `tcp localhost:5432`.
  package var readiness: [String] { shown?.readiness ?? [] }

  /// The variables whose values are not known, as they are written.
  package var variables: [EnvironmentVariable] {
    settings?.environment.map { EnvironmentVariable(name: $0.name, value: $0.value.shown) } ?? []
  }

  /// The expression that decides whether the step may fail, as it is written; nil if that is known.
  package var allowance: String? { settings?.allowFailure?.description }

  private var settings: LateSettings? { (parts.expansion?.parts ?? parts).settings }

  /// Makes a late step for tests and samples of other modules.
  package init(condition: String? = nil, skipReason: String? = nil, probes: [String] = []) {
    shown = Shown(condition: condition, skipReason: skipReason, probes: probes)
    parts = LateParts()
    scope = LateScope()
  }
}

/// The texts of conditions and waits, for display.
private final class Shown: Sendable {
  let condition: String?
  let skipReason: String?
  let probes: [String]
  let readiness: [String]

  init(_ parts: LateParts) {
    skipReason =
      parts.conditions.lazy.compactMap { condition in
        condition.expression.constant == .bool(false) ? condition.reason : nil
      }.first
    // If the matrix is not known, the texts are those of its instances.
    (condition, probes, readiness) = (parts.expansion?.parts ?? parts).shown
  }

  init(condition: String?, skipReason: String?, probes: [String]) {
    self.condition = condition
    self.skipReason = skipReason
    self.probes = probes
    readiness = []
  }
}

/// The parts that are left to evaluate.
package struct LateParts: Sendable {
  /// The step's own conditions and those of the enclosing steps, the outermost first.
  package var conditions: [LateCondition] = []
  /// The command, if it is not known yet.
  package var command: CommandModel?
  package var shell: [String] = []
  private var rareParts: RareParts?

  package init() {}

  package var isEmpty: Bool {
    conditions.isEmpty && command == nil && rareParts?.parts.isWithoutEffect != false
  }

  /// The parts that only few steps have: the others take a quarter of the memory without them.
  package struct Rare: Sendable {
    package var settings: LateSettings?
    /// The scopes of the pipeline uses that gave settings, by their numbers.
    package var givers: [Int32: LateScope] = [:]
    /// The standard input, if it may be code and not all of it is known.
    package var input: Template?
    /// The matrix, if it is not known.
    package var expansion: LateExpansion?
    /// The outputs of a nested pipeline, in the scope of its own steps.
    package var outputs: [MemberModel] = []
    package var outputScope: LateScope?
    /// The late hooks of a nested pipeline, in the scope of its own steps.
    package var hooks: LateStep?
    package var probes: [LateProbe] = []
    /// The name of the step in expressions of its hooks; nil if no hook is left to evaluate.
    package var stepName: String?
    /// The conditions that make a service ready.
    package var readiness: [LateProbe] = []
    /// True if the step is in a pipeline with an input that is not known yet.
    package var hasLateInputs = false

    package init() {}

    fileprivate var isWithoutEffect: Bool {
      settings == nil && expansion == nil && outputs.isEmpty && hooks == nil && probes.isEmpty
        && readiness.isEmpty && !hasLateInputs && input == nil
    }

    fileprivate var isEmpty: Bool {
      isWithoutEffect && givers.isEmpty && outputScope == nil && stepName == nil
    }
  }

  private final class RareParts: Sendable {
    let parts: Rare

    init(_ parts: Rare) { self.parts = parts }
  }

  package var rare: Rare {
    get { rareParts?.parts ?? Rare() }
    set { rareParts = newValue.isEmpty ? nil : RareParts(newValue) }
  }

  package var settings: LateSettings? { rareParts?.parts.settings }
  package var givers: [Int32: LateScope] { rareParts?.parts.givers ?? [:] }
  package var input: Template? { rareParts?.parts.input }
  package var expansion: LateExpansion? { rareParts?.parts.expansion }
  package var outputs: [MemberModel] { rareParts?.parts.outputs ?? [] }
  package var outputScope: LateScope? { rareParts?.parts.outputScope }
  package var hooks: LateStep? { rareParts?.parts.hooks }
  package var probes: [LateProbe] { rareParts?.parts.probes ?? [] }
  package var stepName: String? { rareParts?.parts.stepName }
  package var readiness: [LateProbe] { rareParts?.parts.readiness ?? [] }

  /// True if the step has no condition, and waits for nothing.
  fileprivate var isUnconditional: Bool {
    guard conditions.isEmpty else { return false }
    guard let rare = rareParts?.parts else { return true }
    return rare.expansion == nil && rare.probes.isEmpty && rare.readiness.isEmpty
  }

  /// The texts of conditions and waits, for display.
  fileprivate var shown: (condition: String?, probes: [String], readiness: [String]) {
    let open = conditions.filter { $0.expression.constant == nil }.map(\.written)
    return (
      open.isEmpty ? nil : open.joined(separator: ", "), probes.map(\.shown), readiness.map(\.shown)
    )
  }
}

extension LateStep {
  /// True for a group that publishes outputs of its own.
  package var givesOutputs: Bool { !parts.outputs.isEmpty }
}

package struct LateCondition: Sendable {
  package let expression: Expression
  /// The condition as it is written: `params.branch == 'main'`.
  package let written: String
  package let scope: LateScope
  /// The step that the condition belongs to, if that stands for others: none of them runs if it is false.
  package let group: OperationID?

  package init(expression: Expression, written: String, scope: LateScope, group: OperationID?) {
    self.expression = expression
    self.written = written
    self.scope = scope
    self.group = group
  }

  package var reason: String { "if: \(written) is false" }
}

/// A matrix that becomes known when the step's dependencies have ended, and a description of its
/// instances.
package final class LateExpansion: Sendable {
  package let axes: [AxisModel]
  package let included: ValueModel?
  package let excluded: ValueModel?
  /// The names of members that are written in the file as literals, wherever they are set.
  package let writtenNames: Set<ExactText>
  /// The demands and the rank of each instance.
  package let spec: OperationSpec
  /// The work of each instance.
  package let work: Work
  /// The late parts of each instance, except for the matrix.
  package let parts: LateParts
  /// The expression that decides whether an instance that is a group may fail; nil if that is known.
  package let allowance: Expression?

  package init(
    axes: [AxisModel], included: ValueModel?, excluded: ValueModel?, writtenNames: Set<ExactText>,
    spec: OperationSpec, work: Work, parts: LateParts, allowance: Expression? = nil
  ) {
    self.allowance = allowance
    self.axes = axes
    self.included = included
    self.excluded = excluded
    self.writtenNames = writtenNames
    self.spec = spec
    self.work = work
    self.parts = parts
  }
}

/// One condition of `wait_for`.
package struct LateProbe: Sendable {
  package let model: ProbeModel

  package init(model: ProbeModel) {
    self.model = model
  }

  package var shown: String { model.kind.words(model.target.asAction) }
}

/// The inputs of a nested pipeline that are not known yet, in the scope of the step that uses it.
package final class LateInputs: Sendable {
  /// The late inputs; empty if only an enclosing pipeline has late inputs.
  package let params: [LateInput]
  package let outer: LateScope
  /// The inputs of the enclosing pipeline in the same file.
  package let enclosing: LateInputs?
  /// The names of all parameters in its expressions, in file order.
  package let names: [String]
  /// The values of the known parameters.
  package let known: [String: Value]
  private let places: [String: Int]

  package init(
    _ params: [LateInput], from outer: LateScope, in enclosing: LateInputs? = nil,
    beside all: (names: [String], known: [String: Value])
  ) {
    self.params = params
    self.outer = outer
    self.enclosing = enclosing
    (names, known) = all
    places = Dictionary(
      zip(params.map(\.param.name), params.indices), uniquingKeysWith: { first, _ in first })
  }

  /// The parameter, with the inputs that it belongs to, in whose scope its value is.
  package func param(named name: String) -> (input: LateInput, owner: LateInputs)? {
    guard let place = places[name] else { return enclosing?.param(named: name) }
    return (params[place], self)
  }
}

/// The members of `run`.
package let runMemberNames = ["id", "pipeline", "workspace"]

package struct LateInput: Sendable {
  package let param: ParamModel
  package let value: ValueModel

  package init(param: ParamModel, value: ValueModel) {
    self.param = param
    self.value = value
  }
}

/// The facts that a run knows so far.
package protocol RunFacts {
  func ending(of operation: OperationID) -> Ending?
  /// The outputs of the operation; empty if it has none.
  func outputs(of operation: OperationID) -> ValueMap
  /// The members of a group of instances, in order, with their values of the matrix; nil if the
  /// operation is not such a group.
  func instances(of operation: OperationID) -> [(OperationID, ValueMap)]?
  /// The copies of a step in the instances of a group, in order, with the values of the matrix; nil
  /// if the operation is not copied.
  func copies(of operation: OperationID) -> [(OperationID, ValueMap)]?
  /// The outputs of a group's instances as one value, if that was made before: many steps may need it.
  func keptList(of group: OperationID) -> Value?
  /// Keeps the list, if the group has ended and it will not change.
  func keep(_ list: Value, of group: OperationID)
  /// True if the condition of the group was found to hold before: it is decided once for all of its steps.
  func knowsToHold(conditionOf group: OperationID) -> Bool
  func noteHolding(conditionOf group: OperationID)
  /// The value of one of `vars`, if it was computed before.
  func keptVar(_ number: LateVarNumber) -> Value?
  func keepVar(_ value: Value, _ number: LateVarNumber)
  /// A member of `run`: `id`, `pipeline`, `workspace`.
  func runMember(_ name: String) -> String?
  /// The budget for the current decision.
  var valueBudget: ValueBudget? { get }
  /// The value of a secret; nil if there is no such secret.
  func secret(_ name: String) -> String?
  /// The name of a secret that the text contains.
  func secret(heldBy text: String) -> String?
  func hashFiles(_ patterns: [String]) throws(UnlocatedFailure) -> String
  func exists(_ path: String) throws(UnlocatedFailure) -> Bool
}
