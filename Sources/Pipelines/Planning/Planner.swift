// From models to plan: steps become operations, names are looked up, expressions are checked and
// folded, steps are selected.

import Diagnostics
import Expressions
import Plans
import Scheduling

/// Makes a plan, in turns: expand, connect, check; then select and build.
struct Planner {
  let models: [PipelineModel]
  let text: SourceText
  let options: PlanningOptions
  var units: [Unit] = []
  /// Where each operation comes from; empty: operation `i` is step `i` of the only unit.
  var places: [Place] = []
  var instances: [Instance] = []
  /// By the number of the group's operation.
  var groups: [Int: GroupDraft] = [:]
  /// Of all operations.
  var graph = Graph()
  /// Edges that count only if the dependency is selected: `from << 32 | to`.
  var optionalEdges: Set<UInt64> = []
  var lanes: Lanes
  let instanceIndex = InstanceIndex()
  let budget: PlanBudget
  /// Of all matrices.
  var matrixBudget = MatrixBudget()
  var log: DiagnosticLog
  private var indices: [StepIndex?]
  private var unitValues: [KnownValues] = []
  /// Parameters by name, of the models that were asked for.
  private var paramTables: [Int: [String: ParamModel]] = [:]

  /// Reports everything that is wrong to `log`, which it goes on with.
  init(
    _ models: [PipelineModel], _ text: SourceText, _ inputs: UnitInputs, options: PlanningOptions,
    log: DiagnosticLog
  ) {
    self.models = models
    self.text = text
    self.options = options
    budget = inputs.budget
    self.log = log
    lanes = Lanes(models, options: options)
    indices = Array(repeating: nil, count: models.count)
    checkSecrets()
    addUnit(model: 0, prefix: "", parent: nil, inputs)
    if models.contains(where: \.hasGroups) { expand(unit: 0, depth: 0) }
    guard isWithinLimits else {
      self.log.report(at: models[0].steps[0].id.span) { PlanningMessage.tooMuch(at: $0) }
      return
    }
    addOperations()
    addEdges()
    if let cycle = graph.shortestCycle() { self.log.report(cycleMessage(cycle.map(\.index))) }
    checkExpressions()
  }

  /// Nested pipelines multiply, each with variables and settings of its own.
  static let maxUnitCount = 10_000

  var isWithinLimits: Bool {
    // The first unit is the file that is run.
    operationCount <= PipelineModel.maxStepCount && units.count - 1 <= Self.maxUnitCount
  }

  var operationCount: Int { places.isEmpty ? models[0].steps.count : places.count }

  func place(of operation: Int) -> Place {
    places.isEmpty ? Place(unit: 0, step: operation) : places[operation]
  }

  /// Most operations are none.
  func group(_ operation: Int) -> GroupDraft? {
    place(of: operation).isGroup ? groups[operation] : nil
  }

  func id(of operation: Int) -> String {
    let place = place(of: operation)
    let unit = units[place.unit]
    var id = unit.id(of: place.step, text)
    if !unit.prefix.isEmpty { id = unit.prefix + id }
    if let instance = place.instance { id += instances[instance].suffix }
    return id
  }

  @discardableResult
  mutating func addUnit(
    model: Int, prefix: String, parent: Place?, _ inputs: UnitInputs
  ) -> Int {
    let index = indices[model] ?? StepIndex(models[model], text, log: &log)
    indices[model] = index
    units.append(
      Unit(model: models[model], index: index, prefix: prefix, parent: parent, inputs: inputs))
    unitValues.append(KnownValues(inputs: inputs, options, budget))
    return units.count - 1
  }

  /// What a step's expressions can be given now.
  func values(at place: Place) -> KnownValues {
    let values = unitValues[place.unit]
    guard let instance = place.instance else { return values }
    let matrix = units[place.unit].extra(of: place.step)?.matrix
    return values.with(instances[instance].values, writtenNames: matrix?.writtenNames ?? [])
  }

  mutating func params(ofModel model: Int) -> [String: ParamModel] {
    if let known = paramTables[model] { return known }
    let table = models[model].paramsByName
    paramTables[model] = table
    return table
  }

  /// Reports why an expression has no value.
  mutating func report(_ failure: EvaluationFailure) {
    log.report(failure.diagnostic(in: text))
  }

  private mutating func addOperations() {
    let edgeCount = models.reduce(0) { $0 + $1.dependencies.count }
    graph.reserveCapacity(operations: operationCount, edges: edgeCount)
    var specs = SpecPool(self)
    for operation in 0..<operationCount { graph.append(specs.spec(of: operation, in: &self)) }
  }
}

/// A group in the making.
struct GroupDraft {
  var kind: GroupPlan.Kind
  var members: [Int] = []
  var isFailFast = false
  /// How many instances may run at once, as a pool.
  var pool: PoolID?
  /// Of a nested pipeline: its unit.
  var unit: Int?
}

extension PipelineModel {
  /// Whether a step stands for several operations.
  fileprivate var hasGroups: Bool {
    extras.contains { $0.matrix != nil }
      || uses.contains { if case .file = $0.kind { true } else { false } }
  }
}
