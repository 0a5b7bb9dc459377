// `wait`: waits until files, servers and commands are ready, checking each repeatedly.

import BuiltinSteps
import Diagnostics
import Glibc
import OperationKit

extension Program {
  func wait(_ inputs: Inputs) -> Int32 {
    let started = monotonicTime()
    let conditions = readinessConditions(inputs)
    let every = max(1_000_000, inputs.duration("every"))
    // With a timeout of zero there is one check, which may take as long as any check.
    let timeout = inputs.duration("timeout")
    let probes = Probes(
      every: timeout > 0 ? every : nil, deadline: started + (timeout > 0 ? timeout : longestLook))
    var loop: TransferLoop?
    if conditions.contains(where: \.needsTransfers) {
      guard let made = TransferLoop(keeping: conditions.count) else {
        say("no thread for the connections")
        return ExitStatus.internalError
      }
      loop = made
    }
    let obstacles = Guarded([String?](repeating: nil, count: conditions.count))
    let look: @Sendable (Int) -> Void = { [output, loop] index in
      let obstacle = probes.obstacle(of: conditions[index], loop)
      obstacles.withLock { $0[index] = obstacle }
      guard obstacle == nil else { return }
      let time = shownDuration(monotonicTime() - started)
      output.write("\(conditions[index].words) after \(time)\n")
    }
    if conditions.count == 1 {
      look(0)
    } else {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = conditions.count
      for index in conditions.indices { queue.addOperation { look(index) } }
      queue.waitUntilAllOperationsAreFinished()
    }
    var status = ExitStatus.success
    for (condition, obstacle) in zip(conditions, obstacles.withLock { $0 }) {
      guard let obstacle else { continue }
      let time = shownDuration(timeout)
      say("not ready after \(time): \(condition.words): \(obstacle)")
      status = ExitStatus.failure
    }
    return status
  }

  private func readinessConditions(_ inputs: Inputs) -> [ReadinessCondition] {
    let servers = inputs.texts("tcp").compactMap(HostAndPort.init).map {
      ReadinessCondition.tcp(host: $0.host, port: String($0.port))
    }
    return inputs.texts("file").map(ReadinessCondition.file) + servers
      + inputs.texts("http").map(ReadinessCondition.http)
      + inputs.texts("command").map(ReadinessCondition.command)
  }
}

/// The interval at which a condition is checked, and the deadline.
private struct Probes: Sendable {
  /// The interval in nanoseconds; nil for a single check.
  let every: Int64?
  let deadline: Int64

  /// Nil once the condition is ready; after the deadline, the reason of the last failed check.
  func obstacle(of condition: ReadinessCondition, _ loop: TransferLoop?) -> String? {
    var last: String?
    while true {
      guard let obstacle = condition.obstacle(loop, deadline: deadline) else { return nil }
      let left = deadline - monotonicTime()
      // A check that was cut short by the deadline says less than an earlier one.
      guard left > 0, let every else { return last ?? obstacle }
      last = obstacle
      usleep(UInt32(clamping: min(every, left) / 1000))
    }
  }
}
