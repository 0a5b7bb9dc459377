// How long services go on: who needs each of them, and which groups are ready with them. A ledger: what
// follows from it is done by those who keep it, the run and the dry run's forecast.

package import Scheduling

/// The services of a run, and the groups in the background: those of the instances of a service, and those
/// whose file says so.
///
/// A service goes on until the last operation that needs it has ended: those that depend on it, and on
/// the groups in the background that it is in. What nothing depends on keeps the steps of its pipeline
/// company, until none is left but services and what waits for the end of one.
package struct Services: Sendable {
  struct Entry: Sendable {
    /// It runs nothing itself: others are, or will be, what goes on.
    let isGroup: Bool
    /// Operations that depend on it and have not ended.
    var userCount = 0
    /// Nothing depends on it: the pipeline whose steps it keeps company.
    var scope: OperationID?
    /// It goes on until it ends by itself, or is stopped with the run.
    var isEndless = false
    var readiness = Readiness.pending
    /// The number of members of a group that are waited for; nil while their number is not known.
    var pendingCount: Int?
  }

  enum Readiness: Sendable {
    case pending, failed
    /// It is ready, and its dependents were told this ending.
    case ready(Ending)
  }

  /// What has become of a group because of a member.
  package enum GroupNews: Hashable, Sendable {
    /// No member is waited for any more.
    case isComplete(OperationID)
    /// It will never be ready.
    case hasFailed(OperationID)
  }

  var entries: [OperationID: Entry] = [:]
  /// The groups in the background that an operation is a member of, or that it is a copy of.
  private(set) var groups: [OperationID: [OperationID]] = [:]
  /// Operations of which each instance of a group gets a copy, with the outermost such group.
  private(set) var patterns: [OperationID: OperationID] = [:]
  /// How many steps each pipeline's services keep company to, and have not ended.
  var company: [OperationID: Int] = [:]
  /// The pipelines whose services keep a step company.
  var companions: [OperationID: [OperationID]] = [:]
  /// The services of each pipeline that keep its steps company.
  var keepers: [OperationID: [OperationID]] = [:]
  /// What may have lost the last operation that needed it.
  private var released: [OperationID] = []

  /// Nothing is to be kept account of.
  package var isEmpty: Bool { entries.isEmpty }
}

// What there is.
extension Services {
  /// Linear in the plan if it has services. If `makesCopies` is false, the steps of a group whose matrix
  /// is not known run themselves, once.
  package init(_ plan: Plan, _ tree: Groups, makesCopies: Bool = true) {
    guard plan.graph.hasServices else { return }
    if makesCopies {
      // A group comes after those inside it.
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

  /// Makes an operation one that a group waits for to be ready, if it is one in the background.
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

  /// Whether the edge is a use of a service. Inside a pattern it is none: there, copies use copies.
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

  /// Adds copies that were made while running. Their originals stand for them from now on, and the graph and
  /// the groups of `places` contain them.
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
  /// The group of which each instance gets a copy of this copy.
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

// How things stand.
extension Services {
  package func contains(_ operation: OperationID) -> Bool { entries[operation] != nil }

  /// It runs a command of its own.
  package func isService(_ operation: OperationID) -> Bool { entries[operation]?.isGroup == false }

  package func isReady(_ operation: OperationID) -> Bool {
    readyEnding(of: operation) != nil
  }

  /// What the dependents of something were told that is ready.
  package func readyEnding(of operation: OperationID) -> Ending? {
    if case .ready(let ending)? = entries[operation]?.readiness { ending } else { nil }
  }

  /// It stands for copies that are made while running.
  package func isOriginal(_ operation: OperationID) -> Bool { patterns[operation] != nil }

  /// The groups in the background that it is in, and what it is a copy of.
  package func groups(of operation: OperationID) -> [OperationID] { groups[operation] ?? [] }

  /// It goes on for nobody's sake: its exit status counts, as any step's.
  package func isEndless(_ operation: OperationID) -> Bool {
    !hasUsers(operation) && contains(operation) { $0.isEndless }
  }

  /// Something that has not ended needs it.
  package func isNeeded(_ operation: OperationID) -> Bool {
    contains(operation) { entry in
      entry.userCount > 0 || entry.isEndless
        || entry.scope.map { (company[$0] ?? 0) > 0 } == true
    }
  }

  /// Something that has not ended depends on it.
  package func hasUsers(_ operation: OperationID) -> Bool {
    contains(operation) { $0.userCount > 0 }
  }

  /// Whether the condition holds for it, or for anything in the background that it is in.
  func contains(_ operation: OperationID, where isTrue: (Entry) -> Bool) -> Bool {
    guard let entry = entries[operation] else { return false }
    return isTrue(entry) || groups(of: operation).contains { contains($0, where: isTrue) }
  }
}

// What happens.
extension Services {
  /// An operation has ended: it needs nothing any more.
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

  /// Whether `takeReleased` would return anything.
  package var hasReleased: Bool { !released.isEmpty }

  /// What may be needed no more since the last call.
  package mutating func takeReleased() -> [OperationID] {
    if released.isEmpty { return [] }
    defer { released = [] }
    return released
  }

  /// Makes `takeReleased` return an operation that may no longer be needed.
  package mutating func release(_ operation: OperationID) { released.append(operation) }

  /// Nothing but such services is left: company is kept to what waits for them.
  package mutating func releaseCompany() -> Bool {
    let left = entries.keys.filter { entries[$0]?.scope != nil }.sorted()
    for keeper in left { entries[keeper]?.scope = nil }
    released += left
    return !left.isEmpty
  }

  /// Its dependents are told that it ended like this, although it goes on.
  package mutating func becameReady(
    _ operation: OperationID, as ending: Ending = Ending(.succeeded)
  ) {
    entries[operation]?.readiness = .ready(ending)
  }

  /// It will not be ready any more. False if that was known, or it is.
  @discardableResult
  package mutating func giveUp(_ operation: OperationID) -> Bool {
    guard case .pending? = entries[operation]?.readiness else { return false }
    entries[operation]?.readiness = .failed
    return true
  }

  /// A member is ready, or has ended, like this: what that means for the groups that it is in. A group that
  /// may fail waits for all of its members.
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
