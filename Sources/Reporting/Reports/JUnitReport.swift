// Writes a run as JUnit XML, for CI systems that show tests: a suite for the pipeline, a case for
// each step. The format is that of jenkins-junit.xsd, the strictest one in use.

import Plans
import Scheduling

struct JUnitReport: Report {
  private static let tailLength = 200
  private static let linesOfFailure = 40
  private static let mostBlocked = 20
  /// The number of bytes that the output of steps takes in a report, and that of failures as much
  /// again: GitLab accepts no file of more than 30 MB.
  private static let mostOutput = 8 << 20
  private static let leftOut = "… the output is left out: there is too much of it in this run"

  /// The room that is left for the output of steps.
  private struct Room {
    let buffer: UnsafeMutableRawBufferPointer
    var ofFailures = mostOutput
    var ofOthers = mostOutput

    subscript(isFailure isFailure: Bool) -> Int {
      get { isFailure ? ofFailures : ofOthers }
      set { if isFailure { ofFailures = newValue } else { ofOthers = newValue } }
    }
  }

  func write(_ record: RunRecord, to sink: ByteSink) {
    sink.write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite")
    let skipped = record.steps.count { $0.isLeftOut && !isError($0, record) }
    let hooks = record.failedHooks
    let failureCount = record.failures.count
    let interruptedCount = record.steps.count { isError($0, record) }
    // The run itself is a case if no step and no hook explains its failure.
    let isRunAtFault =
      record.end != nil && record.exitStatus != 0 && failureCount == 0
      && interruptedCount == 0 && hooks.allSatisfy(\.isAllowed)
    let runCount = isRunAtFault ? 1 : 0
    write("name", record.operations.plan.name, to: sink)
    write("tests", count: record.steps.count + hooks.count + runCount, to: sink)
    let allowedHooks = hooks.count { $0.isAllowed }
    write("failures", count: failureCount + hooks.count - allowedHooks, to: sink)
    write("errors", count: interruptedCount + runCount, to: sink)
    write("skipped", count: skipped + allowedHooks, to: sink)
    // An unknown time is left out.
    if !record.hasDied { write("time", own: decimalSeconds(record.wallTime), to: sink) }
    if let beginning = record.beginning {
      let time = UTCTime(secondsSince1970: Int(beginning.clock.wallTime / 1_000_000_000))
      write("timestamp", own: time.text, to: sink)
      write("hostname", beginning.host.name, to: sink)
    }
    sink.write(">\n")
    if let passedOn = record.end?.passedOn {
      let step = record.operations.name(passedOn.step)
      write([("exit status", passedOnWords(Int(passedOn.status), of: step))], to: sink)
    }
    withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer in
      var room = Room(buffer: buffer)
      for step in record.steps { write(step, record, &room, to: sink) }
      for hook in hooks { write(hook, record, buffer, to: sink) }
    }
    if isRunAtFault { writeRun(record, to: sink) }
    sink.write("</testsuite>\n</testsuites>\n")
  }

  private func write(
    _ step: ReportedStep, _ record: RunRecord, _ room: inout Room, to sink: ByteSink
  ) {
    sink.write("<testcase")
    write("classname", record.operations.plan.name, to: sink)
    write("name", record.operations.fullName(step.operation), to: sink)
    if !step.settled.hasNoEnd {
      sink.write(attribute: "time") { sink.write(decimalSeconds: step.duration) }
    }
    let isBad = step.settled.isFailure || isError(step, record)
    let output = output(of: step, record, room.buffer, isWanted: room[isFailure: isBad] > 0)
    let place = step.settled.decisive?.place
    guard output != nil || step.settled.isFailure || step.isLeftOut || place != nil else {
      return sink.write("/>\n")
    }
    sink.write(">\n")
    if let place {
      write(
        [("job", place.job), ("node", place.node), ("queue reason", place.reason)], to: sink)
    }
    let start = sink.position
    if isBad {
      write(step, record, output, to: sink)
    } else if step.isLeftOut {
      sink.write("<skipped")
      write("message", record.sentence(of: step), to: sink)
      sink.write("/>\n")
    }
    if let output {
      sink.write("<system-out>")
      write(output, to: sink)
      sink.write("</system-out>\n")
      room[isFailure: isBad] -= sink.position - start
    }
    sink.write("</testcase>\n")
  }

  /// True if a step was interrupted, and the run did not succeed because of that.
  private func isError(_ step: ReportedStep, _ record: RunRecord) -> Bool {
    record.exitStatus != 0 && record.isInterrupted(step)
  }

  /// The end of the decisive output of a step; nil if there is none, or it cannot be read.
  private func output(
    of step: ReportedStep, _ record: RunRecord, _ buffer: UnsafeMutableRawBufferPointer,
    isWanted: Bool
  ) -> [String]? {
    if isWanted { return record.tail(of: step, limit: Self.tailLength, buffer: buffer)?.lines }
    return step.settled.decisive.flatMap { $0.end.outputByteCount > 0 ? [Self.leftOut] : nil }
  }

  /// Writes properties; those without a value are left out.
  private func write(_ properties: [(name: String, value: String?)], to sink: ByteSink) {
    sink.write("<properties>\n")
    for (name, value) in properties {
      guard let value else { continue }
      sink.write("<property")
      write("name", own: name, to: sink)
      write("value", value, to: sink)
      sink.write("/>\n")
    }
    sink.write("</properties>\n")
  }

  /// Writes a failure, or an error, with the lines that its own run shows: viewers show nothing else. The format
  /// has no attribute for a file and a line.
  private func write(
    _ step: ReportedStep, _ record: RunRecord, _ output: [String]?, to sink: ByteSink
  ) {
    let element: StaticString = step.settled.isFailure ? "failure" : "error"
    sink.write("<")
    sink.write(element)
    let ending = step.settled.isUnended ? "not_ended" : step.settled.ending.outcome.word
    write("type", own: ending, to: sink)
    write("message", record.reason(of: step), to: sink)
    sink.write(">")
    let operations = record.operations
    let place = operations.plan.sources.location(of: operations.step(step.operation).span)
    let blocked = record.blocked(by: step).prefix(Self.mostBlocked)
    let names = blocked.map(operations.name).joined(separator: ", ")
    let lines =
      [place.isEmpty ? nil : place, record.command(of: step).map { "$ \($0)" }].compactMap(\.self)
      + (output?.suffix(Self.linesOfFailure) ?? [])
      + (names.isEmpty ? [] : ["blocked because of it: \(names)"])
    write(lines, to: sink)
    sink.write("</")
    sink.write(element)
    sink.write(">\n")
  }

  /// Writes a failed hook of the run itself, or of a used pipeline, as a case of its own: it may be the only failure.
  private func write(
    _ hook: FailedHook, _ record: RunRecord, _ buffer: UnsafeMutableRawBufferPointer,
    to sink: ByteSink
  ) {
    sink.write("<testcase")
    write("classname", record.operations.plan.name, to: sink)
    write("name", record.operations.title(of: hook.stream), to: sink)
    if !hook.command.end.isLost {
      write("time", own: decimalSeconds(hook.command.end.duration), to: sink)
    }
    sink.write(">\n")
    let words = sink.captured { $0.write(failedHook: hook, record.operations) }
    if hook.isAllowed {
      sink.write("<skipped")
      write("message", words, to: sink)
      return sink.write("/>\n</testcase>\n")
    }
    sink.write("<failure")
    write("type", own: Outcome.failed.word, to: sink)
    write("message", words, to: sink)
    sink.write(">")
    let tail = record.tail(ofHook: hook, limit: Self.linesOfFailure, buffer: buffer)
    write((record.command(ofHook: hook).map { ["$ \($0)"] } ?? []) + (tail?.lines ?? []), to: sink)
    sink.write("</failure>\n</testcase>\n")
  }

  /// Writes the run as a case of its own: it failed for a reason that is not a step's.
  private func writeRun(_ record: RunRecord, to sink: ByteSink) {
    sink.write("<testcase")
    write("classname", record.operations.plan.name, to: sink)
    write("name", record.operations.name(.run), to: sink)
    if !record.hasDied { write("time", own: decimalSeconds(record.wallTime), to: sink) }
    sink.write(">\n<error")
    write("type", own: "run", to: sink)
    let words = (record.exitStatus.map { ["exit \($0)"] } ?? []) + record.remarks
    write("message", words.joined(separator: ", "), to: sink)
    sink.write("/>\n</testcase>\n")
  }

  private func write(_ lines: [String], to sink: ByteSink) {
    for line in lines {
      sink.write(xml: line)
      sink.writeNewline()
    }
  }

  private func write(_ attribute: StaticString, _ value: String, to sink: ByteSink) {
    sink.write(attribute: attribute) { sink.write(xml: value) }
  }

  private func write(_ attribute: StaticString, own value: String, to sink: ByteSink) {
    sink.write(attribute: attribute) { sink.write(own: value) }
  }

  private func write(_ attribute: StaticString, count: Int, to sink: ByteSink) {
    sink.write(attribute: attribute) { sink.write(decimal: count) }
  }
}

extension ReportedStep {
  /// True if the step counts as neither passed nor failed.
  fileprivate var isLeftOut: Bool {
    switch settled.ending.outcome {
    case .succeeded, .cached: false
    case .failed, .timedOut: settled.ending.isAllowed
    case .cancelled, .skipped, .blocked: true
    }
  }
}

extension ByteSink {
  /// Writes ` name="value"`.
  func write(attribute name: StaticString, _ writeValue: () -> Void) {
    write(" ")
    write(name)
    write("=\"")
    writeValue()
    write("\"")
  }

  /// Writes text between tags, or in an attribute in double quotes. Characters that XML 1.0 does
  /// not allow are left out.
  func write(xml text: String) {
    write(own: masked(text), plain: isPlainInXML) { scalar in
      switch scalar {
      case "&": write("&amp;")
      case "<": write("&lt;")
      case ">": write("&gt;")
      case "\"": write("&quot;")
      case "\n": write("&#10;")
      case "\t", " "..."\u{d7ff}", "\u{e000}"..."\u{fffd}", "\u{10000}"..."\u{10ffff}":
        write(own: String(scalar))
      default: break
      }
    }
  }
}

private func isPlainInXML(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""): false
  default: (0x20..<0x7f).contains(byte)
  }
}
