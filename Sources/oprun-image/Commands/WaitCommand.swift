// `wait`: until files, servers and commands are ready, each looked at again and again.

import BuiltinSteps
import Diagnostics
import Glibc
import OperationKit

extension Program {
  func wait(_ inputs: Inputs) throws(UsageError) -> Int32 {
    let started = monotonicTime()
    let conditions = try readinessConditions(inputs)
    let every = max(1_000_000, inputs.duration("every"))
    let deadline = started + inputs.duration("timeout")
    guard let loop = TransferLoop(keeping: conditions.count) else {
      say("no thread for the connections")
      return ExitStatus.internalError
    }
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = conditions.count
    let obstacles = Guarded([String?](repeating: nil, count: conditions.count))
    for (index, condition) in conditions.enumerated() {
      queue.addOperation { [output] in
        let obstacle = look(at: condition, loop, every: every, until: deadline)
        obstacles.withLock { $0[index] = obstacle }
        guard obstacle == nil else { return }
        output.write("\(condition.words) after \(shownDuration(monotonicTime() - started))\n")
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    var status = ExitStatus.success
    for (condition, obstacle) in zip(conditions, obstacles.withLock { $0 }) {
      guard let obstacle else { continue }
      let time = shownDuration(inputs.duration("timeout"))
      say("not ready after \(time): \(condition.words): \(obstacle)")
      status = ExitStatus.failure
    }
    return status
  }

  private func readinessConditions(
    _ inputs: Inputs
  ) throws(UsageError) -> [ReadinessCondition] {
    var conditions = inputs.texts("file").map(ReadinessCondition.file)
    for text in inputs.texts("tcp") {
      guard let colon = text.lastIndex(of: ":"), colon > text.startIndex,
        UInt16(text[text.index(after: colon)...]) ?? 0 > 0
      else { throw UsageError("'--tcp' wants 'host:port', found \(quoted(text))", step: "wait") }
      let host = text[..<colon].filter { $0 != "[" && $0 != "]" }
      conditions.append(.tcp(host: host, port: String(text[text.index(after: colon)...])))
    }
    for url in inputs.texts("http") {
      guard WebAddress(url)?.isWeb == true else {
        throw UsageError(
          "'--http' wants a URL of http or https, found \(quoted(url))", step: "wait")
      }
      conditions.append(.http(url))
    }
    return conditions + inputs.texts("command").map(ReadinessCondition.command)
  }
}

/// Nil once it is ready; after the deadline, what was in the way the last time.
private func look(
  at condition: ReadinessCondition, _ loop: TransferLoop, every: Int64, until deadline: Int64
) -> String? {
  var last: String?
  while true {
    guard let obstacle = condition.obstacle(loop, deadline: deadline) else { return nil }
    let left = deadline - monotonicTime()
    // A look that the deadline has cut short says less than one before it.
    if left <= 0 { return last ?? obstacle }
    last = obstacle
    usleep(UInt32(clamping: min(every, left) / 1000))
  }
}
