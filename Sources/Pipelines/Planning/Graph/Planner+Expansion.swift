// Expands steps that become several operations: instances of a matrix, steps of a nested pipeline.
// The operations of a group come before the group's own. docs/design-planning.md, “Groups”.

import Diagnostics
import Expressions
import Plans
import Scheduling

extension Planner {
  mutating func expand(pipeline: Int) {
    for step in pipelines[pipeline].model.steps.indices {
      if !isWithinLimits { return }
      let address = StepAddress(pipeline: pipeline, step: step)
      guard let matrix = pipelines[pipeline].controlFlow(of: step)?.matrix else {
        add(address)
        continue
      }
      switch combinations(of: matrix, at: address) {
      case .known(let combinations):
        let first = instances.count
        if first == 0 { instances = combinations } else { instances += combinations }
        let kind = GroupPlan.Kind.matrix
        var draft = groupDraft(kind, matrix, at: address)
        let start = addresses.count
        draft.members = combinations.indices.map { index in
          var address = address
          address.instance = first + index
          return add(address)
        }
        draft.operations = start..<addresses.count
        addGroup(draft, at: address)
        if combinations.isEmpty { nameSteps(inside: address) }
      case .later(let axes):
        addLate(groupDraft(.expanding(axes), matrix, at: address), at: address)
      case .invalid: add(address)
      }
    }
  }

  /// Adds one operation, or those of the pipeline that the step uses; returns the one that stands for the step.
  @discardableResult
  private mutating func add(_ address: StepAddress) -> Int {
    if let uses = uses(at: address), uses.kind.isPipeline, let model = uses.model {
      return addNested(uses, model: model, at: address)
    }
    addresses.append(address)
    if address.instance == nil { setOperation(addresses.count - 1, at: address) }
    return addresses.count - 1
  }

  /// Sets the operation for which others wait: the last one that stands for a step, which is the
  /// group if there is one.
  private mutating func setOperation(_ operation: Int, at address: StepAddress) {
    if pipelines[address.pipeline].operations.isEmpty {
      let count = pipelines[address.pipeline].model.steps.count
      pipelines[address.pipeline].operations = [Int32](repeating: -1, count: count)
    }
    pipelines[address.pipeline].operations[address.step] = Int32(truncatingIfNeeded: operation)
  }

  /// Makes the names of the steps of a group without instances known.
  private mutating func nameSteps(inside address: StepAddress) {
    guard let model = uses(at: address)?.model else { return }
    let names = namesOnly(ofModel: model, parent: address)
    pipelines[address.pipeline].inner[address.step] = names
  }

  /// A use of a pipeline without operations.
  private mutating func namesOnly(ofModel number: Int, parent: StepAddress) -> PipelineUse {
    let model = models[number]
    let names = PipelineUse(
      model: model, index: index(ofModel: number), prefix: "", parent: parent,
      inputs: PipelineInputs(budget), Surroundings(root: model))
    for (step, written) in model.steps.enumerated() {
      guard case .uses(let place) = written.action, let inner = model.uses[Int(place)].model
      else { continue }
      names.inner[step] = namesOnly(ofModel: inner, parent: parent)
    }
    return names
  }

  private mutating func addGroup(_ draft: GroupDraft, at address: StepAddress) {
    var address = address
    address.isGroup = true
    groups[addresses.count] = draft
    addresses.append(address)
    setOperation(addresses.count - 1, at: address)
  }

  private mutating func groupDraft(
    _ kind: GroupPlan.Kind, _ matrix: MatrixModel, at address: StepAddress
  ) -> GroupDraft {
    var draft = GroupDraft(kind: kind, isFailFast: matrix.isFailFast)
    let width = maxParallel(of: matrix, at: address)
    if let uses = uses(at: address), uses.kind.isPipeline {
      draft.width = width
    } else if let width {
      let id =
        pipelines[address.pipeline].prefix + pipelines[address.pipeline].id(of: address.step, text)
      draft.pool = queuesAndPools.addPool(named: "\(id).max_parallel", width: width)
    }
    return draft
  }

  private mutating func maxParallel(of matrix: MatrixModel, at address: StepAddress) -> Int? {
    guard let template = matrix.earlyMaxParallel else { return matrix.maxParallel }
    let early = EarlyValue(key: .instances, span: matrix.span, template: template)
    do throws(EvaluationFailure) {
      return try early.integer(valuesForMatrix(at: address), in: 1...1_000_000)
    } catch {
      report(error)
      return nil
    }
  }

  func uses(at address: StepAddress) -> UsesModel? {
    let pipeline = pipelines[address.pipeline]
    guard case .uses(let number) = pipeline.model.steps[address.step].action else { return nil }
    return pipeline.model.uses[Int(number)]
  }

  // MARK: Nested pipelines

  private mutating func addNested(
    _ uses: UsesModel, model: Int, at address: StepAddress
  ) -> Int {
    let pipeline = addUse(uses, model: model, at: address)
    var draft = GroupDraft(kind: .nested(path: uses.kind.path))
    draft.pipeline = pipeline
    draft.members = members(of: pipeline)
    addGroup(draft, at: address)
    pipelines[pipeline].group = addresses.count - 1
    return addresses.count - 1
  }

  /// Adds a group whose instances are made during the run. The steps that they copy come before it.
  private mutating func addLate(_ draft: GroupDraft, at address: StepAddress) {
    guard let uses = uses(at: address), uses.kind.isPipeline, let model = uses.model else {
      return addGroup(draft, at: address)
    }
    hasPatterns = true
    let first = (
      operation: addresses.count, pool: queuesAndPools.pools.count, pipeline: pipelines.count
    )
    let pipeline = addUse(uses, model: model, at: address)
    var draft = draft
    draft.members = members(of: pipeline)
    draft.pattern = PatternDraft(
      pipeline: pipeline, kind: .nested(path: uses.kind.path),
      operations: first.operation..<addresses.count,
      pools: first.pool..<queuesAndPools.pools.count,
      pipelines: first.pipeline..<pipelines.count)
    addGroup(draft, at: address)
    pipelines[pipeline].group = addresses.count - 1
  }

  /// The members of a pipeline. A step that stands for others is one member, as a group, because
  /// operations inside it end before it.
  private func members(of pipeline: Int) -> [Int] {
    pipelines[pipeline].operations.filter { $0 >= 0 }.map { Int($0) }
  }

  /// Adds the pipeline that a step uses, and the operations of its steps.
  private mutating func addUse(
    _ uses: UsesModel, model: Int, at address: StepAddress
  ) -> Int {
    let parent = pipelines[address.pipeline]
    let suffix = address.instance.map { instances[$0].suffix } ?? ""
    let id = parent.prefix + parent.id(of: address.step, text) + suffix
    checkNested(models[model])
    var surroundings = surroundings(uses, models[model], at: address, number: pipelines.count)
    let inputs = nestedInputs(uses, model: model, at: address, &surroundings)
    if let width = models[model].width.map({ knownWidth($0, inputs) }) {
      let pool = queuesAndPools.addPool(named: "\(id).max_parallel", width, options)
      surroundings.pools.append(pool)
    }
    let pipeline = addPipeline(
      PipelineUse(
        model: models[model], index: index(ofModel: model), prefix: id + "/", parent: address,
        inputs: inputs, surroundings))
    if isWithinLimits { expand(pipeline: pipeline) }
    return pipeline
  }

  /// The inputs of a nested pipeline: those given to it, and those of its file.
  private mutating func nestedInputs(
    _ uses: UsesModel, model number: Int, at address: StepAddress,
    _ surroundings: inout Surroundings
  ) -> PipelineInputs {
    let model = models[number]
    guard budget.allows(inputs: countOfInputs(model, surroundings)) else {
      log.report(at: uses.span) { PlanningMessage.tooManyInputs(at: $0) }
      return PipelineInputs(budget)
    }
    var inputs =
      surroundings.enclosing.map { PipelineInputs(model, in: $0.inputs) }
      ?? PipelineInputs(model, options: options, budget)
    for variable in surroundings.environment {
      let isOpen = variable.value.template.map { self.isOpen($0, at: address) } ?? false
      inputs.add(variable, isOpen: isOpen)
    }
    if surroundings.isGroup { return inputs }
    // The file's own variables and defaults are closer to its steps.
    surroundings.environment = []
    give(uses, toModel: number, at: address, &inputs)
    inputs.addVariables(of: model, number: pipelines.count, options: options, log: &log)
    return inputs
  }

  /// The number of its own parameters and variables, and of those of the file, which are copied if it adds any.
  private func countOfInputs(_ model: PipelineModel, _ surroundings: Surroundings) -> Int {
    guard let file = surroundings.enclosing?.inputs else { return model.params.count }
    let addsVariables =
      !(surroundings.environment.isEmpty && model.environment.isEmpty
      && model.fileVariables.isEmpty)
    let params = model.params.isEmpty ? 0 : model.params.count + file.paramTypes.count
    return params + (addsVariables ? file.environment.count : 0)
  }

  private mutating func give(
    _ uses: UsesModel, toModel number: Int, at address: StepAddress,
    _ inputs: inout PipelineInputs
  ) {
    let model = models[number]
    let params = params(ofModel: number)
    let known = values(at: address)
    for member in uses.with {
      guard let param = params[member.name] else {
        let suggester = log.suggester
        log.report(at: member.span) {
          let close = suggester.closest(to: member.name, among: model.params.lazy.map(\.name))
          return PlanningMessage.unknownInput(member.name, suggestion: close, at: $0)
        }
        continue
      }
      do throws(EvaluationFailure) {
        let value = try known.fold(member.value)
        if value.holdsSecrets(pipelines[address.pipeline].inputs.isSecret) {
          inputs.secretParams.insert(param.name)
        }
        // If the type is known to be wrong, the check reports the same for this location.
        give(value, to: param, at: member.value.single?.span(in: text) ?? member.span, &inputs)
      } catch {
        report(error)
      }
    }
    let given = Set(uses.with.map(\.name))
    for param in model.params where !given.contains(param.name) {
      if param.isRequired, param.defaultValue == nil {
        log.report(at: uses.span) { PlanningMessage.missingInput(param.name, at: $0) }
      }
      inputs.params[param.name] = param.defaultValue ?? .null
    }
  }

  private mutating func give(
    _ value: ValueModel, to param: ParamModel, at span: Span, _ inputs: inout PipelineInputs
  ) {
    guard let constant = value.constant else {
      inputs.lateParams[param.name] = value
      return
    }
    if let refusal = param.fault(of: constant) {
      log.report(at: span) { PlanningMessage.badInput(param.name, refusal, at: $0) }
    }
    inputs.params[param.name] = constant
  }

  /// The width of a nested pipeline with these inputs.
  private mutating func knownWidth(_ width: QueueWidth, _ inputs: PipelineInputs) -> QueueWidth {
    guard case .early(let value) = width else { return width }
    do throws(EvaluationFailure) {
      let known = try value.width(KnownValues(inputs: inputs, options, budget))
      if known == .count(0), let expression = value.expression {
        log.report(at: expression.span(in: text)) { PlanningMessage.noWidthInNested(at: $0) }
      }
      return known ?? .automatic
    } catch {
      report(error)
      return .automatic
    }
  }

  /// Refuses a width with which nothing of the pipeline could run.
  private mutating func checkNested(_ model: PipelineModel) {
    if model.width == .count(0), let span = model.written[.maxParallel] {
      log.report(at: span) { PlanningMessage.noWidthInNested(at: $0) }
    }
  }
}

// Matrices.
extension Planner {
  private mutating func combinations(of matrix: MatrixModel, at address: StepAddress)
    -> Combinations
  {
    do throws(EvaluationFailure) {
      return try combinations(of: matrix, valuesForMatrix(at: address), at: address)
    } catch {
      report(error)
      return .invalid
    }
  }

  private mutating func combinations(
    of matrix: MatrixModel, _ values: KnownValues, at address: StepAddress
  ) throws(EvaluationFailure) -> Combinations {
    var known: [(name: String, values: [Value])] = []
    var later: [String] = []
    for axis in matrix.axes {
      let folded = try values.fold(axis.values)
      switch folded.constant {
      case .list(let items)?: known.append((axis.name, items))
      case nil: later.append("\(axis.name): \(folded.shown)")
      case .null?, .bool?, .number?, .string?, .map?:
        // If the type is known to be wrong, the check reports the same for this location.
        let span = axis.values.templates.first?.expressions.first?.span(in: text) ?? axis.span
        log.report(at: span) { PlanningMessage.noList(axis.name, folded.shown, at: $0) }
        return .invalid
      }
    }
    let included = try matrix.included.map { model throws(EvaluationFailure) in
      try values.fold(model)
    }
    let excluded = try matrix.excluded.map { model throws(EvaluationFailure) in
      try values.fold(model)
    }
    if let included, included.constant == nil { later.append("include: \(included.shown)") }
    if let excluded, excluded.constant == nil { later.append("exclude: \(excluded.shown)") }
    guard later.isEmpty else { return .later(later.joined(separator: ", ")) }
    let matrixValues = KnownMatrix(
      axes: known, included: included?.maps ?? [], excluded: excluded?.maps ?? [])
    do throws(MatrixFailure) {
      return .known(try matrixValues.instances(&matrixBudget))
    } catch {
      let id = pipelines[address.pipeline].id(of: address.step, text)
      log.report(at: matrix.span) { PlanningMessage.badMatrix(id, error.message, at: $0) }
      return .invalid
    }
  }
}

extension UsesModel.Kind {
  /// The path as people write it; nil for a group.
  fileprivate var path: String? {
    switch self {
    case .file(let path): path
    case .section(let name): "#" + name
    case .group, .builtIn: nil
    }
  }
}

extension ValueModel {
  /// The expression that is the whole value; nil for any other value.
  fileprivate var single: Expression? {
    if case .template(let template) = self { template.single } else { nil }
  }

  /// The maps in a list that is known.
  fileprivate var maps: [ValueMap] {
    guard case .list(let items)? = constant else { return [] }
    return items.compactMap { if case .map(let map) = $0 { map } else { nil } }
  }
}
