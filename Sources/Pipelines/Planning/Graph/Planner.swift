// Turns models into a plan: steps become operations, names are looked up, expressions are checked
// and folded, steps are selected.

import Diagnostics
import Expressions
import Plans
import Scheduling

/// Makes a plan in stages: expand, connect, check; then select and build.
struct Planner {
  let models: [PipelineModel]
  let text: SourceText
  let options: PlanningOptions
  var pipelines: [PipelineUse] = []
  /// The origin of each operation; empty if operation `i` is step `i` of the only pipeline.
  var addresses: [StepAddress] = []
  var instances: [Instance] = []
  /// The groups by the number of their operation.
  var groups: [Int: GroupDraft] = [:]
  /// The graph of all operations.
  var graph = Graph()
  /// Edges that count only if the dependency is selected: `from << 32 | to`.
  var optionalEdges: Set<UInt64> = []
  var queuesAndPools: QueuesAndPools
  let instanceIndex = InstanceIndex()
  let budget: PlanBudget
  /// The budget of all matrices.
  var matrixBudget = MatrixBudget()
  var log: DiagnosticLog
  /// True if some steps are services.
  let hasServices: Bool
  /// True if some groups have an unknown matrix.
  var hasPatterns = false
  /// The names of the distant steps whose values each step uses.
  var distantSteps: [StepAddress: [String]] = [:]
  /// The names of members of groups and matrices in the hooks and outputs of pipeline uses.
  var namedMembers: [Int: Set<String>] = [:]
  /// The operations that were named for the run.
  var named: [Int] = []
  private var indices: [StepIndex?]
  private var pipelineValues: [KnownValues] = []
  /// Parameters by name, for the models that were queried.
  private var paramTables: [Int: [String: ParamModel]] = [:]

  /// Makes a planner, which continues with `log` and reports all faults to it.
  init(
    _ models: [PipelineModel], _ text: SourceText, _ inputs: PipelineInputs,
    options: PlanningOptions,
    log: DiagnosticLog
  ) {
    self.models = models
    self.text = text
    self.options = options
    budget = inputs.budget
    var log = log
    queuesAndPools = QueuesAndPools(
      models, options: options, KnownValues(inputs: inputs, options, inputs.budget)
    ) { log.report($0.diagnostic(in: text)) }
    self.log = log
    hasServices = models.contains { $0.placements.contains(where: \.isService) }
    indices = Array(repeating: nil, count: models.count)
    checkSecrets()
    addPipeline(
      PipelineUse(
        model: models[0], index: index(ofModel: 0), prefix: "", parent: nil, inputs: inputs,
        Surroundings(root: models[0])))
    if models.contains(where: \.hasGroups) { expand(pipeline: 0) }
    guard isWithinLimits else {
      self.log.report(at: models[0].steps[0].id.span) { PlanningMessage.tooMuch(at: $0) }
      return
    }
    addOperations()
    checkDefaults()
    addEdges()
    checkSequences()
    reportCycles()
    checkServices()
    checkExpressions()
  }

  /// The maximum number of pipeline uses: nested pipelines multiply, each with its own variables
  /// and settings.
  static let maxPipelineCount = 10_000

  var isWithinLimits: Bool {
    // The first pipeline is the file that runs.
    operationCount <= PipelineModel.maxStepCount && pipelines.count - 1 <= Self.maxPipelineCount
  }

  var operationCount: Int { addresses.isEmpty ? models[0].steps.count : addresses.count }

  /// The origin of an operation. Inlined like `group`, because a call copies the planner.
  @inline(__always)
  func address(of operation: Int) -> StepAddress {
    addresses.isEmpty ? StepAddress(pipeline: 0, step: operation) : addresses[operation]
  }

  /// The group of an operation; nil for most operations.
  @inline(__always)
  func group(_ operation: Int) -> GroupDraft? {
    address(of: operation).isGroup ? groups[operation] : nil
  }

  func id(of operation: Int) -> String {
    let address = address(of: operation)
    let pipeline = pipelines[address.pipeline]
    var id = pipeline.id(of: address.step, text)
    if !pipeline.prefix.isEmpty { id = pipeline.prefix + id }
    if let instance = address.instance { id += instances[instance].suffix }
    return id
  }

  @discardableResult
  mutating func addPipeline(_ use: PipelineUse) -> Int {
    use.number = pipelines.count
    pipelines.append(use)
    var values = KnownValues(inputs: use.inputs, options, budget)
    if let parent = use.parent {
      if use.surroundings.isGroup { values = values.inside(self.values(at: parent)) }
      let outer = pipelines[parent.pipeline]
      outer.inner[parent.step] = outer.inner[parent.step] ?? use
    }
    pipelineValues.append(values)
    if !use.model.vars.isEmpty { checkDerivedValues(of: use) }
    return pipelines.count - 1
  }

  mutating func index(ofModel model: Int) -> StepIndex {
    let index = indices[model] ?? StepIndex(models[model], text, log: &log)
    indices[model] = index
    return index
  }

  /// The values that a step's expressions can have now. Inlined, because a call copies the planner.
  @inline(__always)
  func values(at address: StepAddress) -> KnownValues {
    let values = pipelineValues[address.pipeline]
    if instances.isEmpty, !hasPatterns { return values }
    let controlFlow = pipelines[address.pipeline].controlFlow(of: address.step)
    guard let names = controlFlow?.matrix?.writtenNames else { return values }
    guard let instance = address.instance else { return values.withoutMatrix() }
    return values.with(instances[instance].values, writtenNames: names)
  }

  /// The values that the expressions of a step's matrix can have.
  func valuesForMatrix(at address: StepAddress) -> KnownValues { pipelineValues[address.pipeline] }

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
    let edgeCount =
      models.reduce(0) { $0 + $1.dependencies.count }
      + groups.values.reduce(0) { $0 + $1.members.count }
    graph.reserveCapacity(operations: operationCount, edges: edgeCount)
    var specs = SharedSpecs(self)
    for operation in 0..<operationCount { graph.append(specs.spec(of: operation, in: &self)) }
  }
}

/// A group under construction.
struct GroupDraft {
  var kind: GroupPlan.Kind
  var members: [Int] = []
  var isFailFast = false
  /// The pool that limits the number of instances that run at the same time.
  var pool: PoolID?
  /// The number of instances that may be under way at the same time, if they are several steps each.
  var width: Int?
  /// The operations in the instances, if they are known.
  var operations: Range<Int> = 0..<0
  /// The pipeline of a group that is a nested pipeline.
  var pipeline: Int?
  /// The pattern of a nested pipeline whose matrix is not known.
  var pattern: PatternDraft?

  /// The pipeline of its steps, if it has any.
  var steps: Int? { pipeline ?? pattern?.pipeline }
}

/// The steps of a group whose matrix is not known: each instance gets copies.
struct PatternDraft {
  let pipeline: Int
  let kind: GroupPlan.Kind
  /// The operations that are copied.
  let operations: Range<Int>
  /// The pools that are copied.
  let pools: Range<Int>
  /// The pipeline uses that are copied.
  let pipelines: Range<Int>
}

extension PipelineModel {
  /// True if a step stands for several operations.
  fileprivate var hasGroups: Bool {
    controlFlows.contains { $0.matrix != nil }
      || uses.contains { $0.kind.isPipeline }
  }
}
