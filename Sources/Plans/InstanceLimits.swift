// `max_parallel` of a matrix whose instances are several steps each: so many instances are under way
// at once, from the first step of each to the end of the last. The run and the dry run's forecast share it.

package import Scheduling

/// The instances that are under way, and what waits for others to end.
package struct InstanceLimits: Sendable {
  private var widths: [OperationID: Int] = [:]
  private var underWay: [OperationID: Set<OperationID>] = [:]
  /// The steps that wait, by their group and instance.
  private var held: [OperationID: [OperationID: [OperationID]]] = [:]
  /// Steps whose instance may begin; they are asked again.
  private var released: [OperationID] = []
  /// Steps that are expected to run nothing.
  private var idle: Set<OperationID>

  package var isEmpty: Bool { widths.isEmpty }

  /// If `makesCopies` is false, a group whose matrix is not known has no instances. Steps in `idle` are expected to run
  /// nothing, and wait only if they are to run after all.
  package init(_ plan: Plan, makesCopies: Bool = true, idle: Set<OperationID> = []) {
    self.idle = idle
    for (group, plan) in plan.groups where makesCopies || plan.pattern == nil { add(group, plan) }
  }

  package mutating func add(_ group: OperationID, _ plan: GroupPlan) {
    if let width = plan.width { widths[group] = width }
  }

  /// Whether the instances that the operation is in are under way, or begin with it. Otherwise it waits.
  package mutating func admits(_ operation: OperationID, _ groups: Groups) -> Bool {
    if idle.contains(operation) { return true }
    var limits: [(group: OperationID, instance: OperationID)] = []
    var instance = operation
    while let group = groups.group(of: instance) {
      if widths[group] != nil { limits.append((group, instance)) }
      instance = group
    }
    for (group, instance) in limits.reversed() {
      let running = underWay[group, default: []]
      if running.contains(instance) { continue }
      guard running.count < widths[group] ?? .max else {
        held[group, default: [:]][instance, default: []].append(operation)
        return false
      }
      underWay[group, default: []].insert(instance)
    }
    return true
  }

  /// A step that was made while running is expected to run nothing.
  package mutating func expectNothing(of step: OperationID) { idle.insert(step) }

  /// Whether the operation, which was admitted and is to run, may do so now. Otherwise it waits.
  package mutating func admitsToRun(_ operation: OperationID, _ groups: Groups) -> Bool {
    idle.remove(operation) == nil || admits(operation, groups)
  }

  /// A step runs again.
  package mutating func reopened(_ step: OperationID) { idle.remove(step) }

  /// An instance may have ended: another one begins.
  package mutating func ended(_ instance: OperationID, _ groups: Groups) {
    guard let group = groups.group(of: instance), widths[group] != nil else { return }
    held[group]?[instance] = nil
    if underWay[group]?.remove(instance) != nil { release(group) }
  }

  private mutating func release(_ group: OperationID) {
    guard let next = held[group]?.keys.min() else { return }
    underWay[group, default: []].insert(next)
    released += held[group]?.removeValue(forKey: next) ?? []
  }

  /// Called when nothing else goes on, so that the instances under way wait for one that is not: lets that one begin.
  /// False if none waits.
  package mutating func releaseOneMore() -> Bool {
    guard let group = held.filter({ !$0.value.isEmpty }).keys.min() else { return false }
    release(group)
    return true
  }

  package mutating func takeReleased() -> [OperationID] {
    if released.isEmpty { return [] }
    defer { released = [] }
    return released
  }
}

/// Steps that are expected to run nothing, so that they need not wait for instances to end.
package struct IdleSteps: Sendable {
  package var planned: Set<OperationID> = []
  /// The ids of those that become known while running.
  package var late: Set<String> = []

  package init() {}
}
