// What is looked at before a service starts: whether what is to tell that it is ready would tell something about
// another process. docs/services.md

import Plans
import Running
import Scheduling

extension RunLoop {
  /// Why a service that starts now could not be told from something else that answers at the ports of its conditions;
  /// nil if it can: all conditions must be true, so one free port is enough. A service may ask for others that it depends
  /// on, too.
  func takenPort(of service: OperationID) -> String? {
    guard slurm == nil || machine.steps[service].settings.slurm == nil else { return nil }
    var reason: String?
    for condition in machine.steps.ready(service).readiness {
      guard let server = condition.server else { continue }
      let holders = executor.holders(of: server)
      guard let holder = holders.first else { return nil }
      let needed = needs(of: service)
      if holders.contains(where: { $0.operation.map(needed.contains) ?? $0.isOfRun }) { continue }
      if needed.contains(where: { asks($0, at: server.port) }) { continue }
      let step = holder.operation.map { machine.steps[$0].id }
      reason =
        reason ?? portTaken(server.port, by: step, holder.process, condition: condition.words)
    }
    return reason
  }

  /// All that a service depends on, directly or not.
  private func needs(of service: OperationID) -> Set<OperationID> {
    var seen: Set<OperationID> = [service]
    var open = [service]
    while let next = open.popLast() {
      for edge in machine.scheduler.graph.dependencies(of: next)
      where seen.insert(edge.from).inserted { open.append(edge.from) }
    }
    seen.remove(service)
    return seen
  }

  /// Whether it is a service that runs and asks for this port, too: another program may listen there for it, such as the
  /// proxy of a container.
  private func asks(_ operation: OperationID, at port: UInt16) -> Bool {
    let isRunning = executor.startTimes.keys.contains {
      if case .attempt = $0.role { $0.operation == operation } else { false }
    }
    return isRunning && machine.isService(operation)
      && machine.steps.ready(operation).readiness.contains { $0.server?.port == port }
  }
}
