// The pipeline uses of a plan: the root pipeline, and each use of a nested one.
// docs/design-planning.md, “Pipeline uses”.

import Diagnostics
import Expressions
import Plans
import Scheduling

/// One pipeline with its own steps, parameters and variables. It is a class, so that reading a step
/// copies nothing.
final class PipelineUse {
  let model: PipelineModel
  let index: StepIndex
  /// The prefix of the ids of its steps, such as `deploy/`; empty for the root pipeline.
  let prefix: String
  /// The operation of another pipeline that this use stands for; nil for the root pipeline.
  let parent: StepAddress?
  let inputs: PipelineInputs
  let surroundings: Surroundings
  /// Its index among the pipeline uses of the plan.
  var number = 0
  /// True if some of its steps run commands of `vars`.
  let hasVarSteps: Bool
  /// True if some `vars` of its file, or its own, are outputs of commands.
  let mayNeedCommands: Bool
  /// The first pipeline use of each of its steps that uses a pipeline.
  var inner: [Int: PipelineUse] = [:]
  /// The operation that stands for each step when others wait for it; empty if that is the step's own number.
  var operations: [Int32] = []
  /// The own step that each dependency names; −1 if it is none. Known before the edges are made.
  var dependencySteps: [Int32] = []
  /// The operation that stands for the whole pipeline; −1 for the root pipeline.
  var group = -1
  /// The types of declared outputs, for steps that were queried.
  var outputTypes: [Int: ExpressionType] = [:]
  private(set) lazy var secretTypes: [String: ExpressionType] =
    enclosing?.secretTypes
    ?? Dictionary(
      model.secrets.map { ($0.name, $0.source.isRequired ? .string : .string.optional) },
      uniquingKeysWith: { first, _ in first })
  /// The types of outputs and outcomes of its steps, by the number of their settings.
  var stepTypes: [Int32: ExpressionType] = [:]
  /// The last expression that passed its check and names nothing that belongs to a step: it is
  /// valid in all steps.
  var checked: (kind: ScopeKind, expression: Expression)?
  /// The last path to an output in a text that passed its check.
  var checkedPath: CheckedPath?
  /// The steps that were asked whether their matrix is open.
  var openMatrices: [Int: Bool] = [:]
  /// The members of the matrices around a group, once they were asked for.
  var outerMatrix: ExpressionType.Members??
  /// The late `vars` that are named in settings for every step.
  private(set) lazy var sharedLateVars = lateVars(in: sharedExpressions)
  /// Finds steps that others depend on through others; nil before there are edges.
  var distant: DistantSteps?
  /// The names of the variables of the step that was queried last.
  private var ownVariables: (step: Int, names: Set<String>) = (-1, [])
  /// The defaults that may be valid in one step and not in another, once the others have been checked.
  var defaultsOfSteps: [Setting]?
  /// The variables `OPRUN_PARAM_<NAME>` for its commands, as far as values are known.
  private(set) lazy var inputVariables = knownInputs()
  /// The dependencies by name of the step that was queried last, if it has many.
  var dependencies: (step: Int, numbers: [String: Int]) = (-1, [:])

  init(
    model: PipelineModel, index: StepIndex, prefix: String, parent: StepAddress?,
    inputs: PipelineInputs, _ surroundings: Surroundings
  ) {
    self.model = model
    self.index = index
    self.prefix = prefix
    self.parent = parent
    self.inputs = inputs
    self.surroundings = surroundings
    hasVarSteps = model.hasVarSteps
    mayNeedCommands = inputs.derived.map { $0.hasCommands && !$0.hasCycle } ?? false
  }

  /// The executor of its steps, as the pipeline, or the file around it, specifies.
  var executor: StepExecutor? { model.executor ?? surroundings.executor }

  /// The request of its steps' jobs to Slurm, unless they specify another one.
  var request: SlurmRequest {
    model.slurm?.applied(to: surroundings.request) ?? surroundings.request
  }

  /// True if the variable is its own, not from the file or the step around it.
  func says(_ variable: VariableModel) -> Bool {
    variable.giver < 0
      && enclosing.map { $0.inputs.variable(variable.name)?.span != variable.span } ?? true
  }

  /// The pipeline use of the file around it; nil if it is a whole file.
  var enclosing: PipelineUse? { surroundings.enclosing }

  /// The step that contains a group, with its pipeline. The steps of the group see everything that
  /// this step sees.
  var around: (use: PipelineUse, step: Int)? {
    guard surroundings.isGroup, let enclosing, let parent else { return nil }
    return (enclosing, parent.step)
  }

  func id(of step: Int, _ text: SourceText) -> String {
    let name = text.string(model.steps[step].id.span)
    return hasVarSteps && model.isVarStep(step) ? "vars." + name : name
  }

  /// The ids of its steps, and of the steps around the group; made one by one, because a suggestion
  /// ends the search early.
  func visibleSteps(_ text: SourceText) -> some Sequence<String> {
    sequence(first: self) { $0.around?.use }.lazy.flatMap { use in
      use.model.steps[use.model.writtenSteps].lazy.map { text.string($0.id.span) }
    }
  }

  /// The names in the step's own `env`, and in that of `defaults`.
  func ownVariables(ofStep step: Int) -> Set<String> {
    if ownVariables.step != step {
      let settings = settings(ofStep: step)
      let own = settings < 0 ? [] : model.settings[Int(settings)]
      ownVariables = (step, [])
      for case .environment(let variables) in own + model.defaultSettings {
        ownVariables.names.formUnion(variables.lazy.map(\.name))
      }
    }
    return ownVariables.names
  }

  private func knownInputs() -> [VariableModel] {
    let own = model.params.compactMap { param in
      inputs.params[param.name].flatMap { param.variable(holding: $0) }.map {
        VariableModel(name: $0.name, span: param.span, value: .plain($0.value))
      }
    }
    guard let enclosing else { return own }
    // All groups share the variables of the pipeline around them.
    if model.params.isEmpty { return enclosing.inputVariables }
    let hidden = Set(model.params.map(\.variable))
    return enclosing.inputVariables.filter { !hidden.contains($0.name) } + own
  }

  /// True if some of its steps do not run when none is named.
  var leavesOut: Bool { model.defaultSteps != nil || model.hasManualSteps }

  /// The steps that run when none is named, without their dependencies.
  var usualSteps: [Int] {
    if let names = model.defaultSteps { return names.compactMap { index.find($0.name) } }
    return model.steps.indices.filter { !isManual($0) }
  }

  func isManual(_ step: Int) -> Bool {
    let attributes = model.steps[step].attributes
    return attributes >= 0 && model.attributes[Int(attributes)].isManual
  }

  func description(of step: Int) -> String? {
    let attributes = model.steps[step].attributes
    guard attributes >= 0 else { return nil }
    let description = model.attributes[Int(attributes)].description
    return description < 0 ? nil : model.descriptions[Int(description)]
  }

  /// The dependencies of a step in a sequence: the manual steps directly before it, if they run,
  /// and the step before those.
  func sequenceBefore(_ step: Int) -> (manual: Range<Int>, required: Int?) {
    let start = model.isVarStep(step) ? step : model.sequenceStart(of: step) ?? step
    var first = step
    while first > start, isManual(first - 1) { first -= 1 }
    return (first..<step, first > start ? first - 1 : nil)
  }

  /// The own step that a dependency names.
  func step(ofDependency number: Int) -> Int? {
    dependencySteps[number] < 0 ? nil : Int(dependencySteps[number])
  }

  func operation(of step: Int) -> Int { operations.isEmpty ? step : Int(operations[step]) }

  /// True if `match: matrix` connects each instance of a step with exactly one of the other step:
  /// every axis of that one is also an axis of this one.
  func pairs(_ dependency: DependencyModel, with step: Int) -> Bool {
    guard let (use, target) = find(dependency.step.span) else { return true }
    let own = axisNames(of: step)
    return use.controlFlow(of: target)?.matrix?.axes.allSatisfy { own.contains($0.name) } ?? true
  }

  private func axisNames(of step: Int) -> Set<String> {
    let outer = around.map { $0.use.axisNames(of: $0.step) } ?? []
    return outer.union(controlFlow(of: step)?.matrix?.axes.map(\.name) ?? [])
  }

  /// The step with the id that is written at a location: an own step, or one around the group.
  func find(_ name: Span) -> (use: PipelineUse, step: Int)? {
    if let step = index.find(name) { return (self, step) }
    return around?.use.find(name)
  }

  func find(_ name: String) -> (use: PipelineUse, step: Int)? {
    if let step = index.find(name) { return (self, step) }
    return around?.use.find(name)
  }

  /// The index into the model's settings; −1 means none.
  func settings(ofStep step: Int) -> Int32 {
    let attributes = model.steps[step].attributes
    return attributes < 0 ? -1 : model.attributes[Int(attributes)].settings
  }

  func controlFlow(of step: Int) -> ControlFlowModel? {
    let attributes = model.steps[step].attributes
    guard attributes >= 0 else { return nil }
    let controlFlow = model.attributes[Int(attributes)].controlFlow
    return controlFlow < 0 ? nil : model.controlFlows[Int(controlFlow)]
  }
}

/// The step, and its pipeline, from which an operation comes.
struct StepAddress: Hashable {
  private let pipelineNumber: Int32
  private let stepNumber: Int32
  /// The number of the instance; −1 means none.
  private var instanceNumber: Int32 = -1
  /// True if the operation stands for several others.
  var isGroup = false

  init(pipeline: Int, step: Int) {
    pipelineNumber = Int32(pipeline)
    stepNumber = Int32(step)
  }

  func isOfSameStep(as other: StepAddress) -> Bool {
    pipelineNumber == other.pipelineNumber && stepNumber == other.stepNumber
  }

  /// True if the step comes first in the plan.
  func isBefore(_ other: StepAddress) -> Bool {
    (pipelineNumber, stepNumber) < (other.pipelineNumber, other.stepNumber)
  }

  var pipeline: Int { Int(pipelineNumber) }
  var step: Int { Int(stepNumber) }

  /// The index into `Planner.instances`; nil unless the step has a known matrix.
  var instance: Int? {
    get { instanceNumber < 0 ? nil : Int(instanceNumber) }
    set { instanceNumber = newValue.map { Int32($0) } ?? -1 }
  }
}

/// The inputs of a pipeline: everything that its expressions may name besides steps.
struct PipelineInputs {
  /// The budget of the whole plan.
  let budget: PlanBudget
  /// The known parameters; others become known later, or do not exist.
  var params: [String: Value] = [:]
  /// Parameters set by the step that uses the pipeline, with expressions that are not known yet.
  var lateParams: [String: ValueModel] = [:]
  /// The parameters that contain secrets; they are treated like secrets.
  var secretParams: Set<String> = []
  /// The variables of oprun's own environment that are secrets; the value says whether one is
  /// required.
  var secretVariables: [String: Bool] = [:]
  /// True if inherited variables are known, and parameters are given.
  var isForRun = true
  /// The types of parameters, in file order.
  var paramTypes = OrderedMap<ExpressionType>()
  /// The parameter that holds arguments for commands; nil if none does.
  var restParam: String?
  /// The variables from `dotenv` files and `env`; later ones override earlier ones.
  var environment: [VariableModel] = []
  /// The `vars`; nil if there are none.
  var derived: DerivedValues?
  /// Indices into `environment` by name.
  var environmentNumbers: [String: Int] = [:]
  /// The variables that are not known now, but that a run knows before its plan.
  private var openVariables: Set<String> = []
  /// The variables that the value of each names, and that were known, or open, where it is written.
  private var earlierNames: [String: Set<String>] = [:]

  /// The inherited variables, if they are known.
  var inherited = InheritedVariables()

  /// True if the reference is to a secret, or to a value that contains one.
  func isSecret(_ reference: Expression.Reference) -> Bool {
    switch reference.root {
    case .secrets: true
    case .params: reference.member.map(secretParams.contains) ?? false
    case .env: reference.member.map { secretVariables[$0] != nil } ?? false
    case .steps, .matrix, .run, .host, .vars: false
    }
  }

  /// Adds a variable; `isOpen` is given for one whose value belongs to another scope.
  mutating func add(_ variable: VariableModel, isOpen: Bool? = nil) {
    let template = variable.value.template
    earlierNames[variable.name] = template.flatMap(earlierNames)
    if let template, isOpen ?? self.isOpen(template) {
      openVariables.insert(variable.name)
    } else {
      openVariables.remove(variable.name)
    }
    if let number = environmentNumbers[variable.name] {
      environment[number] = variable
    } else {
      environmentNumbers[variable.name] = environment.count
      environment.append(variable)
    }
  }

  private func earlierNames(in template: Template) -> Set<String>? {
    let names = template.expressions.flatMap(\.references).compactMap { reference in
      reference.root == .env ? reference.member : nil
    }
    let known = names.filter(isOpenOrKnown)
    return known.isEmpty ? nil : Set(known)
  }

  /// True if the value of a variable names another one, or itself, as it was before a later value replaced it.
  func seesEarlier(_ name: String, in variable: String) -> Bool {
    earlierNames[variable]?.contains(name) ?? false
  }

  /// True if the variable's value is unknown only because it depends on how a run is started.
  func isOpen(_ name: String) -> Bool { openVariables.contains(name) }

  private func isOpen(_ template: Template) -> Bool {
    !isForRun
      && template.expressions.allSatisfy { expression in
        !expression.looksAtFiles && expression.references.allSatisfy(isOpen)
      }
  }

  func isOpen(_ reference: Expression.Reference) -> Bool {
    switch reference.root {
    case .host: true
    case .env: reference.member.map(isOpenOrKnown) ?? false
    case .params: reference.member.map { lateParams[$0] == nil } ?? lateParams.isEmpty
    case .vars: reference.member.map { derived?.lateValue($0)?.isOpen ?? true } ?? false
    case .steps, .run, .secrets, .matrix: false
    }
  }

  private func isOpenOrKnown(_ name: String) -> Bool {
    switch variable(name)?.value {
    case .plain: true
    case .template: isOpen(name)
    case nil: secretVariables[name] == nil
    }
  }

  func variable(_ name: String) -> VariableModel? {
    environmentNumbers[name].map { environment[$0] }
  }
}
