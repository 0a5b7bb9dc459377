// The names that expressions may use, depending on their location.

import Diagnostics
import Expressions
import Plans
import Scheduling

/// The kinds of locations; each has its own names.
enum ScopeKind {
  /// The pipeline's own variables and directory, before any step has run, and its hooks, after all steps.
  case pipeline
  /// A pipeline's own variables, which may name secrets.
  case pipelineVariables
  /// The outputs of a pipeline: all its steps have ended.
  case pipelineOutputs
  /// The strings of a step.
  case step
  /// A step's variables, and inputs of the pipeline or built-in step that it uses, which may name secrets.
  case stepVariables
  case condition
  /// The axes of a matrix, from which the instances are made.
  case matrix
  /// The values and commands of `vars`.
  case derived
  /// Values that must be known before the run.
  case early

  var allowsSecrets: Bool { self == .pipelineVariables || self == .stepVariables }
}

struct StepScope: ExpressionScope {
  let pipeline: PipelineUse
  let text: SourceText
  let kind: ScopeKind
  /// The step of the pipeline; nil if the location is in none.
  let step: Int?
  /// The types of matrix members; nil if the step has no matrix.
  let matrix: ExpressionType.Members?
  let suggester: Suggester
  /// True in a hook: the step, or all steps of the pipeline, have ended.
  var isInHook = false
  /// True in a value of the step's own `env`.
  var isInVariables = false
  /// The variable of the pipeline in whose value it is.
  var variable: String?

  var inHook: StepScope {
    var scope = self
    scope.isInHook = true
    return scope
  }

  static let runMembers: [(String, ExpressionType)] =
    runMemberNames.map { name -> (String, ExpressionType) in (name, .string) }

  var allowsStatusFunctions: Bool { kind == .condition }

  var valueBudget: ValueBudget? { pipeline.inputs.budget.values }

  func objection(to root: ContextRoot) -> UnlocatedFailure? {
    switch root {
    case .params, .env, .host, .vars: nil
    case .run: kind == .early ? ScopeMessage.beforeRun : nil
    case .secrets: kind.allowsSecrets ? nil : ScopeMessage.secretsOutside
    case .steps where kind == .early: ScopeMessage.beforeRun
    case .steps:
      kind == .derived || (kind == .pipeline || kind == .pipelineVariables) && !isInHook
        ? ScopeMessage.stepsTooEarly : nil
    case .matrix:
      matrix != nil ? nil : kind == .matrix ? ScopeMessage.matrixInMatrix : ScopeMessage.noMatrix
    }
  }

  func member(_ name: String, of root: ContextRoot) -> ScopeMember {
    let found = knownMember(name, of: root)
    if case .unknown = found, pipeline.model.unreadable.contains(root.name) { return .known(.any) }
    return found
  }

  private func knownMember(_ name: String, of root: ContextRoot) -> ScopeMember {
    switch root {
    case .params:
      pipeline.inputs.secretParams.contains(name) && !kind.allowsSecrets
        ? .refused(ScopeMessage.secretsOutside)
        : pipeline.inputs.paramTypes[name].map { .known($0) } ?? .unknown
    case .env: variable(name)
    case .steps: stepMember(name)
    case .matrix: matrixMember(name)
    case .run: known(Self.runMembers, name)
    case .host: known(HostFacts.memberTypes, name)
    case .secrets: pipeline.secretTypes[name].map { .known($0) } ?? .unknown
    case .vars: derivedValue(name)
    }
  }

  func mayBeMissing(_ name: String, of root: ContextRoot) -> Bool {
    switch root {
    case .secrets: pipeline.secretTypes[name]?.kinds.contains(.null) ?? false
    case .env:
      pipeline.inputs.secretVariables[name] == false && pipeline.inputs.variable(name) == nil
    case .params, .vars, .steps, .matrix, .run, .host: false
    }
  }

  func suggestion(for name: String, of root: ContextRoot) -> String? {
    suggester.closest(to: name, among: names(of: root))
  }

  func names(of root: ContextRoot) -> [String] {
    switch root {
    case .params: pipeline.inputs.paramTypes.names
    case .env: pipeline.inputs.environment.map(\.name)
    case .steps: dependencyNames
    case .matrix: matrix?.names ?? []
    case .run: Self.runMembers.map(\.0)
    case .host: HostFacts.memberTypes.map(\.0)
    case .secrets: pipeline.model.secrets.map(\.name)
    case .vars: pipeline.inputs.derived?.names ?? []
    }
  }

  func type(of root: ContextRoot) -> ExpressionType? {
    switch root {
    case .params: pipeline.inputs.secretParams.isEmpty ? .map(inputTypes) : nil
    case .matrix: matrix.map { ExpressionType(.map, members: $0) }
    case .host: .map(HostFacts.memberTypes)
    case .run: .map(Self.runMembers)
    case .env, .steps, .secrets, .vars: nil
    }
  }

  private var inputTypes: [(String, ExpressionType)] {
    Array(zip(pipeline.inputs.paramTypes.names, pipeline.inputs.paramTypes.values))
  }

  private func matrixMember(_ name: String) -> ScopeMember {
    guard let matrix else { return .unknown }
    return matrix[name].map { .known($0) } ?? (matrix.isOpen ? .known(.any) : .unknown)
  }

  private func known(_ members: [(String, ExpressionType)], _ name: String) -> ScopeMember {
    members.first { $0.0 == name }.map { .known($0.1) } ?? .unknown
  }

  private func derivedValue(_ name: String) -> ScopeMember {
    guard let derived = pipeline.inputs.derived, let type = derived.type(of: name) else {
      return .unknown
    }
    let late = derived.lateValue(name)
    if kind == .early, late?.needsCommand == true || late?.isOfRun == true {
      return .refused(ScopeMessage.beforeRun)
    }
    if kind == .pipeline, !isInHook, late?.needsCommand == true {
      return .refused(ScopeMessage.commandOutput(name))
    }
    return .known(type)
  }

  /// The member for a variable. Any variable may be inherited, which is not known beforehand.
  private func variable(_ name: String) -> ScopeMember {
    switch pipeline.inputs.variable(name)?.value {
    case .plain: .known(.string)
    case .template(let template) where template.isBroken: .known(.string)
    case .template where pipeline.inputs.isOpen(name): .known(.string)
    case .template:
      variable.map { pipeline.inputs.seesEarlier(name, in: $0) } == true
        ? inheritedVariable(name) : .refused(ScopeMessage.lateVariable(name))
    case nil where !isInVariables && step.map { sets(name, inStep: $0) } == true:
      .refused(ScopeMessage.ownVariable(name))
    case nil: inheritedVariable(name)
    }
  }

  /// True if the step's own `env`, or that of `defaults`, has the variable.
  private func sets(_ name: String, inStep step: Int) -> Bool {
    pipeline.ownVariables(ofStep: step).contains(name)
  }

  /// True if an expression may be valid in one step and not in another.
  func isOfStep(_ expression: Expression) -> Bool {
    if expression.isOfStep || variable != nil { return true }
    // The variables of a step do not see each other.
    guard !isInVariables, let step, expression.uses(.env) else { return false }
    return !pipeline.ownVariables(ofStep: step).isEmpty
  }

  /// The member for an inherited variable. If the variable is declared as a secret, it is that secret.
  private func inheritedVariable(_ name: String) -> ScopeMember {
    switch pipeline.inputs.secretVariables[name] {
    case .some where !kind.allowsSecrets: .refused(ScopeMessage.secretVariable(name))
    case true: .known(.string)
    case false: .known(.string.optional)
    case nil:
      pipeline.inputs.inherited.undecodable(name) == nil
        ? .known(.string.optional) : .refused(ScopeMessage.undecodable(name))
    }
  }
}

// Steps.
extension StepScope {
  /// The names in `depends_on`, or all steps at a location where all have ended.
  private var dependencyNames: [String] {
    guard let step else { return pipeline.model.steps.map { text.string($0.id.span) } }
    let dependencies = pipeline.model.dependencyRange(of: step).map {
      text.string(pipeline.model.dependencies[$0].step.span)
    }
    return isInHook ? dependencies + [pipeline.id(of: step, text)] : dependencies
  }

  private func stepMember(_ name: String) -> ScopeMember {
    guard let step else { return memberOfWhole(name) }
    if let known = dependencyMember(name, of: step) { return known }
    var inner = (use: pipeline, step: step)
    while inner.use.index.find(name) == nil, let outer = inner.use.around {
      if let known = scope(in: outer.use).dependencyMember(name, of: outer.step) { return known }
      inner = outer
    }
    if let own = inner.use.index.find(name), own == inner.step {
      return isInHook && inner.use === pipeline
        ? .known(type(ofStep: own, isOne: true)) : .refused(ScopeMessage.itself)
    }
    guard let target = pipeline.find(path: name) else { return .unknown }
    if pipeline.distant?.isBefore(step, of: pipeline, name) == true { return known(target) }
    let isLater = pipeline.distant?.isAfter(step, of: pipeline, name) == true
    return .refused(isLater ? ScopeMessage.later(name) : ScopeMessage.noDependency(name))
  }

  /// The member for a step that was found by its name, regardless of its instances.
  private func known(_ target: PathTarget) -> ScopeMember {
    .known(
      scope(in: target.use).type(
        ofStep: target.step, isOne: target.isOne, isMany: target.isMany,
        hasOutcome: target.isOne || !target.isMany))
  }

  /// The member for outputs of a pipeline: all its steps have ended, and so have the dependencies of the group.
  private func memberOfWhole(_ name: String) -> ScopeMember {
    if let step = pipeline.index.find(name) { return .known(type(ofStep: step, isOne: false)) }
    var outer = pipeline.around
    while let (use, step) = outer {
      if let known = scope(in: use).dependencyMember(name, of: step) { return known }
      outer = use.around
    }
    guard let target = pipeline.find(path: name),
      pipeline.distant?.isIn(pipeline, target, name) == true
    else { return .unknown }
    return known(target)
  }

  /// The member for a dependency of a step. It has also ended when a group in the step begins, so
  /// the steps of the group see it, too.
  private func dependencyMember(_ name: String, of step: Int) -> ScopeMember? {
    guard let dependency = dependency(named: name, of: step) else { return nil }
    let edge = pipeline.model.dependencies[dependency]
    let own = pipeline.step(ofDependency: dependency)
    guard
      let target = own.map({ PathTarget(use: pipeline, step: $0) }) ?? pipeline.find(path: name)
    else { return .known(.any) }
    guard edge.traits.contains(.matched) else { return known(target) }
    let isOne = target.isOne || pipeline.pairs(edge, with: step)
    return .known(
      scope(in: target.use).type(
        ofStep: target.step, isOne: isOne, isMany: target.isMany, hasOutcome: isOne))
  }

  /// The scope for the steps of another pipeline use.
  private func scope(in use: PipelineUse) -> StepScope {
    use === pipeline
      ? self
      : StepScope(
        pipeline: use, text: text, kind: kind, step: step, matrix: matrix, suggester: suggester)
  }

  /// The maximum number of dependencies that are compared with a name; more are hashed.
  private static let fewDependencies = 16

  private func dependency(named name: String, of step: Int) -> Int? {
    let range = pipeline.model.dependencyRange(of: step)
    guard range.count > Self.fewDependencies else {
      var name = name
      return name.withUTF8 { dependency(named: $0, in: range) }
    }
    if pipeline.dependencies.step != step {
      let names = range.lazy.map { (text.string(pipeline.model.dependencies[$0].step.span), $0) }
      pipeline.dependencies = (step, Dictionary(names, uniquingKeysWith: { first, _ in first }))
    }
    return pipeline.dependencies.numbers[name]
  }

  /// The facts that decide whether a path like `steps.build.outputs.size` is valid; nil if they are
  /// not sufficient.
  func path(of expression: Expression) -> CheckedPath? {
    guard let step, let (name, rest) = expression.stepPath else { return nil }
    let range = pipeline.model.dependencyRange(of: step)
    guard range.count <= Self.fewDependencies,
      let dependency = name.withUnsafeBufferPointer({ dependency(named: $0, in: range) }),
      !pipeline.model.dependencies[dependency].traits.contains(.matched),
      let target = pipeline.step(ofDependency: dependency), isPlain(target)
    else { return nil }
    return CheckedPath(kind: kind, settings: pipeline.settings(ofStep: target), rest: rest)
  }

  /// True if the step runs one command, once.
  private func isPlain(_ step: Int) -> Bool {
    if case .uses = pipeline.model.steps[step].action { return false }
    return pipeline.controlFlow(of: step)?.matrix == nil
  }

  private func dependency(named name: UnsafeBufferPointer<UInt8>, in range: Range<Int>) -> Int? {
    range.first { areEqual(text[pipeline.model.dependencies[$0].step.span], name) }
  }

  /// The type of a step. Several instances of a step have no common outcome.
  private func type(
    ofStep step: Int, isOne: Bool, isMany: Bool = false, hasOutcome: Bool = true
  ) -> ExpressionType {
    let hasMatrix = pipeline.controlFlow(of: step)?.matrix != nil
    if hasOutcome, !hasMatrix, let known = plainType(ofStep: step) { return known }
    var outputs = outputType(ofStep: step)
    if hasMatrix, !isOne { outputs = Self.instances(giving: outputs) }
    if isMany { outputs = Self.instances(giving: outputs) }
    let given = ("outputs", outputs)
    return .map(hasOutcome ? [given, ("outcome", Self.outcome)] : [given])
  }

  private static func instances(giving outputs: ExpressionType) -> ExpressionType {
    .list(
      of: .map([("matrix", .openMap), ("outcome", Self.outcome), ("outputs", outputs)]))
  }

  /// The type of a step that runs one command, once; nil for any other.
  private func plainType(ofStep step: Int) -> ExpressionType? {
    if case .uses = pipeline.model.steps[step].action { return nil }
    let settings = pipeline.settings(ofStep: step)
    if settings < 0 { return Self.openStep }
    if let known = pipeline.stepTypes[settings] { return known }
    let type = ExpressionType.map([
      ("outputs", outputType(ofStep: step)), ("outcome", Self.outcome),
    ])
    pipeline.stepTypes[settings] = type
    return type
  }

  private static let outcome = ExpressionType.string(Outcome.allCases.map(\.word))

  /// The type of a step that does not declare its outputs, like most.
  private static let openStep = ExpressionType.map([("outputs", .openMap), ("outcome", outcome)])

  private func outputType(ofStep step: Int) -> ExpressionType {
    if let known = pipeline.outputTypes[step] { return known }
    let type = declaredType(ofStep: step)
    if type.members != nil { pipeline.outputTypes[step] = type }
    return type
  }

  private func declaredType(ofStep step: Int) -> ExpressionType {
    if case .uses(let number) = pipeline.model.steps[step].action,
      pipeline.model.uses[Int(number)].kind.isPipeline
    {
      let outputs = pipeline.model.uses[Int(number)].outputs
      return outputs.map { .map($0.map { ($0, .any) }) } ?? .openMap
    }
    let settings = pipeline.settings(ofStep: step)
    guard settings >= 0 else { return .openMap }
    for case .outputs(let declared) in pipeline.model.settings[Int(settings)] {
      return .map(declared.map { ($0.name, $0.type.expressionType) })
    }
    return .openMap
  }
}

extension OutputType {
  fileprivate var expressionType: ExpressionType {
    switch self {
    case .string: .string
    case .int, .number: .number
    case .bool: .bool
    case .list: ExpressionType(.list)
    case .map: .openMap
    case .json: .any
    }
  }
}

/// The facts that decide whether a path to an output of a step is valid: its location, the step's
/// declarations, and the path after the step's name. Steps often name the same output of the step
/// before.
struct CheckedPath: Equatable {
  let kind: ScopeKind
  /// The number of the step's settings.
  let settings: Int32
  let rest: ArraySlice<UInt8>

  static func == (left: CheckedPath, right: CheckedPath) -> Bool {
    left.kind == right.kind && left.settings == right.settings && areSame(left.rest, right.rest)
  }
}
