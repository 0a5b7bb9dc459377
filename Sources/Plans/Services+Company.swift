// Services that nothing depends on, and the steps that they keep company.

package import Scheduling

/// The surroundings of services, in a plan or in a run.
package struct ServiceGraph {
  let graph: Graph
  let groups: Groups
  /// The steps that were named for the run.
  let named: Set<OperationID>
  /// True for a group that consists of the steps of a pipeline.
  let isPipeline: (OperationID) -> Bool

  package init(
    _ graph: Graph, _ groups: Groups, _ named: Set<OperationID>,
    isPipeline: @escaping (OperationID) -> Bool
  ) {
    self.graph = graph
    self.groups = groups
    self.named = named
    self.isPipeline = isPipeline
  }
}

extension Services {
  /// The scope of services outside of nested pipelines.
  private static let wholeRun = OperationID(-1)

  mutating func findCompany(of services: [OperationID], _ places: ServiceGraph) {
    let divided = groupsUsedInPart(services, places)
    for service in services where !hasUsers(service) {
      if places.named.contains(service) {
        entries[service]?.isEndless = true
      } else if !isOriginal(service), !divided.contains(service),
        !goesOnWithGroup(service, places, except: divided)
      {
        let scope = scope(of: service, places)
        entries[service]?.scope = scope
        keepers[scope, default: []].append(service)
      }
    }
    var newScopes: [OperationID: [OperationID]] = [:]
    for service in services {
      for scope in scopes(of: service) where company[scope] == nil {
        newScopes[scope, default: []].append(service)
      }
    }
    for (scope, services) in newScopes {
      let followers = followers(of: services, places)
      let members = members(of: scope, places).filter {
        entries[$0] == nil && !followers.contains($0)
      }
      company[scope] = members.count
      for member in members { companions[member, default: []].append(scope) }
      if !members.isEmpty { continue }
      // Without steps to keep company, nothing would end the service.
      for service in services where entries[service]?.scope == scope {
        entries[service]?.isEndless = true
        entries[service]?.scope = nil
      }
    }
  }

  /// The groups in the background of which operations outside need only parts, such as an instance:
  /// then each part goes on as long as it is needed.
  private func groupsUsedInPart(
    _ services: [OperationID], _ places: ServiceGraph
  ) -> Set<OperationID> {
    var found: Set<OperationID> = []
    for service in services where !isOriginal(service) {
      let around = places.groups.around(service).prefix { entries[$0] != nil }
      if around.isEmpty { continue }
      places.graph.forEachDependent(of: service) { edge in
        guard isUse(edge) else { return }
        let common = Set(places.groups.around(edge.to))
        found.formUnion(around.prefix { !common.contains($0) })
      }
    }
    return found
  }

  /// True if the service goes on as long as a group around it.
  private func goesOnWithGroup(
    _ service: OperationID, _ places: ServiceGraph, except divided: Set<OperationID>
  ) -> Bool {
    places.groups.around(service).prefix { entries[$0] != nil }.contains { !divided.contains($0) }
  }

  /// The pipelines whose steps the service keeps company, together with all groups in the background around it.
  private func scopes(of service: OperationID) -> Set<OperationID> {
    groups(of: service).reduce(into: Set([entries[service]?.scope].compactMap(\.self))) {
      $0.formUnion(scopes(of: $1))
    }
  }

  /// The nearest pipeline around the operation that ends with its steps.
  private func scope(of operation: OperationID, _ places: ServiceGraph) -> OperationID {
    var next = places.groups.group(of: operation)
    while let group = next {
      if entries[group] == nil, places.isPipeline(group) { return group }
      next = places.groups.group(of: group)
    }
    return Self.wholeRun
  }

  private func members(of scope: OperationID, _ places: ServiceGraph) -> Set<OperationID> {
    if scope != Self.wholeRun { return Set(places.groups.members(of: scope)) }
    return Set(
      (0..<places.graph.count).lazy.map { OperationID($0) }.filter {
        places.groups.group(of: $0) == nil
      })
  }

  /// The operations that come after the end of one of these services.
  private func followers(
    of services: [OperationID], _ places: ServiceGraph
  ) -> Set<OperationID> {
    var found: Set<OperationID> = []
    var open: [OperationID] = []
    for service in services {
      places.graph.forEachDependent(of: service) { edge in
        let isOwnGroup = places.groups.group(of: service) == edge.to
        if !edge.condition.waitsForReadiness, !isOwnGroup { open.append(edge.to) }
      }
    }
    while let operation = open.popLast() {
      guard found.insert(operation).inserted else { continue }
      places.graph.forEachDependent(of: operation) { open.append($0.to) }
    }
    return found
  }
}
