// The number of commands of a run that may run at the same time, and the number that must be able
// to.

import Scheduling

extension Plan {
  /// The number of commands that must be able to run at the same time, and the number that could.
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

  /// The least number of commands that must be able to run at the same time: with fewer, some step
  /// could never start, because it needs services that go on, and one place besides for checking
  /// them.
  private var leastCommands: Int {
    guard graph.hasServices else { return 1 }
    // Sets are released with their last user, so that a long chain needs two of them.
    var needed = [ServiceSet](repeating: ServiceSet(), count: graph.count)
    var userCounts = [Int32](repeating: 0, count: graph.count)
    for index in 0..<graph.count {
      graph.forEachDependency(of: OperationID(index), changing: &userCounts) { counts, edge in
        counts[edge.from.index] += 1
      }
    }
    var serviceCount = 0
    var most = 0
    for index in graph.dependenciesFirst() {
      let operation = OperationID(Int(index))
      var services = ServiceSet()
      graph.forEachDependency(of: operation, changing: &services) { services, edge in
        guard isService(edge.from) else { return }
        services.formUnion(needed[edge.from.index])
        userCounts[edge.from.index] -= 1
        if userCounts[edge.from.index] == 0 { needed[edge.from.index] = ServiceSet() }
      }
      most = max(most, services.count)
      if isService(operation), userCounts[operation.index] > 0 {
        services.insert(serviceCount)
        serviceCount += 1
        needed[operation.index] = services
      }
    }
    return most == 0 ? 1 : most + 2
  }

  /// True if the operation is a service on this machine.
  private func isService(_ operation: OperationID) -> Bool {
    !graph.takesSlot(operation) && steps[operation.index].settings.slurm == nil
  }
}

/// A set of services by their numbers, a bit for each.
private struct ServiceSet {
  private var words: [UInt64] = []

  var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

  mutating func insert(_ number: Int) {
    if words.count <= number / 64 {
      words += [UInt64](repeating: 0, count: number / 64 + 1 - words.count)
    }
    words[number / 64] |= 1 << UInt64(number % 64)
  }

  mutating func formUnion(_ other: ServiceSet) {
    if words.isEmpty {
      words = other.words
      return
    }
    if words.count < other.words.count {
      words += [UInt64](repeating: 0, count: other.words.count - words.count)
    }
    for index in other.words.indices { words[index] |= other.words[index] }
  }
}
