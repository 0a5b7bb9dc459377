// How long services go on: who needs each of them, and whether it is ready. A ledger: what follows
// from it is done by those who keep it, the run and the dry run's forecast.

package import Scheduling

/// The services of a run, and the groups of the instances of one.
///
/// A service goes on until the last operation that needs it has ended: those that depend on it, and on
/// the group that it is an instance of. One that nothing depends on keeps the steps of its pipeline
/// company, until none is left but services and what waits for the end of one.
package struct Services: Sendable {
  private struct Entry: Sendable {
    let isGroup: Bool
    /// Operations that depend on it and have not ended.
    var userCount = 0
    /// Nothing depends on it: the pipeline whose steps it keeps company.
    var scope: OperationID?
    /// It goes on until it ends by itself, or is stopped with the run.
    var isEndless = false
    var readiness = Readiness.pending
    /// The number of members of a group that are not ready; nil while their number is not known.
    var unreadyCount: Int?
  }

  private enum Readiness: Sendable {
    case pending, ready, failed
  }

  private var entries: [OperationID: Entry] = [:]
  /// For each pipeline with a service that keeps company: steps that it keeps company to.
  private var company: [OperationID: Set<OperationID>] = [:]
  /// What may have lost the last operation that needed it.
  private var released: [OperationID] = []

  /// The scope of what is in no nested pipeline.
  private static let wholeRun = OperationID(-1)

  /// Nothing is to be kept account of.
  package var isEmpty: Bool { entries.isEmpty }
}

// What there is.
extension Services {
  /// Linear in the plan if it has services.
  package init(_ plan: Plan, _ groups: Groups) {
    guard plan.graph.hasServices else { return }
    for index in 0..<plan.graph.count {
      let operation = OperationID(index)
      if !plan.graph.takesSlot(operation) { add(operation, plan) }
    }
    for (group, draft) in plan.groups where !draft.members.isEmpty {
      entries[group]?.unreadyCount = draft.members.count
    }
    findCompany(plan, groups)
  }

  private mutating func add(_ operation: OperationID, _ plan: Plan) {
    var entry = Entry(isGroup: plan.groups[operation] != nil)
    plan.graph.forEachDependent(of: operation) { edge in
      if edge.condition.waitsForReadiness { entry.userCount += 1 }
    }
    entries[operation] = entry
  }

  /// An instance that was made while running.
  package mutating func add(member: OperationID, of group: OperationID) {
    guard entries[group] != nil else { return }
    entries[member] = Entry(isGroup: false)
    let count = entries[group]?.unreadyCount ?? 0
    entries[group]?.unreadyCount = count + 1
  }

  private mutating func findCompany(_ plan: Plan, _ groups: Groups) {
    for service in entries.keys where userCount(of: service, groups) == 0 {
      let isNamed = isNamed(service, plan, groups)
      let scope = scope(of: service, plan, groups)
      entries[service]?.isEndless = isNamed
      entries[service]?.scope = isNamed ? nil : scope
    }
    for scope in Set(entries.values.compactMap(\.scope)) {
      company[scope] = members(of: scope, plan, groups)
        .subtracting(entries.keys).subtracting(afterServices(in: scope, plan, groups))
    }
    // Where nobody is to be kept company, nothing would be left to end it.
    for (service, entry) in entries where entry.scope.map({ company[$0]?.isEmpty }) == true {
      entries[service]?.isEndless = true
      entries[service]?.scope = nil
    }
  }

  private func isNamed(_ service: OperationID, _ plan: Plan, _ groups: Groups) -> Bool {
    if plan.named.contains(service) { return true }
    guard let group = groups.group(of: service), entries[group] != nil else { return false }
    return plan.named.contains(group)
  }

  /// The nested pipeline that the operation is in.
  private func scope(of operation: OperationID, _ plan: Plan, _ groups: Groups) -> OperationID {
    var next = groups.group(of: operation)
    while let group = next {
      if plan.groups[group]?.isOfInstances == false { return group }
      next = groups.group(of: group)
    }
    return Self.wholeRun
  }

  private func members(
    of scope: OperationID, _ plan: Plan, _ groups: Groups
  ) -> Set<OperationID> {
    if scope != Self.wholeRun { return Set(groups.members(of: scope)) }
    return Set(
      (0..<plan.graph.count).lazy.map { OperationID($0) }.filter { groups.group(of: $0) == nil })
  }

  /// What comes after the end of a service that keeps company there.
  private func afterServices(
    in scope: OperationID, _ plan: Plan, _ groups: Groups
  ) -> Set<OperationID> {
    var found: Set<OperationID> = []
    var open: [OperationID] = []
    for (service, entry) in entries where entry.scope == scope {
      plan.graph.forEachDependent(of: service) { edge in
        if !edge.condition.waitsForReadiness, groups.group(of: service) != edge.to {
          open.append(edge.to)
        }
      }
    }
    while let operation = open.popLast() {
      guard found.insert(operation).inserted else { continue }
      plan.graph.forEachDependent(of: operation) { open.append($0.to) }
    }
    return found
  }
}

// How things stand.
extension Services {
  package func contains(_ operation: OperationID) -> Bool { entries[operation] != nil }

  /// It runs a command of its own.
  package func isService(_ operation: OperationID) -> Bool { entries[operation]?.isGroup == false }

  package func isReady(_ operation: OperationID) -> Bool { entries[operation]?.readiness == .ready }

  /// It goes on for nobody's sake: its exit status counts, as any step's.
  package func isEndless(_ operation: OperationID, _ groups: Groups) -> Bool {
    if userCount(of: operation, groups) > 0 { return false }
    return entries[operation]?.isEndless == true
      || serviceGroup(of: operation, groups).map {
        entries[$0]?.isEndless == true
      } == true
  }

  /// Something that has not ended needs it.
  package func isNeeded(_ operation: OperationID, _ groups: Groups) -> Bool {
    if userCount(of: operation, groups) > 0 { return true }
    let group = serviceGroup(of: operation, groups)
    return [operation, group].contains { service in
      guard let service, let entry = entries[service] else { return false }
      return entry.isEndless || entry.scope.map { company[$0]?.isEmpty == false } == true
    }
  }

  private func userCount(of operation: OperationID, _ groups: Groups) -> Int {
    let ofGroup = serviceGroup(of: operation, groups).flatMap { entries[$0]?.userCount }
    return (entries[operation]?.userCount ?? 0) + (ofGroup ?? 0)
  }

  /// The group of instances that it is one of.
  package func serviceGroup(of operation: OperationID, _ groups: Groups) -> OperationID? {
    groups.group(of: operation).flatMap { entries[$0] == nil ? nil : $0 }
  }
}

// What happens.
extension Services {
  /// An operation has ended: it needs nothing any more.
  package mutating func ended(_ operation: OperationID, in graph: Graph) {
    graph.forEachDependency(of: operation) { edge in
      guard edge.condition.waitsForReadiness, let count = entries[edge.from]?.userCount else {
        return
      }
      entries[edge.from]?.userCount = count - 1
      if count == 1 { released.append(edge.from) }
    }
    for scope in Array(company.keys) where company[scope]?.remove(operation) != nil {
      guard company[scope]?.isEmpty == true else { continue }
      released += entries.keys.filter { entries[$0]?.scope == scope }.sorted()
    }
  }

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
    let keepers = entries.keys.filter { entries[$0]?.scope != nil }.sorted()
    for keeper in keepers { entries[keeper]?.scope = nil }
    released += keepers
    return !keepers.isEmpty
  }

  /// What became of a service: answers the group that is ready with it, if one is.
  package mutating func becameReady(_ operation: OperationID, _ groups: Groups) -> OperationID? {
    entries[operation]?.readiness = .ready
    return settleMember(operation, groups)
  }

  /// A member of the group needs no waiting for any more: it is ready, or was skipped. Answers the
  /// group if it was the last one.
  package mutating func settleMember(_ operation: OperationID, _ groups: Groups) -> OperationID? {
    guard let group = serviceGroup(of: operation, groups),
      entries[group]?.readiness == .pending, let count = entries[group]?.unreadyCount
    else { return nil }
    entries[group]?.unreadyCount = count - 1
    if count > 1 { return nil }
    entries[group]?.readiness = .ready
    return group
  }

  /// A service has failed; answers the group that will never be ready because of it.
  package mutating func failed(_ operation: OperationID, _ groups: Groups) -> OperationID? {
    entries[operation]?.readiness = .failed
    guard let group = serviceGroup(of: operation, groups), entries[group]?.readiness == .pending
    else { return nil }
    entries[group]?.readiness = .failed
    return group
  }

  /// Another attempt is made.
  package mutating func restarts(_ operation: OperationID) {
    entries[operation]?.readiness = .pending
  }
}
