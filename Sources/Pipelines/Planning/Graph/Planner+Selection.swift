// Selects the operations of a plan: all, those that the file selects, or some that were named; and
// their dependencies.

import Diagnostics
import Expressions
import Plans
import Scheduling

extension Planner {
  /// True for each operation that runs; nil means all. Throws for a name that is not a step, and if
  /// nothing is left.
  mutating func selection(path: String) throws(PlanningFailure) -> [Bool]? {
    guard !options.selection.isEmpty else {
      if options.showsEveryStep || !pipelines.contains(where: \.leavesOut) { return nil }
      if !pipelines[0].usualSteps.isEmpty { return closure(of: usualOperations(of: pipelines[0])) }
      throw PlanningMessage.everyStepIsManual(
        path: path, example: text.string(pipelines[0].model.steps[0].id.span))
    }
    var selected: [Int] = []
    var byID: [String: Int]?
    var faults: [UnknownStep] = []
    for name in options.selection {
      if let step = pipelines[0].index.find(name) {
        selected.append(pipelines[0].operation(of: step))
        continue
      }
      if case .found(let operations, _) = operations(named: name, in: 0) {
        selected += operations
        continue
      }
      let instances = instances(partlyNamed: name)
      if !instances.isEmpty {
        selected += instances
        continue
      }
      let isPlain = addresses.isEmpty && !pipelines[0].hasVarSteps
      let known = byID ?? (isPlain ? [:] : operationsByID)
      byID = known
      guard let operation = known[name] else {
        let close =
          id(ofStepNamed: name)
          ?? suggestion(
            for: name,
            among: (0..<operationCount).lazy.map { [planner = self] in planner.id(of: $0) })
        faults.append(
          UnknownStep(
            name: name, message: PlanningMessage.unknownSelection(name, path: path), closest: close,
            instances: self.instances(near: name)))
        if faults.count == ParameterFaults.limit { break }
        continue
      }
      selected.append(operation)
    }
    if !faults.isEmpty { throw .unknownSteps(faults) }
    named = selected
    return closure(of: selected + commandsNeededAtEnd(of: pipelines[0]))
  }

  /// The instances that have all the values of a name that leaves others out:
  /// `test[os=linux,python=3.12]` for `test[os=linux]`; a step may follow the values.
  private func instances(partlyNamed name: String) -> [Int] {
    let path = StepPath(name[...])
    guard let step = pipelines[0].index.find(String(path.id)) else { return [] }
    let group = groups[pipelines[0].operation(of: step)]
    for (suffix, rest) in path.instances {
      let wanted = suffix.dropFirst().dropLast().split(separator: ",")
      let members = (group?.members ?? []).filter { member in
        guard let values = instance(of: member)?.values else { return false }
        let pairs = zip(values.names, values.values).map { "\($0)=\($1.text ?? $1.json)" }
        return !wanted.isEmpty && wanted.allSatisfy { pairs.contains(String($0)) }
      }
      if members.isEmpty { continue }
      if rest.isEmpty { return members }
      if case .found(let operations, _) = operations(at: rest, in: members, isInside: true) {
        return operations
      }
    }
    return []
  }

  /// The instances that exist, if a name is like that of one; otherwise nil.
  private func instances(near name: String) -> String? {
    guard let bracket = name.lastIndex(of: "["),
      let operation = operationsByID[String(name[..<bracket])], let group = group(operation)
    else { return nil }
    if group.isExpanding { return PlanningMessage.lateInstances(of: id(of: operation)) }
    let known = group.members.prefix(5).filter { instance(of: $0) != nil }.map { id(of: $0) }
    return known.isEmpty ? nil : PlanningMessage.instances(known)
  }

  /// The id of the step with this `name`.
  private func id(ofStepNamed name: String) -> String? {
    let root = pipelines[0]
    let step = root.model.steps.indices.first { step in
      let attributes = root.model.steps[step].attributes
      return attributes >= 0 && root.model.attributes[Int(attributes)].label == .plain(name)
    }
    return step.map { root.id(of: $0, text) }
  }

  private var operationsByID: [String: Int] {
    Dictionary((0..<operationCount).map { (id(of: $0), $0) }, uniquingKeysWith: { _, last in last })
  }

  private func usualOperations(of pipeline: PipelineUse) -> [Int] {
    pipeline.usualSteps.map(pipeline.operation) + commandsNeededAtEnd(of: pipeline)
  }

  /// True for each operation that runs if no step is named; nil means all.
  func keptIfNoneIsNamed() -> [Bool]? {
    guard pipelines.contains(where: \.leavesOut) else { return nil }
    var copy = self
    return copy.closure(of: usualOperations(of: pipelines[0]))
  }

  /// Reports names in `default` that are not steps, and uses of files in which nothing would run.
  mutating func checkDefaults() {
    var checked: Set<UInt32> = []
    let text = text
    for pipeline in pipelines where pipeline.leavesOut {
      for name in pipeline.model.defaultSteps ?? []
      where pipeline.index.find(name.name) == nil && checked.insert(name.span.start).inserted {
        let ids = pipeline.model.steps.indices.lazy.map { pipeline.id(of: $0, text) }
        let close =
          log.hasRoom(at: name.span) ? log.suggester.closest(to: name.name, among: ids) : nil
        let help =
          name.name.contains("[")
          ? "'default' names steps, each with all of its instances"
          : didYouMean(close)
        log.report(at: name.span) { PlanningMessage.unknownDefault(name.name, help: help, at: $0) }
      }
      guard let parent = pipeline.parent, pipeline.model.defaultSteps == nil,
        pipeline.usualSteps.isEmpty
      else { continue }
      let user = pipelines[parent.pipeline]
      guard case .uses(let number) = user.model.steps[parent.step].action else { continue }
      let span = user.model.uses[Int(number)].span
      if checked.insert(span.start).inserted {
        log.report(at: span) { PlanningMessage.nothingToUse(at: $0) }
      }
    }
  }

  /// True for each operation that is among these, or a dependency of these. An optional dependency
  /// is not needed.
  private mutating func closure(of selected: [Int]) -> [Bool] {
    var isNeeded = [Bool](repeating: false, count: operationCount)
    var waiting = selected
    while !waiting.isEmpty {
      while let operation = waiting.popLast() {
        if isNeeded[operation] { continue }
        isNeeded[operation] = true
        if let number = group(operation)?.steps, pipelines[number].leavesOut {
          waiting += usualOperations(of: pipelines[number])
          continue
        }
        for edge in graph.dependencies(of: OperationID(operation)) {
          let key = UInt64(edge.from.index) << 32 | UInt64(operation)
          if !optionalEdges.contains(key) { waiting.append(edge.from.index) }
        }
      }
      waiting = matrices(ofWhich: isNeeded)
    }
    if addresses.isEmpty { return isNeeded }
    let whole = isNeeded
    for operation in isNeeded.indices where isNeeded[operation] {
      addLimits(around: operation, to: &isNeeded)
    }
    // Nothing needs the whole of such a group: its services go on for the steps that need them.
    for operation in isNeeded.indices where isNeeded[operation] && !whole[operation] {
      graph.setTakesSlot(OperationID(operation))
    }
    return isNeeded
  }

  /// The matrices that are not needed by name, but all of whose instances are: then the whole step is.
  private func matrices(ofWhich isNeeded: [Bool]) -> [Int] {
    groups.compactMap { operation, group in
      guard case .matrix = group.kind, !isNeeded[operation], !group.members.isEmpty else {
        return nil
      }
      return group.members.allSatisfy { isNeeded[$0] } ? operation : nil
    }
  }

  /// Adds the groups around a selected operation whose settings apply to all of their steps together.
  private func addLimits(around operation: Int, to isNeeded: inout [Bool]) {
    // A group waits for the groups in it, and a group whose instances are made during the run also
    // copies them.
    var inside: [Int] = []
    var address = addresses[operation]
    while true {
      let pipeline = pipelines[address.pipeline]
      if address.instance != nil { inside.append(pipeline.operation(of: address.step)) }
      guard let parent = pipeline.parent else { return }
      let outer = pipelines[parent.pipeline]
      let settings = outer.settings(ofStep: parent.step)
      let own = settings < 0 ? [] : outer.model.settings[Int(settings)]
      inside.append(pipeline.group)
      let isPattern = groups[pipeline.group]?.pattern != nil
      if isPattern || pipeline.model.hasRulesOfItsOwn || own.contains(where: \.isOfWhole) {
        for group in inside { isNeeded[group] = true }
      }
      address = parent
    }
  }
}

extension PipelineModel {
  /// True if the pipeline has settings for all of its steps together.
  fileprivate var hasRulesOfItsOwn: Bool {
    hasTimeout || !hooks.isEmpty || failurePolicy != .continue
  }
}

extension Setting {
  /// True if the setting applies to several steps together.
  fileprivate var isOfWhole: Bool {
    switch self {
    case .timeout, .allowFailure, .allowFailureIf: true
    case .early(let value): value.key == .timeout
    case .environment, .workingDirectory, .baseDirectory, .shell, .standardInput, .retry, .stop,
      .logLimit, .nice, .tty, .untrustedOutput,
      .orphans, .jobserver, .hook, .outputs, .cache, .executor, .slurm:
      false
    }
  }
}

/// The numbers of the operations that were kept.
struct Renumbering {
  /// The new numbers by the old ones; empty if nothing was left out.
  private var numbers: [Int32] = []

  init(_ isKept: [Bool]?) {
    guard let isKept else { return }
    var next: Int32 = 0
    for keep in isKept {
      numbers.append(keep ? next : -1)
      if keep { next += 1 }
    }
  }

  subscript(operation: Int) -> OperationID? {
    if numbers.isEmpty { return OperationID(operation) }
    return numbers[operation] < 0 ? nil : OperationID(Int(numbers[operation]))
  }
}

extension Graph {
  /// The operations for which `isKept` is true, and the edges among them, in the same order.
  func subgraph(_ isKept: [Bool]) -> Graph {
    var result = Graph()
    var ids: [OperationID?] = []
    for index in 0..<count {
      ids.append(isKept[index] ? result.append(self[OperationID(index)]) : nil)
    }
    for index in 0..<count {
      guard let id = ids[index] else { continue }
      for edge in dependencies(of: OperationID(index)) {
        if let other = ids[edge.from.index] {
          result.addEdge(from: other, to: id, when: edge.condition)
        }
      }
    }
    return result
  }
}
