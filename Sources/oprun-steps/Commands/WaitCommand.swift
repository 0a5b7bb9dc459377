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
    // Without time there is one look, which may take what a look takes.
    let timeout = inputs.duration("timeout")
    let looks = Looks(
      every: timeout > 0 ? every : nil, deadline: started + (timeout > 0 ? timeout : longestLook))
    guard let loop = TransferLoop(keeping: conditions.count) else {
      say("no thread for the connections")
      return ExitStatus.internalError
    }
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = conditions.count
    let obstacles = Guarded([String?](repeating: nil, count: conditions.count))
    for (index, condition) in conditions.enumerated() {
      queue.addOperation { [output] in
        let obstacle = looks.obstacle(of: condition, loop)
        obstacles.withLock { $0[index] = obstacle }
        guard obstacle == nil else { return }
        output.write("\(condition.words) after \(shownDuration(monotonicTime() - started))\n")
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    var status = ExitStatus.success
    for (condition, obstacle) in zip(conditions, obstacles.withLock { $0 }) {
      guard let obstacle else { continue }
      let time = shownDuration(timeout)
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
      else {
        throw UsageError("'--tcp' wants 'host:port', found \(quoted(shownURL(text)))", step: "wait")
      }
      let host = text[..<colon].filter { $0 != "[" && $0 != "]" }
      conditions.append(.tcp(host: host, port: String(text[text.index(after: colon)...])))
    }
    for url in inputs.texts("http") {
      guard WebAddress(url)?.isWeb == true else {
        throw UsageError(
          "'--http' wants a URL of http or https, found \(quoted(shownURL(url)))",
          step: "wait")
      }
      conditions.append(.http(url))
    }
    return conditions + inputs.texts("command").map(ReadinessCondition.command)
  }
}

/// How often a condition is looked at, and for how long.
private struct Looks: Sendable {
  /// In nanoseconds; nil for a single look.
  let every: Int64?
  let deadline: Int64

  /// Nil once it is ready; after the deadline, what was in the way the last time.
  func obstacle(of condition: ReadinessCondition, _ loop: TransferLoop) -> String? {
    var last: String?
    while true {
      guard let obstacle = condition.obstacle(loop, deadline: deadline) else { return nil }
      let left = deadline - monotonicTime()
      // A look that the deadline has cut short says less than one before it.
      guard left > 0, let every else { return last ?? obstacle }
      last = obstacle
      usleep(UInt32(clamping: min(every, left) / 1000))
    }
  }
}
