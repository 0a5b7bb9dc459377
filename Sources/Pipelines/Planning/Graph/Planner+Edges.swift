// Makes the edges of a plan by looking up names: the dependencies of each operation.

import Diagnostics
import Expressions
import Plans
import Scheduling

/// One end of an edge: a dependency of an operation.
struct EdgeDraft {
  var from: Int
  var condition: EdgeCondition
  var isOptional = false
  /// True if the condition is written.
  var isWritten = false
}

extension EdgeDraft {
  /// Makes an edge as it is written, without the operation. A status function in the step's
  /// condition removes the implicit `when`.
  fileprivate init(_ dependency: DependencyModel, isFree: Bool) {
    let isDone = isFree && dependency.traits.contains(.implicit)
    from = -1
    condition = isDone ? .done : dependency.condition
    isWritten = !dependency.traits.contains(.implicit)
    isOptional = dependency.traits.contains(.optional)
  }

  /// True if the edge accepts any end. It matches a pattern, because `==` of an enum of another
  /// module is a call through tables.
  fileprivate var takesAnyEnd: Bool { if case .done = condition { true } else { false } }

  fileprivate func from(_ operation: Int) -> EdgeDraft {
    var edge = self
    edge.from = operation
    return edge
  }
}

/// Collects the dependencies of an operation; each once, unless an enclosing step demands more of it.
struct EdgeGatherer {
  private(set) var edges: [EdgeDraft] = []
  /// The number of the last collection that contained each operation, and its position there.
  private var marks: [Mark]
  private var number: Int32 = 0

  private struct Mark {
    var number: Int32
    var place: Int32
  }

  init(operationCount: Int) {
    marks = [Mark](repeating: Mark(number: 0, place: 0), count: operationCount)
  }

  mutating func begin() {
    edges.removeAll(keepingCapacity: true)
    number += 1
  }

  /// Adds an edge; false if the dependency is already there.
  mutating func add(_ edge: EdgeDraft) -> Bool {
    if marks[edge.from].number == number { return false }
    marks[edge.from] = Mark(number: number, place: Int32(edges.count))
    edges.append(edge)
    return true
  }

  /// Adds an edge that is not replaced by another one from the same dependency: both must let the
  /// step run, and if one of them is not optional, neither is.
  mutating func addBeside(_ edge: EdgeDraft) {
    if add(edge) { return }
    let place = Int(marks[edge.from].place)
    var edge = edge
    edge.isOptional = edge.isOptional && edges[place].isOptional
    edges[place].isOptional = edge.isOptional
    if edge.condition != .done, edge.condition != edges[place].condition { edges.append(edge) }
  }
}

extension Planner {
  /// Adds all edges; reports names that are not steps, and steps that are listed twice.
  mutating func addEdges() {
    var gatherer = EdgeGatherer(operationCount: operationCount)
    var inherited: [[EdgeDraft]] = []
    for pipeline in pipelines {
      pipeline.dependencySteps = pipeline.index.find(pipeline.model.dependencies)
      gatherer.begin()
      if let parent = pipeline.parent {
        gather(parent, inherited: inherited[parent.pipeline], &gatherer)
      }
      inherited.append(gatherer.edges)
    }
    var edgeCount = 0
    for operation in 0..<operationCount {
      let address = address(of: operation)
      // The edges of a nested pipeline are repeated for each use.
      guard edgeCount <= PipelineModel.maxDependencyCount else {
        return log.report(at: pipelines[0].model.steps[0].id.span) {
          PlanningMessage.tooManyEdges(at: $0)
        }
      }
      if let group = group(operation) {
        for member in group.members {
          graph.addEdge(from: OperationID(member), to: OperationID(operation), when: .done)
        }
        if let pipeline = group.steps {
          if hasServices { addServices(toGroup: operation, inherited[pipeline]) }
          addCommands(toGroup: operation, pipelines[pipeline])
        }
        guard group.members.isEmpty else { continue }
      }
      gatherer.begin()
      gather(address, inherited: inherited[address.pipeline], &gatherer)
      edgeCount += gatherer.edges.count
      for edge in gatherer.edges {
        graph.addEdge(
          from: OperationID(edge.from), to: OperationID(operation), when: edge.condition)
        if edge.isOptional { optionalEdges.insert(UInt64(edge.from) << 32 | UInt64(operation)) }
      }
    }
  }

  /// Adds edges from commands of `vars` that the outputs of a pipeline need and its file contains.
  private mutating func addCommands(toGroup operation: Int, _ pipeline: PipelineUse) {
    let number = address(of: operation).pipeline
    for command in commandsNeededAtEnd(of: pipeline) where address(of: command).pipeline <= number {
      graph.addEdge(from: OperationID(command), to: OperationID(operation), when: .done)
    }
  }

  /// The operations of commands of `vars` that are needed when all of a pipeline has ended.
  func commandsNeededAtEnd(of pipeline: PipelineUse) -> [Int] {
    pipeline.commandsNeededAtEnd.map { pipelines[$0.pipeline].operation(of: $0.step) }
  }

  /// Collects the dependencies of a step, or of an instance of it. `inherited` are those of the
  /// enclosing pipeline: a step gets those that it could otherwise start before, or without.
  mutating func gather(
    _ address: StepAddress, inherited: [EdgeDraft], _ gatherer: inout EdgeGatherer
  ) {
    let pipeline = pipelines[address.pipeline]
    let range = pipeline.model.dependencyRange(of: address.step)
    let mayNeedCommands = pipeline.mayNeedCommands
    if range.isEmpty, inherited.isEmpty, !pipeline.model.hasSequence, !mayNeedCommands { return }
    let isFree = pipeline.controlFlow(of: address.step)?.condition?.callsStatusFunction ?? false
    var waitsInside = false
    for number in range {
      let dependency = pipeline.model.dependencies[number]
      let draft = EdgeDraft(dependency, isFree: isFree)
      var isInside = true
      // The dependency is nearly always a step, by its id.
      if let step = pipeline.step(ofDependency: number), !dependency.traits.contains(.matched) {
        add(draft.from(pipeline.operation(of: step)), dependency, at: address, &gatherer)
      } else {
        isInside = forEachTarget(of: dependency, at: address) { planner, target in
          planner.add(draft.from(target), dependency, at: address, &gatherer)
        }
      }
      if isInside, !draft.takesAnyEnd, !draft.isOptional { waitsInside = true }
    }
    if pipeline.model.hasSequence {
      let condition: EdgeCondition = isFree ? .done : .ok
      let before = pipeline.sequenceBefore(address.step)
      let listed = pipeline.dependencySteps[range]
      for step in before.manual where !listed.contains(Int32(step)) {
        let edge = EdgeDraft(
          from: pipeline.operation(of: step), condition: condition, isOptional: true)
        _ = gatherer.add(hasServices ? toService(edge, nil) : edge)
      }
      if let step = before.required, !listed.contains(Int32(step)) {
        let edge = EdgeDraft(from: pipeline.operation(of: step), condition: condition)
        let isNew = gatherer.add(hasServices ? toService(edge, nil) : edge)
        if isNew, !isFree { waitsInside = true }
      }
    }
    for step in mayNeedCommands ? pipeline.commandsNeeded(by: address.step) : [] {
      let command = pipelines[step.pipeline].operation(of: step.step)
      _ = gatherer.add(EdgeDraft(from: command, condition: .succeeded))
    }
    // Dependents of a blocked step are blocked, too; dependents of a skipped one run.
    for edge in inherited where !waitsInside || edge.condition.maySkip {
      gatherer.addBeside(edge)
    }
  }

  private mutating func add(
    _ edge: EdgeDraft, _ dependency: DependencyModel, at address: StepAddress,
    _ gatherer: inout EdgeGatherer
  ) {
    let edge = hasServices || edge.condition.waitsForReadiness ? toService(edge, dependency) : edge
    if gatherer.add(edge) { return }
    if standsForOthers(edge.from, in: dependency, at: address) { return gatherer.addBeside(edge) }
    reportTwice(dependency, edge.from, at: address)
  }

  /// True if a dependency names an operation that does not exist and its group stands for: an
  /// instance that is not known here, or a step of a group without instances.
  private func standsForOthers(
    _ target: Int, in dependency: DependencyModel, at address: StepAddress
  ) -> Bool {
    let isPlain = pipelines[address.pipeline].find(dependency.step.span) != nil
    if isPlain, !dependency.traits.contains(.matched) { return false }
    return groups[target]?.isExpanding == true || hasNoInstances(target)
  }

  private mutating func reportTwice(
    _ dependency: DependencyModel, _ target: Int, at address: StepAddress
  ) {
    let (target, own) = (id(of: target), pipelines[address.pipeline].id(of: address.step, text))
    log.report(at: dependency.step.span) { PlanningMessage.listedTwice(target, by: own, at: $0) }
  }

  // MARK: Names

  /// The operations that a dependency refers to; none for a wrong name.
  func targets(of dependency: DependencyModel, at address: StepAddress) -> [Int] {
    let pipeline = pipelines[address.pipeline]
    if !dependency.traits.contains(.matched), let step = pipeline.index.find(dependency.step.span) {
      return [pipeline.operation(of: step)]
    }
    var silent = self
    silent.log = DiagnosticLog()
    var found: [Int] = []
    _ = silent.forEachTarget(of: dependency, at: address) { _, target in found.append(target) }
    return found
  }

  /// Calls `body` with each target. True if the targets are inside the step's own pipeline, not
  /// around the group.
  private mutating func forEachTarget(
    of dependency: DependencyModel, at address: StepAddress, _ body: (inout Planner, Int) -> Void
  ) -> Bool {
    let pipeline = pipelines[address.pipeline]
    if dependency.traits.contains(.matched), let (use, step) = pipeline.find(dependency.step.span) {
      for target in matched(dependency, step, of: use, at: address) { body(&self, target) }
      return use === pipeline
    }
    let name = text.string(dependency.step.span)
    switch operations(named: name, in: address.pipeline) {
    case .found(let targets, let isInside):
      for target in targets { body(&self, target) }
      return isInside
    case .noInstance(let group, let step): report(noInstance: name, of: group, step, dependency)
    case .unknown: reportUnknown(dependency.step.span, at: address)
    }
    return true
  }

  private mutating func report(
    noInstance name: String, of number: Int, _ step: String, _ dependency: DependencyModel
  ) {
    let group = groups[number]
    let known = group?.members.prefix(5).compactMap { instance(of: $0)?.suffix } ?? []
    let isLate = group?.isExpanding ?? false
    log.report(at: dependency.step.span) {
      PlanningMessage.noInstance(name, of: step, known: isLate ? nil : known, at: $0)
    }
  }

  /// The instances for `match: matrix`, which have the same values on the axes that both steps have.
  private mutating func matched(
    _ dependency: DependencyModel, _ step: Int, of use: PipelineUse, at address: StepAddress
  ) -> [Int] {
    let number = use.operation(of: step)
    // An invalid matrix has already been reported.
    if use.controlFlow(of: step)?.matrix != nil, groups[number] == nil { return [] }
    let target = self.address(of: number)
    if hasOpenMatrix(address) && hasOpenMatrix(target),
      address.instance == nil || groups[number]?.isExpanding == true
    {
      return [number]
    }
    guard let own = matrixValues(at: address), case .matrix? = groups[number]?.kind
    else {
      let isLate = [number, use.operation(of: address.step)].contains {
        groups[$0]?.isExpanding == true
      }
      log.report(at: dependency.step.span) { PlanningMessage.noMatch(isLate: isLate, at: $0) }
      return []
    }
    let members = instanceIndex.members(of: number, matching: own, in: self)
    let pipeline = pipelines[address.pipeline]
    if members.isEmpty || members.count > 1 && pipeline.pairs(dependency, with: address.step) {
      let suffix = address.instance.map { instances[$0].suffix } ?? ""
      log.report(at: dependency.step.span) {
        PlanningMessage.unmatched(use.id(of: step, text), suffix, count: members.count, at: $0)
      }
    }
    return members
  }

  private mutating func reportUnknown(_ span: Span, at address: StepAddress) {
    let pipeline = pipelines[address.pipeline]
    let suggester = log.suggester
    log.report(at: span) { span in
      let (name, own) = (text.string(span), pipeline.id(of: address.step, text))
      let others = pipeline.visibleSteps(text).lazy.filter { $0 != own }
      let close = pipeline.pathInGroup(of: name, text) ?? suggester.closest(to: name, among: others)
      return PlanningMessage.unknownStep(name, of: own, suggestion: close, at: span)
    }
  }
}

extension PipelineUse {
  /// The path of a step with this id in a group of this pipeline, such as `g/a`; nil if there is none.
  fileprivate func pathInGroup(of name: String, _ text: SourceText) -> String? {
    inner.keys.sorted().lazy.compactMap { step -> String? in
      guard let group = self.inner[step], group.surroundings.isGroup else { return nil }
      let path = group.index.find(name) == nil ? group.pathInGroup(of: name, text) : name
      return path.map { "\(self.id(of: step, text))/\($0)" }
    }.first
  }
}

extension GroupDraft {
  var isExpanding: Bool { if case .expanding = kind { true } else { false } }
}
