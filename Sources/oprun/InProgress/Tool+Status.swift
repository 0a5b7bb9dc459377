// `oprun status`: the progress of a run.

import Diagnostics
import Glibc
import Plans
import Reporting
import RunFiles
import Scheduling

extension Tool {
  func status(_ invocation: Invocation) throws(UsageFailure) -> Int32 {
    var request = ControlRequest(.status)
    let isJSON = invocation.isOn(Options.json)
    request.isWhole = isJSON || invocation.isOn(Options.followRun)
    request.follows = invocation.isOn(Options.followRun)
    return try withRun(invocation.operands.first, invocation) {
      directory throws(RunConnection.Failure) in
      let connection = try RunConnection(directory, request)
      guard let first = try connection.line() else { throw .gone }
      guard let head = understood(first, invocation) else { return ExitStatus.refused }
      if request.follows, !isJSON {
        return try follow(head, connection, directory, invocation)
      }
      if isJSON {
        return request.follows
          ? try pass(first, connection) : try writeJSON(first, connection)
      }
      return try write(head, connection)
    }
  }

  /// Writes all lines as they come.
  private func pass(
    _ first: ArraySlice<UInt8>, _ connection: RunConnection
  ) throws(RunConnection.Failure) -> Int32 {
    var line = first
    while true {
      writeLine(line)
      if ControlLine(line)?.isTrue("finished") == true { return ExitStatus.success }
      if !connection.hasLine { output.flush() }
      if output.hasFailed { return ExitStatus.success }
      guard let next = try connection.line(patience: nil) else { throw .gone }
      line = next
    }
  }

  private func writeLine(_ line: ArraySlice<UInt8>) {
    line.withUnsafeBytes { output.write($0) }
    output.writeNewline()
  }

  /// Writes one object, with all steps in it.
  private func writeJSON(
    _ first: ArraySlice<UInt8>, _ connection: RunConnection
  ) throws(RunConnection.Failure) -> Int32 {
    first.dropLast().withUnsafeBytes { output.write($0) }
    output.write(",\"list\":[")
    var isFirst = true
    while true {
      guard let line = try connection.line() else { throw .gone }
      if line.starts(with: Self.complete) { break }
      output.write(isFirst ? "\n" : ",\n")
      isFirst = false
      line.withUnsafeBytes { output.write($0) }
    }
    output.write("]}\n")
    return ExitStatus.success
  }

  private static let complete = Array("{\"complete\"".utf8)

  // MARK: For people

  /// Shows the run as its own terminal does.
  private func follow(
    _ head: ControlLine, _ connection: RunConnection, _ directory: RunDirectory,
    _ invocation: Invocation
  ) throws(RunConnection.Failure) -> Int32 {
    var plan = FollowedPlan(head)
    while true {
      guard let line = try connection.line() else { throw .gone }
      guard let row = ControlLine(line), !row.isTrue("complete") else { break }
      plan.add(row)
    }
    var options = ScreenOptions()
    options.color = invocation.choice(Options.color, default: .auto)
    options.usesASCII = invocation.isOn(Options.ascii)
    options.isLive = true
    let screen = Screen(
      output: STDOUT_FILENO, messages: STDERR_FILENO, options: options,
      environment: environmentValue)
    let run = FollowedRun(head, plan, in: directory, on: screen)
    while true {
      let wait = run.endTurn()
      guard connection.hasLine || connection.wait(for: Int16(POLLIN), wait) else { continue }
      if !connection.hasLine { try connection.fill(patience: 0) }
      while connection.hasLine {
        guard let line = try connection.line(), let row = ControlLine(line) else { break }
        if run.take(row) { return ExitStatus.success }
      }
      if connection.isOver { throw .gone }
    }
  }

  private func write(
    _ head: ControlLine, _ connection: RunConnection
  ) throws(RunConnection.Failure) -> Int32 {
    clipOutput()
    writeHead(head)
    let elapsed = head.milliseconds("elapsed_ms") ?? 0
    var steps: [ControlLine] = []
    while true {
      guard let line = try connection.line() else { throw .gone }
      guard let step = ControlLine(line), !step.isTrue("complete") else { break }
      steps.append(step)
    }
    let widest = min(40, steps.map { displayWidth(of: oneLine($0.name)) }.max() ?? 0)
    let order = steps.sorted {
      ($0.since ?? .max, $0.number("number") ?? 0) < ($1.since ?? .max, $1.number("number") ?? 0)
    }
    for step in order {
      let name = oneLine(step.name)
      output.write("\(step.mark) \(name)")
      output.write(spaces: max(0, widest - displayWidth(of: name)) + 2)
      output.write(step.words(at: elapsed))
      output.writeNewline()
    }
    return ExitStatus.success
  }

  private func writeHead(_ head: ControlLine) {
    let count = { (name: String) in head.number(name) ?? 0 }
    output.write(head.text("run") ?? "")
    output.write("  \(oneLine(head.text("pipeline") ?? ""))")
    output.write("  running for \(elapsedText(head.milliseconds("elapsed_ms") ?? 0))")
    output.write(", process \(count("process"))\n")
    let steps = count("steps")
    let open = count("waiting") + count("ready") + count("running")
    output.write("[\(steps - open)/\(steps)] ")
    let failed = count("failed") + count("timed_out")
    let parts = [
      (failed, "failed"), (count("allowed"), "failed but allowed"), (count("blocked"), "blocked"),
      (count("cancelled"), "cancelled"), (count("running"), "running"),
      (count("waiting") + count("ready"), "waiting"),
    ]
    let words = parts.filter { $0.0 > 0 || $0.1 == "running" }.map { "\($0.0) \($0.1)" }
    output.write(words.joined(separator: ", "))
    if let stop = head.text("stopping") { output.write(", stopping: \(oneLine(stop))") }
    output.writeNewline()
    let queues = head.lines("queues")
    for queue in queues where queues.count > 1 || queue.isTrue("paused") { writeQueue(queue, head) }
  }

  private func writeQueue(_ queue: ControlLine, _ head: ControlLine) {
    output.write("queue \(oneLine(queue.text("name") ?? ""))  ")
    output.write("\(queue.number("running") ?? 0)")
    if let width = queue.number("max_parallel") { output.write(" of \(width)") }
    output.write(" running, \(queue.number("ready") ?? 0) ready")
    if queue.isTrue("paused") {
      output.write(", paused")
      if let user = queue.text("by") {
        let since = sum(
          head.milliseconds("started_ms") ?? 0, queue.milliseconds("since_ms") ?? 0)
        output.write(" by \(oneLine(user)) \(timeOfDay(since))")
      } else {
        output.write(" since the start")
      }
    }
    output.writeNewline()
  }
}

extension ControlLine {
  fileprivate var name: String { text("step") ?? "" }
  fileprivate var since: Nanoseconds? { milliseconds("since_ms") }

  fileprivate var mark: String {
    switch text("state") {
    case "running": ">"
    case "retrying": "↻"
    case "failed", "timed_out": "✗"
    default: "–"
    }
  }

  /// The state of a step: `2.9s`, `exit 1 after 3.4s`, `attempt 2`.
  fileprivate func words(at elapsed: Nanoseconds) -> String {
    var words: [String] = []
    switch text("state") {
    case "running":
      if let since { words.append(elapsedText(max(0, elapsed - since))) }
      if let hook = text("hook") { words.append(hook) }
      if let job = text("job") {
        let place = CommandPlacement(job: job, node: text("node"), reason: text("waits_for"))
        words.append(oneLine(place.words))
      }
    case "retrying": words.append("waits for the next attempt")
    case "ready": words.append("waits for a slot")
    default:
      let time = milliseconds("duration_ms").map(elapsedText) ?? ""
      if isTrue("timed_out") || text("state") == "timed_out" {
        words.append(time.isEmpty ? "timed out" : "timed out after \(time)")
        if has("group"), let reason = text("reason") { words.append(oneLine(reason)) }
      } else if let time = milliseconds("not_ready_ms") {
        words.append("not ready after \(elapsedText(time))")
      } else if let hook = text("failed_hook") {
        words.append("\(hook) failed")
      } else if let reason = text("reason") {
        words.append(oneLine(reason))
      } else if let signal = text("signal") {
        words.append("killed by \(signal) after \(time)")
      } else if let code = number("exit_code") {
        words.append("exit \(code) after \(time)")
      } else {
        words.append("failed")
      }
    }
    if let attempt = number("attempt"), attempt > 1 { words.append("attempt \(attempt)") }
    return words.joined(separator: ", ")
  }
}
