// What of a step is decided only after its dependencies have ended: whether it runs, with which
// values, as how many instances. Pure: facts of the run come from outside.
// docs/design-planning.md, “Late steps”.

package import Expressions
package import Scheduling

/// Beside a `PlannedStep`, where expressions are left after planning, or a condition decides.
package final class LateStep: Sendable {
  /// Its `if` as people wrote it, for showing; nil if it has none or it is known to be true.
  package let condition: String?
  /// It is known already that it will not run, and why: `if: params.branch == 'main' is false`.
  package let skipReason: String?
  /// What it waits for besides its dependencies: `tcp localhost:5432`.
  package let probes: [String]
  /// When it is ready, if it is a service: `tcp localhost:5432`.
  package let readiness: [String]
  package let parts: LateParts
  package let scope: LateScope

  package init(_ parts: LateParts, in scope: LateScope) {
    self.parts = parts
    self.scope = scope
    skipReason =
      parts.conditions.lazy.compactMap { condition in
        condition.expression.constant == .bool(false) ? condition.reason : nil
      }.first
    // Of a matrix that is not known, those of its instances too.
    let all = parts.expansion?.parts ?? parts
    let open = all.conditions.filter { $0.expression.constant == nil }.map(\.written)
    condition = open.isEmpty ? nil : open.joined(separator: ", ")
    probes = all.probes.map(\.shown)
    readiness = all.readiness.map(\.shown)
  }

  /// Variables whose values are not known, as they are written.
  package var variables: [EnvironmentVariable] {
    settings?.environment.map { EnvironmentVariable(name: $0.name, value: $0.value.shown) } ?? []
  }

  /// When it may fail, if that is not known, as it is written.
  package var allowance: String? { settings?.allowFailure?.description }

  private var settings: LateSettings? { (parts.expansion?.parts ?? parts).settings }

  /// For tests and samples of other modules.
  package init(condition: String? = nil, skipReason: String? = nil, probes: [String] = []) {
    self.condition = condition
    self.skipReason = skipReason
    self.probes = probes
    readiness = []
    parts = LateParts()
    scope = LateScope()
  }
}

/// What is left to evaluate.
package struct LateParts: Sendable {
  /// Its own and those of the steps it is in, the outermost first.
  package var conditions: [LateCondition] = []
  /// What it runs, if that is not known.
  package var command: CommandModel?
  package var shell: [String] = []
  package var settings: LateSettings?
  /// What it reads from its input, if that may be code and not all of it is known.
  package var input: Template?
  /// Its matrix, if that is not known.
  package var expansion: LateExpansion?
  /// Of a nested pipeline: what it gives back, in the scope of its own steps.
  package var outputs: [MemberModel] = []
  package var outputScope: LateScope?
  package var probes: [LateProbe] = []
  /// Of a service.
  package var readiness: [LateProbe] = []
  /// It is in a pipeline that is given something that is not known yet.
  package var hasLateInputs = false

  package init() {}

  package var isEmpty: Bool {
    conditions.isEmpty && command == nil && settings == nil && expansion == nil && outputs.isEmpty
      && probes.isEmpty && readiness.isEmpty && !hasLateInputs && input == nil
  }
}

package struct LateCondition: Sendable {
  package let expression: Expression
  /// As people wrote it: `params.branch == 'main'`.
  package let written: String
  package let scope: LateScope
  /// The step it is the condition of, if that stands for others: none of them runs then.
  package let group: OperationID?

  package init(expression: Expression, written: String, scope: LateScope, group: OperationID?) {
    self.expression = expression
    self.written = written
    self.scope = scope
    self.group = group
  }

  package var reason: String { "if: \(written) is false" }
}

/// A matrix that is known when the step's dependencies have ended, and what its instances are.
package final class LateExpansion: Sendable {
  package let axes: [AxisModel]
  package let included: ValueModel?
  package let excluded: ValueModel?
  /// Of each instance.
  package let spec: OperationSpec
  /// Of each instance.
  package let work: Work
  /// Of each instance, but for the matrix.
  package let parts: LateParts

  package init(
    axes: [AxisModel], included: ValueModel?, excluded: ValueModel?, spec: OperationSpec,
    work: Work, parts: LateParts
  ) {
    self.axes = axes
    self.included = included
    self.excluded = excluded
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

/// What the names in late expressions stand for.
package final class LateScope: Sendable {
  /// By the names in `depends_on`.
  package let steps: OrderedMap<OperationID>
  /// The same, where `match: matrix` stands for any number of instances.
  package let matches: [String: [MatchedInstance]]
  /// For status functions.
  package let dependencies: [OperationID]
  package let matrix: ValueMap?
  /// Members of the matrix that stand in the file as literals.
  package let writtenNames: Set<String>
  package let inputs: LateInputs?

  package init(
    _ dependencies: LateDependencies = LateDependencies(), matrix: ValueMap? = nil,
    writtenNames: Set<String> = [], inputs: LateInputs? = nil
  ) {
    steps = dependencies.steps
    matches = dependencies.matches
    self.dependencies = dependencies.all
    self.matrix = matrix
    self.writtenNames = writtenNames
    self.inputs = inputs
  }

  private init(_ scope: LateScope, _ matrix: ValueMap) {
    steps = scope.steps
    matches = scope.matches
    dependencies = scope.dependencies
    self.matrix = matrix
    writtenNames = scope.writtenNames
    inputs = scope.inputs
  }

  package func with(_ matrix: ValueMap) -> LateScope { LateScope(self, matrix) }
}

/// What a step waits for, by name and all together.
package struct LateDependencies {
  package var steps = OrderedMap<OperationID>()
  package var matches: [String: [MatchedInstance]] = [:]
  package var all: [OperationID] = []

  /// Of about so many.
  package init(count: Int = 0) {
    steps.reserveCapacity(count)
    all.reserveCapacity(count)
  }
}

package struct MatchedInstance: Sendable {
  package let operation: OperationID
  package let values: ValueMap

  package init(operation: OperationID, values: ValueMap) {
    self.operation = operation
    self.values = values
  }
}

/// What a nested pipeline is given and is not known yet, in the scope of the step that uses it.
package final class LateInputs: Sendable {
  /// None where only what is around it is given something late.
  package let params: [LateInput]
  package let outer: LateScope
  private let places: [String: Int]

  package init(_ params: [LateInput], from outer: LateScope) {
    self.params = params
    self.outer = outer
    places = Dictionary(
      zip(params.map(\.param.name), params.indices), uniquingKeysWith: { first, _ in first })
  }

  package func param(named name: String) -> LateInput? { places[name].map { params[$0] } }
}

package struct LateInput: Sendable {
  package let param: ParamModel
  package let value: ValueModel

  package init(param: ParamModel, value: ValueModel) {
    self.param = param
    self.value = value
  }
}

/// What a run knows so far.
package protocol RunFacts {
  func ending(of operation: OperationID) -> Ending?
  /// What the operation gave; empty if it gave nothing.
  func outputs(of operation: OperationID) -> ValueMap
  /// The members of a group of instances, in order, with their values of the matrix; nil if the
  /// operation is none.
  func instances(of operation: OperationID) -> [(OperationID, ValueMap)]?
  /// The outputs of a group's instances as one value, if they were made before: many steps may ask.
  func keptList(of group: OperationID) -> Value?
  /// Kept if the group has ended, and they will not change.
  func keep(_ list: Value, of group: OperationID)
  /// Of `run`: `id`, `pipeline`, `workspace`.
  func runMember(_ name: String) -> String?
  /// For what is decided now.
  var valueBudget: ValueBudget? { get }
  /// Nil if there is no such secret.
  func secret(_ name: String) -> String?
  /// The name of a secret that the text holds.
  func secret(heldBy text: String) -> String?
  func hashFiles(_ patterns: [String]) throws(UnlocatedFailure) -> String
  func exists(_ path: String) throws(UnlocatedFailure) -> Bool
}
