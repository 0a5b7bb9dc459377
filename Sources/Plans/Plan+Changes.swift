// Plans that differ from others only in a few fields.

package import Scheduling

extension Plan {
  /// The plan with the durations that steps had in earlier runs, as far as they are known.
  package func expecting(_ duration: (_ id: String) -> Nanoseconds?) -> Plan {
    var plan = self
    for index in steps.indices {
      guard let duration = duration(steps[index].id) else { continue }
      plan.graph.setExpected(duration, of: OperationID(index))
      plan.knowsEarlierRuns = true
    }
    return plan
  }

  /// The plan with the durations of all steps, by their numbers.
  package func expecting(_ durations: [Nanoseconds]) -> Plan {
    var plan = self
    for (index, duration) in durations.enumerated() {
      plan.graph.setExpected(duration, of: OperationID(index))
      plan.knowsEarlierRuns = true
    }
    return plan
  }

  /// The plan with other durations of some steps.
  package func expecting(_ durations: [OperationID: Nanoseconds]) -> Plan {
    var plan = self
    for (operation, duration) in durations { plan.graph.setExpected(duration, of: operation) }
    return plan
  }

  /// The plan with other queues, in the same order.
  package func replacingQueues(_ queues: [QueueSpec]) -> Plan {
    var plan = self
    plan.queues = queues
    return plan
  }
}
