// What is looked at before a service starts: whether what is to tell that it is ready would tell something about
// another process. docs/services.md

import Plans
import Running
import Scheduling

extension RunLoop {
  /// Why a service that starts now could not be told from something else that answers at a port of its conditions; nil
  /// if it can. A service may ask for others that it depends on, too.
  func takenPort(of service: OperationID) -> String? {
    guard slurm == nil || machine.steps[service].settings.slurm == nil else { return nil }
    for condition in machine.steps.ready(service).readiness {
      guard let server = condition.server else { continue }
      let holders = executor.holders(of: server)
      guard let holder = holders.first, !holders.contains(where: { isCompany($0, of: service) })
      else { continue }
      let step = holder.operation.map { machine.steps[$0].id }
      return portTaken(server.port, by: step, holder.process, condition: condition.words)
    }
    return nil
  }

  /// Whether a process belongs to the run, and not to a step that goes on beside the service without being needed by it.
  private func isCompany(_ holder: PortHolder, of service: OperationID) -> Bool {
    guard let operation = holder.operation else { return holder.isOfRun }
    var seen: Set<OperationID> = [service]
    var open = [service]
    while let next = open.popLast() {
      for edge in machine.scheduler.graph.dependencies(of: next)
      where seen.insert(edge.from).inserted {
        if edge.from == operation { return true }
        open.append(edge.from)
      }
    }
    return false
  }
}
