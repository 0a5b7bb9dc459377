// Makes the edges of a plan by looking up names: which operation waits for which.

import Diagnostics
import Expressions
import Plans
import Scheduling

/// One end of an edge: what an operation waits for.
struct EdgeDraft {
  var from: Int
  var condition: EdgeCondition
  var isOptional = false
  /// The condition is.
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

  /// It lets start what the other end has never let start.
  fileprivate var isOpenEnded: Bool {
    condition == .done || condition == .readyOrDone || isOptional
  }

  fileprivate func from(_ operation: Int) -> EdgeDraft {
    var edge = self
    edge.from = operation
    return edge
  }
}

/// Collects what an operation waits for; each dependency once.
struct EdgeGatherer {
  private(set) var edges: [EdgeDraft] = []
  /// For each operation, the number of the last collection that it was in.
  private var marks: [Int32]
  private var number: Int32 = 0

  init(operationCount: Int) { marks = [Int32](repeating: 0, count: operationCount) }

  mutating func begin() {
    edges.removeAll(keepingCapacity: true)
    number += 1
  }

  /// Adds an edge; false if the dependency is already there.
  mutating func add(_ edge: EdgeDraft) -> Bool {
    if marks[edge.from] == number { return false }
    marks[edge.from] = number
    edges.append(edge)
    return true
  }
}

extension Planner {
  /// Adds all edges; reports names that are not steps, and steps that are listed twice.
  mutating func addEdges() {
    var gatherer = EdgeGatherer(operationCount: operationCount)
    var inherited: [[EdgeDraft]] = []
    for pipeline in pipelines {
      gatherer.begin()
      if let parent = pipeline.parent {
        gather(parent, inherited: inherited[parent.pipeline], &gatherer)
      }
      inherited.append(gatherer.edges)
    }
    var edgeCount = 0
    for operation in 0..<operationCount {
      let address = address(of: operation)
      // A nested pipeline repeats its edges with each use.
      guard edgeCount <= PipelineModel.maxDependencyCount else {
        return log.report(at: pipelines[0].model.steps[0].id.span) {
          PlanningMessage.tooManyEdges(at: $0)
        }
      }
      if let group = group(operation) {
        for member in group.members {
          graph.addEdge(from: OperationID(member), to: OperationID(operation), when: .done)
        }
        if hasServices, let pipeline = group.pipeline {
          addServices(toGroup: operation, inherited[pipeline])
        }
        guard group.isExpanding else { continue }
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

  /// Collects what a step, or an instance of it, waits for. `inherited` is what the enclosing
  /// pipeline waits for: a step that could start before that takes it over.
  mutating func gather(
    _ address: StepAddress, inherited: [EdgeDraft], _ gatherer: inout EdgeGatherer
  ) {
    let pipeline = pipelines[address.pipeline]
    let range = pipeline.model.dependencyRange(of: address.step)
    if range.isEmpty, inherited.isEmpty, !pipeline.model.hasSequence { return }
    let isFree = pipeline.controlFlow(of: address.step)?.condition?.callsStatusFunction ?? false
    for number in range {
      let dependency = pipeline.model.dependencies[number]
      let draft = EdgeDraft(dependency, isFree: isFree)
      // It is nearly always a step, by its name.
      if !dependency.traits.contains(.matched), let step = pipeline.index.find(dependency.step.span)
      {
        add(draft.from(pipeline.operation(of: step)), dependency, at: address, &gatherer)
        continue
      }
      forEachTarget(of: dependency, at: address) { planner, target in
        planner.add(draft.from(target), dependency, at: address, &gatherer)
      }
    }
    if pipeline.model.hasSequence {
      let condition: EdgeCondition = isFree ? .done : .ok
      let before = pipeline.sequenceBefore(address.step)
      for step in before.manual {
        let edge = EdgeDraft(
          from: pipeline.operation(of: step), condition: condition, isOptional: true)
        _ = gatherer.add(hasServices ? toService(edge, nil) : edge)
      }
      if let step = before.required {
        let edge = EdgeDraft(from: pipeline.operation(of: step), condition: condition)
        _ = gatherer.add(hasServices ? toService(edge, nil) : edge)
      }
    }
    if !inherited.isEmpty, gatherer.edges.allSatisfy({ $0.isOpenEnded }) {
      for edge in inherited { _ = gatherer.add(edge) }
    }
  }

  private mutating func add(
    _ edge: EdgeDraft, _ dependency: DependencyModel, at address: StepAddress,
    _ gatherer: inout EdgeGatherer
  ) {
    let edge = hasServices || edge.condition == .ready ? toService(edge, dependency) : edge
    if !gatherer.add(edge) { reportTwice(dependency, edge.from, at: address) }
  }

  private mutating func reportTwice(
    _ dependency: DependencyModel, _ target: Int, at address: StepAddress
  ) {
    // Several instances of a group whose instances are not known here.
    let isPlain = pipelines[address.pipeline].index.find(dependency.step.span) != nil
    if !isPlain || dependency.traits.contains(.matched), groups[target]?.isExpanding == true {
      return
    }
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
    silent.forEachTarget(of: dependency, at: address) { _, target in found.append(target) }
    return found
  }

  private mutating func forEachTarget(
    of dependency: DependencyModel, at address: StepAddress, _ body: (inout Planner, Int) -> Void
  ) {
    let pipeline = pipelines[address.pipeline]
    guard let step = pipeline.index.find(dependency.step.span) else {
      if let target = instance(dependency, at: address) { body(&self, target) }
      return
    }
    if dependency.traits.contains(.matched) {
      for target in matched(dependency, step, at: address) { body(&self, target) }
    } else {
      body(&self, pipeline.operation(of: step))
    }
  }

  /// The instance that a dependency such as `test[os=linux]` refers to.
  private mutating func instance(_ dependency: DependencyModel, at address: StepAddress) -> Int? {
    let pipeline = pipelines[address.pipeline]
    let name = text.string(dependency.step.span)
    guard let bracket = name.firstIndex(of: "["),
      let step = pipeline.index.find(String(name[..<bracket]))
    else {
      reportUnknown(dependency.step.span, at: address)
      return nil
    }
    let suffix = String(name[bracket...])
    let number = pipeline.operation(of: step)
    if let member = instanceIndex.member(of: number, suffix, in: self) { return member }
    let group = groups[number]
    // The instances are not known here.
    if group?.isExpanding == true, hasOpenMatrix(self.address(of: number)) { return number }
    let known = group?.members.prefix(5).compactMap { instance(of: $0)?.suffix } ?? []
    log.report(at: dependency.step.span) {
      PlanningMessage.noInstance(
        name, of: String(name[..<bracket]), known: known, isLate: group?.isExpanding ?? false,
        at: $0)
    }
    return nil
  }

  /// The instances for `match: matrix`, which have the same values on the axes that both have.
  private mutating func matched(
    _ dependency: DependencyModel, _ step: Int, at address: StepAddress
  ) -> [Int] {
    let pipeline = pipelines[address.pipeline]
    // An invalid matrix has already been reported.
    if pipelines[address.pipeline].controlFlow(of: step)?.matrix != nil,
      groups[pipeline.operation(of: step)] == nil
    {
      return []
    }
    let number = pipeline.operation(of: step)
    let target = self.address(of: number)
    if hasOpenMatrix(address) && hasOpenMatrix(target),
      address.instance == nil || groups[number]?.isExpanding == true
    {
      return [number]
    }
    guard let own = address.instance.map({ instances[$0].values }),
      case .matrix? = groups[pipeline.operation(of: step)]?.kind
    else {
      log.report(at: dependency.step.span) { PlanningMessage.noMatch(at: $0) }
      return []
    }
    let members = instanceIndex.members(
      of: pipeline.operation(of: step), matching: own, in: self)
    if members.isEmpty || members.count > 1 && pipeline.pairs(dependency, with: address.step) {
      let suffix = address.instance.map { instances[$0].suffix } ?? ""
      log.report(at: dependency.step.span) {
        PlanningMessage.unmatched(pipeline.id(of: step, text), suffix, count: members.count, at: $0)
      }
    }
    return members
  }

  private mutating func reportUnknown(_ span: Span, at address: StepAddress) {
    let pipeline = pipelines[address.pipeline]
    let suggester = log.suggester
    log.report(at: span) { span in
      let (name, own) = (text.string(span), pipeline.id(of: address.step, text))
      let others = pipeline.model.steps.lazy.map { [text] in text.string($0.id.span) }
        .filter { $0 != own }
      let close = suggester.closest(to: name, among: others)
      return PlanningMessage.unknownStep(name, of: own, suggestion: close, at: span)
    }
  }
}

extension GroupDraft {
  var isExpanding: Bool { if case .expanding = kind { true } else { false } }
}
