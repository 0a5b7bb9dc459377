// The operations that a run adds to those of its plan: instances of matrices, and copies of the
// steps of groups.

package import Scheduling

/// The operations that were added during a run. Their numbers follow those of the plan without a gap.
package final class AddedOperations {
  package struct Addition: Sendable {
    package let id: String
    /// The origin of the operation: the group that it is an instance of, or the step that it is a copy of.
    package let origin: OperationID
    /// The dependencies, if they are not those of the origin: a copy waits for copies of its own instance.
    package let dependencies: [OperationID]
  }

  private let plan: Plan
  private var additions: [Addition] = []
  private var instances: [OperationID: [OperationID]] = [:]
  /// The number of steps as people count them: copies and instances count instead of their origin,
  /// and members instead of a group.
  package private(set) var stepCount: Int

  package init(to plan: Plan) {
    self.plan = plan
    stepCount = plan.stepCount
  }

  /// The number of all operations.
  package var count: Int { plan.steps.count + additions.count }

  package func append(
    _ operation: OperationID, id: String, from origin: OperationID,
    after dependencies: [OperationID]
  ) {
    precondition(operation.index == count, "numbers of new operations follow those of all others")
    additions.append(Addition(id: id, origin: origin, dependencies: dependencies))
    // The first instance is counted in place of its origin.
    if instances[origin] != nil, !plan.standsForOthers(planned(origin)) { stepCount += 1 }
    instances[origin, default: []].append(operation)
  }

  /// The addition that made the operation; nil if it is part of the plan.
  package subscript(operation: OperationID) -> Addition? {
    let place = operation.index - plan.steps.count
    return additions.indices.contains(place) ? additions[place] : nil
  }

  /// The operation of the plan from which this one was made, or itself. Linear in the depth of the groups.
  package func planned(_ operation: OperationID) -> OperationID {
    var planned = operation
    while let addition = self[planned] { planned = addition.origin }
    return planned
  }

  /// The id of an operation; nil if there is no such operation.
  package func id(of operation: OperationID) -> String? {
    plan.steps.indices.contains(operation.index)
      ? plan.steps[operation.index].id : self[operation]?.id
  }

  /// The dependencies of an operation: among copies of a group, only those of its own instance.
  package func dependencies(of operation: OperationID) -> [OperationID] {
    guard let addition = self[operation] else {
      return plan.graph.dependencies(of: operation).map(\.from)
    }
    return addition.dependencies.isEmpty
      ? dependencies(of: addition.origin) : addition.dependencies
  }

  /// The operations that were made from this one, in order; nil if there are none.
  package func instances(of operation: OperationID) -> [OperationID]? {
    instances.isEmpty ? nil : instances[operation]
  }

  /// True if people do not count the operation, because others take its place.
  package func standsForOthers(_ operation: OperationID) -> Bool {
    if additions.isEmpty { return plan.standsForOthers(operation) }
    return instances[operation] != nil || plan.standsForOthers(planned(operation))
  }
}
