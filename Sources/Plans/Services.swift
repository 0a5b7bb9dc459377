// How long services go on: the operations that need each of them, and the groups that are ready
// with them. This is a ledger: its keepers, the run and the dry run's forecast, act on it.

package import Scheduling

/// The services of a run, and the groups in the background: those of the instances of a service,
/// and those whose file says so.
///
/// A service goes on until the last operation has ended that depends on it, or on a group in the
/// background around it. A service on which nothing depends keeps the steps of its pipeline
/// company: it goes on until only services are left, and operations that wait for the end of one.
package struct Services: Sendable {
  struct Entry: Sendable {
    /// True for a group: it runs nothing itself, but its members or copies go on, or will.
    let isGroup: Bool
    /// The number of operations that depend on it and have not ended.
    var userCount = 0
    /// The pipeline whose steps it keeps company; nil if it keeps none.
    var scope: OperationID?
    /// True if it goes on until it ends by itself, or is stopped with the run.
    var isEndless = false
    var readiness = Readiness.pending
    /// The number of members that the group waits for; nil while it is not known.
    var pendingCount: Int?
  }

  enum Readiness: Sendable {
    case pending, failed
    /// The service is ready, and its dependents were told this ending.
    case ready(Ending)
  }

  /// A change of a group because of a member.
  package enum GroupNews: Hashable, Sendable {
    /// The group waits for no more members.
    case isComplete(OperationID)
    /// The group will never be ready.
    case hasFailed(OperationID)
  }

  var entries: [OperationID: Entry] = [:]
  /// The groups in the background to which each operation belongs, as a member or as a copy.
  private(set) var groups: [OperationID: [OperationID]] = [:]
  /// The operations of patterns, with the outermost group whose instances get copies of them.
  private(set) var patterns: [OperationID: OperationID] = [:]
  /// The number of steps of each pipeline that its services keep company and that have not ended.
  var company: [OperationID: Int] = [:]
  /// The pipelines whose services keep each step company.
  var companions: [OperationID: [OperationID]] = [:]
  /// The services of each pipeline that keep its steps company.
  var keepers: [OperationID: [OperationID]] = [:]
  /// The services that may have lost the last operation that needed them.
  private var released: [OperationID] = []

  /// True if there are no services.
  package var isEmpty: Bool { entries.isEmpty }
}

// The entries.
extension Services {
  /// Finds the services of a plan. Linear in the plan if it has services. If `makesCopies` is
  /// false, the steps of a group whose matrix is not known run themselves, once.
  package init(_ plan: Plan, _ tree: Groups, makesCopies: Bool = true) {
    guard plan.graph.hasServices else { return }
    if makesCopies {
      // The outermost group is the last, because a group comes after those inside it.
      for group in plan.groups.keys.sorted() {
        for operation in plan.groups[group]?.pattern?.operations ?? [] {
          patterns[operation] = group
        }
      }
    }
    for index in 0..<plan.graph.count where !plan.graph.takesSlot(OperationID(index)) {
      let operation = OperationID(index)
      let isGroup = plan.groups[operation] != nil || patterns[operation] != nil
      entries[operation] = Entry(isGroup: isGroup)
    }
    for (group, draft) in plan.groups where patterns[group] == nil {
      if makesCopies, draft.pattern != nil { continue }
      for member in draft.members { join(member, to: group) }
    }
    for index in 0..<plan.graph.count { countUses(by: OperationID(index), in: plan.graph) }
    let places = ServiceGraph(plan.graph, tree, plan.named) { group in
      plan.groups[group].map { $0.pattern != nil || !$0.isOfInstances } ?? false
    }
    findCompany(of: Array(entries.keys), places)
    for service in plan.endlessServices { entries[service]?.isEndless = true }
  }

  /// Makes a group in the background wait until an operation is ready; other groups do not wait.
  private mutating func join(_ member: OperationID, to group: OperationID) {
    guard let count = entries[group].map({ $0.pendingCount ?? 0 }) else { return }
    entries[group]?.pendingCount = count + 1
    groups[member, default: []].append(group)
  }

  private mutating func countUses(by operation: OperationID, in graph: Graph) {
    graph.forEachDependency(of: operation) { edge in
      if isUse(edge) { entries[edge.from]?.userCount += 1 }
    }
  }

  /// True if the edge is a use of a service. Edges inside a pattern are none: there, copies use copies.
  func isUse(_ edge: Graph.Edge) -> Bool {
    guard edge.condition.waitsForReadiness else { return false }
    guard !patterns.isEmpty, let pattern = patterns[edge.from] else { return true }
    return patterns[edge.to] != pattern
  }

  /// Adds an instance of a service that was made while running.
  package mutating func add(member: OperationID, of group: OperationID) {
    guard entries[group] != nil else { return }
    entries[member] = Entry(isGroup: false)
    join(member, to: group)
  }

  /// Adds copies that were made while running. From then on their originals only stand for them,
  /// and the graph and the groups of `places` contain the copies.
  package mutating func add(_ copies: [ServiceCopy], _ places: ServiceGraph) {
    for copy in copies {
      if let pattern = copy.pattern { patterns[copy.operation] = pattern }
      guard entries[copy.original] != nil else { continue }
      entries[copy.operation] = Entry(isGroup: copy.isGroup || copy.pattern != nil)
    }
    for copy in copies {
      let group = places.groups.group(of: copy.operation)
      if let group, copy.pattern == nil { join(copy.operation, to: group) }
      if copy.original != group, entries[copy.operation] != nil {
        join(copy.operation, to: copy.original)
      }
      countUses(by: copy.operation, in: places.graph)
    }
    let added = copies.map(\.operation).filter { entries[$0] != nil }
    findCompany(of: added, places)
    released += added
  }
}

/// A copy of an operation, for one instance of a group.
package struct ServiceCopy {
  let operation: OperationID
  let original: OperationID
  let isGroup: Bool
  /// The group whose instances get copies of this copy.
  let pattern: OperationID?

  package init(
    _ operation: OperationID, of original: OperationID, isGroup: Bool, pattern: OperationID?
  ) {
    self.operation = operation
    self.original = original
    self.isGroup = isGroup
    self.pattern = pattern
  }
}

// Queries.
extension Services {
  package func contains(_ operation: OperationID) -> Bool { entries[operation] != nil }

  /// True if the operation is a service with a command of its own.
  package func isService(_ operation: OperationID) -> Bool { entries[operation]?.isGroup == false }

  package func isReady(_ operation: OperationID) -> Bool {
    readyEnding(of: operation) != nil
  }

  /// The ending that the dependents of an operation were told when it became ready.
  package func readyEnding(of operation: OperationID) -> Ending? {
    if case .ready(let ending)? = entries[operation]?.readiness { ending } else { nil }
  }

  /// True if the operation stands for copies that are made while running.
  package func isOriginal(_ operation: OperationID) -> Bool { patterns[operation] != nil }

  /// The groups in the background around an operation, and its original.
  package func groups(of operation: OperationID) -> [OperationID] { groups[operation] ?? [] }

  /// True if no operation needs this service: its exit status counts, as that of any step.
  package func isEndless(_ operation: OperationID) -> Bool {
    !hasUsers(operation) && contains(operation) { $0.isEndless }
  }

  /// True if an operation that has not ended needs this one, or it is endless.
  package func isNeeded(_ operation: OperationID) -> Bool {
    contains(operation) { entry in
      entry.userCount > 0 || entry.isEndless
        || entry.scope.map { (company[$0] ?? 0) > 0 } == true
    }
  }

  /// True if an operation that has not ended depends on this one.
  package func hasUsers(_ operation: OperationID) -> Bool {
    contains(operation) { $0.userCount > 0 }
  }

  /// True if the condition holds for the operation, or for a group in the background around it.
  func contains(_ operation: OperationID, where isTrue: (Entry) -> Bool) -> Bool {
    guard let entry = entries[operation] else { return false }
    return isTrue(entry) || groups(of: operation).contains { contains($0, where: isTrue) }
  }
}

// Changes.
extension Services {
  /// Called when an operation has ended, and so needs nothing any more.
  package mutating func ended(_ operation: OperationID, in graph: Graph) {
    graph.forEachDependency(of: operation) { edge in
      guard isUse(edge), let count = entries[edge.from]?.userCount else { return }
      entries[edge.from]?.userCount = count - 1
      if count == 1 { released.append(edge.from) }
    }
    for scope in companions.removeValue(forKey: operation) ?? [] {
      guard let count = company[scope] else { continue }
      company[scope] = count - 1
      guard count == 1 else { continue }
      released += (keepers.removeValue(forKey: scope) ?? [])
        .filter { entries[$0]?.scope == scope }.sorted()
    }
  }

  /// True if `takeReleased` would return anything.
  package var hasReleased: Bool { !released.isEmpty }

  /// The operations that may not be needed any more, since the last call.
  package mutating func takeReleased() -> [OperationID] {
    if released.isEmpty { return [] }
    defer { released = [] }
    return released
  }

  /// Makes `takeReleased` return an operation that may no longer be needed.
  package mutating func release(_ operation: OperationID) { released.append(operation) }

  /// Releases the services that keep others company, because nothing is left but them and the
  /// operations that wait for their ends. False if there are none.
  package mutating func releaseCompany() -> Bool {
    let left = entries.keys.filter { entries[$0]?.scope != nil }.sorted()
    for keeper in left { entries[keeper]?.scope = nil }
    released += left
    return !left.isEmpty
  }

  /// Called when the dependents of an operation are told that it ended like this, although it goes on.
  package mutating func becameReady(
    _ operation: OperationID, as ending: Ending = Ending(.succeeded)
  ) {
    entries[operation]?.readiness = .ready(ending)
  }

  /// Called when an operation will not be ready any more. False if that was known, or if it is ready.
  @discardableResult
  package mutating func giveUp(_ operation: OperationID) -> Bool {
    guard case .pending? = entries[operation]?.readiness else { return false }
    entries[operation]?.readiness = .failed
    return true
  }

  /// Called when a member is ready, or has ended, like this; returns the changes of its groups. A
  /// group that may fail waits for all of its members.
  package mutating func settle(
    _ member: OperationID, as ending: Ending, _ tree: Groups
  ) -> [GroupNews] {
    var news: [GroupNews] = []
    for group in groups(of: member) {
      guard case .pending? = entries[group]?.readiness, let count = entries[group]?.pendingCount
      else { continue }
      guard EdgeCondition.ready.isSatisfied(by: ending) || tree.forgives(group) else {
        entries[group]?.readiness = .failed
        news.append(.hasFailed(group))
        continue
      }
      entries[group]?.pendingCount = count - 1
      if count == 1 { news.append(.isComplete(group)) }
    }
    return news
  }
}
