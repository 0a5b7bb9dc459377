// Distant steps: another step names their outputs or outcome although it depends on them only
// indirectly. docs/design-planning.md, “Distant steps”.

import Diagnostics
import Expressions
import Plans
import Scheduling

/// Finds references to distant steps while expressions are checked, and keeps their names.
final class DistantSteps {
  /// A name in a step whose `depends_on` does not contain it.
  struct Reference: Hashable {
    let step: StepAddress
    let name: String
  }

  private(set) var references: [Reference] = []
  /// The names of members of groups and matrices that are evaluated when all steps of a pipeline
  /// use have ended.
  private(set) var members: [Int: Set<String>] = [:]
  private var known: Set<Reference> = []
  private let planner: Planner
  private lazy var ancestry = Ancestry(planner.graph, budget: Self.budget)
  /// The dependencies of the step that was asked about last; all of a list have ended when it starts.
  private var roots: (step: StepAddress, lists: [[Int]])?
  /// The dependencies of the steps that are groups around others.
  private var outerRoots: [StepAddress: [[Int]]] = [:]

  /// The number of comparisons of operations for one plan.
  private static let budget = 50_000_000

  /// Prepares the search; the edges of the planner have been added.
  init(_ planner: Planner) { self.planner = planner }

  /// True if the named operations have always ended when the step starts. Then the name is kept.
  func isBefore(_ step: Int, of pipeline: PipelineUse, _ name: String) -> Bool {
    let address = StepAddress(pipeline: pipeline.number, step: step)
    let reference = Reference(step: address, name: name)
    if known.contains(reference) { return true }
    guard let ancestry,
      case .found(let targets, _) = planner.operations(named: name, in: pipeline.number),
      !targets.isEmpty
    else { return false }
    guard targets.allSatisfy({ hasEnded($0, before: address, ancestry) }) else { return false }
    known.insert(reference)
    references.append(reference)
    return true
  }

  /// True if the named operations wait for the step, so that the step cannot wait for them.
  func isAfter(_ step: Int, of pipeline: PipelineUse, _ name: String) -> Bool {
    guard let ancestry,
      case .found(let targets, _) = planner.operations(named: name, in: pipeline.number)
    else { return false }
    let own = OperationID(pipeline.operation(of: step))
    return targets.contains { ancestry.isBefore(own, OperationID($0)) }
  }

  /// True if the name stands for steps or instances in the pipeline use. Then it is kept.
  func isIn(_ pipeline: PipelineUse, _ target: PathTarget, _ name: String) -> Bool {
    guard case .found(let targets, true) = planner.operations(named: name, in: pipeline.number),
      !targets.isEmpty
    else { return false }
    // The future instances are not known.
    if target.isOne, targets.contains(where: { planner.group($0)?.isExpanding == true }) {
      return false
    }
    members[pipeline.number, default: []].insert(name)
    return true
  }

  /// True if an operation has ended when a step starts; a group has ended also if all of its members have.
  private func hasEnded(_ target: Int, before step: StepAddress, _ ancestry: Ancestry) -> Bool {
    if ancestry.isExhausted { return false }
    func isBefore(_ lists: [[Int]]) -> Bool {
      lists.contains { list in
        list.allSatisfy { $0 == target || ancestry.isBefore(OperationID(target), OperationID($0)) }
      }
    }
    if isBefore(lists(of: step)) { return true }
    var inner = step
    while let outer = planner.stepAround(inner) {
      if isBefore(outerLists(of: outer)) { return true }
      inner = outer
    }
    let members = planner.group(target)?.members ?? []
    return !members.isEmpty && members.allSatisfy { hasEnded($0, before: step, ancestry) }
  }

  private func lists(of step: StepAddress) -> [[Int]] {
    if let roots, roots.step == step { return roots.lists }
    let lists = planner.dependencyLists(of: step)
    roots = (step, lists)
    return lists
  }

  private func outerLists(of step: StepAddress) -> [[Int]] {
    if let known = outerRoots[step] { return known }
    let lists = planner.dependencyLists(of: step)
    outerRoots[step] = lists
    return lists
  }
}

extension Planner {
  /// The step that is the group around another step.
  fileprivate func stepAround(_ step: StepAddress) -> StepAddress? {
    pipelines[step.pipeline].around.map { StepAddress(pipeline: $0.use.number, step: $0.step) }
  }

  /// The dependencies of a step, without services, which go on. All of a list have ended when the
  /// step, or an instance of it, starts.
  fileprivate func dependencyLists(of address: StepAddress) -> [[Int]] {
    let pipeline = pipelines[address.pipeline]
    var lists: [[Int]] = []
    for number in pipeline.model.dependencyRange(of: address.step) {
      let dependency = pipeline.model.dependencies[number]
      if dependency.condition.waitsForReadiness { continue }
      if dependency.traits.contains(.matched), let found = pipeline.find(dependency.step.span) {
        // Each instance waits for at least one of the members.
        let operation = found.use.operation(of: found.step)
        let members = groups[operation]?.members ?? []
        lists.append(members.isEmpty ? [operation] : members)
      } else {
        lists += targets(of: dependency, at: address).map { [$0] }
      }
    }
    if pipeline.model.hasSequence {
      let before = pipeline.sequenceBefore(address.step)
      let steps = Array(before.manual) + [before.required].compactMap(\.self)
      lists += steps.map { [pipeline.operation(of: $0)] }
    }
    return hasServices ? lists.filter { !$0.contains(where: isService) } : lists
  }

  /// Adds edges from the distant steps. A step between the two may be blocked while the distant one
  /// still runs, so the path between them is not enough.
  mutating func addEdges(fromDistantSteps references: [DistantSteps.Reference]) {
    var gatherer = EdgeGatherer(operationCount: operationCount)
    distantSteps = Dictionary(grouping: references, by: \.step).mapValues { $0.map(\.name) }
    var edgeCount = graph.edgeCount
    for (step, names) in distantSteps.sorted(by: { $0.key.isBefore($1.key) }) {
      var targets: [Int] = []
      for name in names {
        guard case .found(let found, _) = operations(named: name, in: step.pipeline) else {
          continue
        }
        targets += found
      }
      for operation in beginners(of: pipelines[step.pipeline].operation(of: step.step)) {
        gatherer.begin()
        for edge in graph.dependencies(of: OperationID(operation)) {
          _ = gatherer.add(EdgeDraft(from: edge.from.index, condition: edge.condition))
        }
        for target in targets
        where gatherer.add(EdgeDraft(from: target, condition: .done)) {
          graph.addEdge(from: OperationID(target), to: OperationID(operation), when: .done)
          optionalEdges.insert(UInt64(target) << 32 | UInt64(operation))
          edgeCount += 1
        }
        guard edgeCount <= PipelineModel.maxDependencyCount else {
          return log.report(at: pipelines[0].model.steps[0].id.span) {
            PlanningMessage.tooManyEdges(at: $0)
          }
        }
      }
    }
  }

  /// The operations with which a step begins: itself, its instances, or all operations in it.
  private func beginners(of operation: Int) -> [Int] {
    guard let group = group(operation) else { return [operation] }
    if let pipeline = group.steps {
      return pipelines[pipeline].operations.flatMap { $0 < 0 ? [] : beginners(of: Int($0)) }
    }
    return group.isExpanding || group.members.isEmpty
      ? [operation] : group.members.flatMap { beginners(of: $0) }
  }
}
