// The checks before a service starts, and again when its conditions hold: whether the conditions
// would be met by another process than the service. docs/services.md

import Plans
import Running
import Scheduling

extension RunLoop {
  /// Why a service that starts now could not be told from another process that answers at the ports
  /// of its conditions, or will; nil if it can: all conditions must be true, so one free port is
  /// enough. A service may also ask the ports of others that it depends on.
  func takenPort(of service: OperationID) -> String? {
    guard isHere(service) else { return nil }
    var reason: String?
    for condition in machine.steps.ready(service).readiness {
      guard let server = condition.server else { continue }
      let askers = runningServices.filter { $0 != service && asks($0) { $0.port == server.port } }
      let holders = executor.holders(of: server)
      if holders.isEmpty, askers.isEmpty { return nil }
      let needed = needs(of: service)
      let isForNeeded = askers.contains(where: needed.contains)
      guard let holder = holders.first else {
        let rivals = askers.filter { isHere($0) && asks($0) { $0.meets(server) } }
        guard !isForNeeded, let rival = rivals.min() else { return nil }
        let step = machine.steps[rival].id
        reason = reason ?? portShared(server.port, with: step, condition: condition.words)
        continue
      }
      if holders.contains(where: { $0.operation.map(needed.contains) ?? $0.isOfRun }) { continue }
      if isForNeeded { continue }
      let step = holder.operation.map { machine.steps[$0].id }
      reason =
        reason ?? portTaken(server.port, by: step, holder.process, condition: condition.words)
    }
    return reason
  }

  /// Why a service whose conditions hold does not count as ready: at each of their ports a step
  /// answers that it does not depend on, and nothing else. What listens for the service may be a
  /// process that the run has not started, such as the proxy of a container.
  func foreignAnswer(to service: OperationID) -> String? {
    guard isHere(service) else { return nil }
    var reason: String?
    for condition in machine.steps.ready(service).readiness {
      guard let server = condition.server else { continue }
      // If no other operation is running, no other step answers.
      if executor.startTimes.keys.allSatisfy({ $0.operation == service }) { return nil }
      let company = needs(of: service).union([service])
      let holders = executor.holders(of: server)
      guard let foreign = holders.first?.operation,
        holders.allSatisfy({ $0.operation.map { !company.contains($0) } ?? false })
      else { return nil }
      reason =
        reason
        ?? portAnswered(server.port, by: machine.steps[foreign].id, condition: condition.words)
    }
    return reason
  }

  /// True if the service runs on this machine, whose ports can be looked at.
  private func isHere(_ service: OperationID) -> Bool {
    slurm == nil || machine.steps[service].settings.slurm == nil
  }

  /// The operations that a service depends on, directly or not.
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

  /// True if a condition of the service asks such a server: another program may listen there for
  /// the service, such as the proxy of a container.
  private func asks(_ service: OperationID, _ isMeant: (LocalServer) -> Bool) -> Bool {
    machine.steps.ready(service).readiness.contains { $0.server.map(isMeant) ?? false }
  }

  private var runningServices: [OperationID] {
    executor.startTimes.keys.compactMap { key in
      guard case .attempt = key.role, machine.isService(key.operation) else { return nil }
      return key.operation
    }
  }
}
