// How many commands of a run may run at the same time, and how many must be able to.

import Scheduling

extension Plan {
  /// So many commands must be able to run at the same time, and so many could.
  package var commandCounts: ClosedRange<Int> {
    let least = leastCommands
    return least...max(least, mostCommands)
  }

  /// The number of commands that could run at the same time if only the queues limited them. Services take no slot.
  private var mostCommands: Int {
    let services = graph.hasServices ? steps.indices.count { isService(OperationID($0)) } + 1 : 0
    let widths = queues.reduce(services) {
      $0.addingReportingOverflow($1.width).overflow ? .max : $0 + $1.width
    }
    // A step that is expanded during the run may have any number of instances.
    let grows = steps.contains { $0.late?.expands == true }
    return grows ? widths : min(widths, steps.count)
  }

  /// If fewer commands can run at the same time, some step can never start: it needs services that go on, which leave
  /// one place free for looking after them.
  private var leastCommands: Int {
    guard graph.hasServices else { return 1 }
    var needed = [Set<OperationID>](repeating: [], count: graph.count)
    var most = 0
    for index in graph.dependenciesFirst() {
      let operation = OperationID(Int(index))
      var services: Set<OperationID> = []
      graph.forEachDependency(of: operation, changing: &services) { services, edge in
        guard isService(edge.from) else { return }
        services.insert(edge.from)
        services.formUnion(needed[edge.from.index])
      }
      if isService(operation) { needed[operation.index] = services }
      most = max(most, services.count)
    }
    return most == 0 ? 1 : most + 2
  }

  /// Whether it is a service on this machine.
  private func isService(_ operation: OperationID) -> Bool {
    !graph.takesSlot(operation) && steps[operation.index].settings.slurm == nil
  }
}
