// `max_parallel` of a matrix whose instances are several steps each: it limits the instances that
// are under way, from the first step of each to the end of the last. The run and the dry run's
// forecast share it.

package import Scheduling

/// The instances that are under way, and the steps that wait for others to end.
package struct InstanceLimits: Sendable {
  private var widths: [OperationID: Int] = [:]
  private var underWay: [OperationID: Set<OperationID>] = [:]
  /// The steps that wait, by their group and instance.
  private var held: [OperationID: [OperationID: [OperationID]]] = [:]
  /// The waiting steps whose instance may begin; they are asked about again.
  private var released: [OperationID] = []
  /// The steps that are expected to run nothing.
  private var idle: Set<OperationID>

  package var isEmpty: Bool { widths.isEmpty }

  /// Prepares the limits of a plan. If `makesCopies` is false, a group whose matrix is not known
  /// has no instances. The steps in `idle` are expected to run nothing, and wait only if they are to
  /// run after all.
  package init(_ plan: Plan, makesCopies: Bool = true, idle: Set<OperationID> = []) {
    self.idle = idle
    for (group, plan) in plan.groups where makesCopies || plan.pattern == nil { add(group, plan) }
  }

  package mutating func add(_ group: OperationID, _ plan: GroupPlan) {
    if let width = plan.width { widths[group] = width }
  }

  /// True if the instances around the operation are under way, or begin with it. Otherwise the operation waits.
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

  /// Notes that a step, which was made while running, is expected to run nothing.
  package mutating func expectNothing(of step: OperationID) { idle.insert(step) }

  /// True if the operation, which was admitted and is to run, may do so now. Otherwise it waits.
  package mutating func admitsToRun(_ operation: OperationID, _ groups: Groups) -> Bool {
    idle.remove(operation) == nil || admits(operation, groups)
  }

  /// Notes that a step runs again.
  package mutating func reopened(_ step: OperationID) { idle.remove(step) }

  /// Lets another instance begin if this one was under way.
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

  /// Lets one more instance begin, because nothing else goes on and so those under way must be
  /// waiting for it. False if none waits.
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
