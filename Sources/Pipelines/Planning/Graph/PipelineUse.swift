// The parts of a plan: the root pipeline, and each use of a nested one. docs/design-planning.md,
// “Pipeline uses”.

import Diagnostics
import Expressions
import Plans
import Scheduling

/// One pipeline with its own steps, parameters and variables. A class, so that looking at a step
/// copies nothing.
final class PipelineUse {
  let model: PipelineModel
  let index: StepIndex
  /// Before the ids of its steps: `deploy/`; empty for the root pipeline.
  let prefix: String
  /// The operation of another pipeline that it stands for; nil for the root pipeline.
  let parent: StepAddress?
  let inputs: PipelineInputs
  let surroundings: Surroundings
  /// Of its steps that are pipeline uses: the first that each has become.
  var inner: [Int: PipelineUse] = [:]
  /// For each step, the operation that others wait for; empty: the step's own number.
  var operations: [Int32] = []
  /// The operation that stands for all of it; −1 for the root pipeline.
  var group = -1
  /// Of steps that were asked about and say so: what they give.
  var outputTypes: [Int: ExpressionType] = [:]
  private(set) lazy var secretTypes: [String: ExpressionType] =
    enclosing?.secretTypes
    ?? Dictionary(
      model.secrets.map { ($0.name, $0.source.isRequired ? .string : .string.optional) },
      uniquingKeysWith: { first, _ in first })
  /// What its steps give and how they ended, by the number of their settings.
  var stepTypes: [Int32: ExpressionType] = [:]
  /// The expression that was found right last, and names nothing of a step: it is right in all.
  var checked: (kind: ScopeKind, expression: Expression)?
  /// Of a group, once it was asked for: what the members of the matrices around it are.
  var outerMatrix: ExpressionType.Members??
  /// Of the step that was asked about last, if it has many: its dependencies by name.
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
  }

  /// Whether the variable is one of its own, and not of the file or of the step around it.
  func says(_ variable: VariableModel) -> Bool {
    variable.giver < 0
      && enclosing.map { $0.inputs.variable(variable.name)?.span != variable.span } ?? true
  }

  /// The pipeline use in whose file it stands; nil for that of a whole file.
  var enclosing: PipelineUse? { surroundings.enclosing }

  /// Of a group, the step that it stands in, with its pipeline: what that sees its steps see too.
  var around: (use: PipelineUse, step: Int)? {
    guard surroundings.isGroup, let enclosing, let parent else { return nil }
    return (enclosing, parent.step)
  }

  func id(of step: Int, _ text: SourceText) -> String {
    text.string(model.steps[step].id.span)
  }

  /// The ids of its steps, and of those around the group.
  func visibleSteps(_ text: SourceText) -> [String] {
    model.steps.map { text.string($0.id.span) } + (around?.use.visibleSteps(text) ?? [])
  }

  /// `OPRUN_PARAM_<NAME>` for its commands, as far as values are known.
  var inputVariables: [VariableModel] {
    let own = model.params.compactMap { param in
      inputs.params[param.name].flatMap { param.variable(holding: $0) }.map {
        VariableModel(name: $0.name, span: param.span, value: .plain($0.value))
      }
    }
    guard let enclosing else { return own }
    let hidden = Set(model.params.map(\.variable))
    return enclosing.inputVariables.filter { !hidden.contains($0.name) } + own
  }

  /// Not all of its steps run when none is named.
  var leavesOut: Bool { model.defaultSteps != nil || model.hasManualSteps }

  /// The steps that run when none is named, without what they need.
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

  /// What a step of a sequence waits for: manual steps before it if they run, and the one before
  /// them.
  func sequenceBefore(_ step: Int) -> (manual: Range<Int>, required: Int?) {
    var first = step
    while first > 0, isManual(first - 1) { first -= 1 }
    return (first..<step, first > 0 ? first - 1 : nil)
  }

  func operation(of step: Int) -> Int { operations.isEmpty ? step : Int(operations[step]) }

  /// Whether `match: matrix` gives each instance of a step exactly one of the other step: every axis
  /// of that one is an axis of its own.
  func pairs(_ dependency: DependencyModel, with step: Int) -> Bool {
    guard let (use, target) = find(dependency.step.span) else { return true }
    let own = axisNames(of: step)
    return use.controlFlow(of: target)?.matrix?.axes.allSatisfy { own.contains($0.name) } ?? true
  }

  private func axisNames(of step: Int) -> Set<String> {
    let outer = around.map { $0.use.axisNames(of: $0.step) } ?? []
    return outer.union(controlFlow(of: step)?.matrix?.axes.map(\.name) ?? [])
  }

  /// The step with the id that is written at a place: one of its own, or one around the group.
  func find(_ name: Span) -> (use: PipelineUse, step: Int)? {
    if let step = index.find(name) { return (self, step) }
    return around?.use.find(name)
  }

  func find(_ name: String) -> (use: PipelineUse, step: Int)? {
    if let step = index.find(name) { return (self, step) }
    return around?.use.find(name)
  }

  /// A number of the model's settings; −1 is none.
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

/// Which step of which pipeline an operation comes from.
struct StepAddress: Hashable {
  private let pipelineNumber: Int32
  private let stepNumber: Int32
  /// −1 is none.
  private var instanceNumber: Int32 = -1
  /// It stands for several others.
  var isGroup = false

  init(pipeline: Int, step: Int) {
    pipelineNumber = Int32(pipeline)
    stepNumber = Int32(step)
  }

  func isOfSameStep(as other: StepAddress) -> Bool {
    pipelineNumber == other.pipelineNumber && stepNumber == other.stepNumber
  }

  var pipeline: Int { Int(pipelineNumber) }
  var step: Int { Int(stepNumber) }

  /// A number of `Planner.instances`, if the step has a matrix that is known.
  var instance: Int? {
    get { instanceNumber < 0 ? nil : Int(instanceNumber) }
    set { instanceNumber = newValue.map { Int32($0) } ?? -1 }
  }
}

/// What a pipeline's expressions may name besides steps.
struct PipelineInputs {
  /// Of the whole plan.
  let budget: PlanBudget
  /// Known ones; what is not here is known later, or not there.
  var params: [String: Value] = [:]
  /// Given by the using step, with expressions that are not known yet.
  var lateParams: [String: ValueModel] = [:]
  /// Those of them that are made of secrets: they are used as secrets are.
  var secretParams: Set<String> = []
  /// Variables of oprun's own environment that are secrets; the value says whether one must be there.
  var secretVariables: [String: Bool] = [:]
  /// What oprun inherits is known, and parameters are given.
  var isForRun = true
  /// In file order.
  var paramTypes = OrderedMap<ExpressionType>()
  /// From `dotenv` files and `env`, later ones over earlier ones.
  var environment: [VariableModel] = []
  /// Numbers in `environment` by name.
  var environmentNumbers: [String: Int] = [:]
  /// Those that a run knows before its plan, though they are not known now.
  private var openVariables: Set<String> = []

  /// Inherited variables that are no text.
  var undecodable: [String: TextDecodingFailure] = [:]

  /// Whether what it names is a secret, or made of one.
  func isSecret(_ reference: Expression.Reference) -> Bool {
    switch reference.root {
    case .secrets: true
    case .params: reference.member.map(secretParams.contains) ?? false
    case .env: reference.member.map { secretVariables[$0] != nil } ?? false
    case .steps, .matrix, .run, .host: false
    }
  }

  /// `isOpen`: of a variable whose value stands in another scope.
  mutating func add(_ variable: VariableModel, isOpen: Bool? = nil) {
    if let template = variable.value.template, isOpen ?? self.isOpen(template) {
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

  /// Whether the variable has a value that only what a run is started with keeps unknown.
  func isOpen(_ name: String) -> Bool { openVariables.contains(name) }

  private func isOpen(_ template: Template) -> Bool {
    !isForRun
      && template.expressions.allSatisfy { expression in
        !expression.looksAtFiles && expression.references.allSatisfy(isOpen)
      }
  }

  private func isOpen(_ reference: Expression.Reference) -> Bool {
    switch reference.root {
    case .host: true
    case .env: reference.member.map(isOpenOrKnown) ?? false
    case .params: reference.member.map { lateParams[$0] == nil } ?? lateParams.isEmpty
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
