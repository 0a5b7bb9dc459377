// Writes a run as Markdown, which GitHub shows in the summary of a job: a verdict, the failures
// with the end of their output, then all steps in a table.

import Plans
import Scheduling

struct MarkdownReport: Report {
  /// The maximum size in bytes. GitHub drops the summary of a step that is larger than one mebibyte.
  static let longest = 1 << 20
  private static let tailLength = 40
  private static let mostFailures = 20
  private static let mostBlocked = 20
  /// The room for the note that there is more.
  private static let reserve = 64 << 10

  /// The number of bytes that the report may have. With less than some 100 KiB it has only the
  /// verdict, and the number of steps.
  var room = longest

  func write(_ record: RunRecord, to sink: ByteSink) {
    writeVerdict(record, to: sink)
    let start = sink.position
    withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer in
      // The other half is for the table.
      func hasRoom() -> Bool { sink.position - start < room / 2 }
      for failure in (record.failures + record.interrupted).prefix(Self.mostFailures)
      where hasRoom() {
        write(failure, record, buffer, to: sink)
      }
      for hook in record.failedHooks.prefix(Self.mostFailures) where hasRoom() {
        write(hook, record, buffer, to: sink)
      }
    }
    if record.end != nil, let command = record.resumeCommand {
      sink.write("\nRun what failed or did not run: `\(command)`\n")
    }
    let hasTable = sink.position - start < room - Self.reserve
    if hasTable { sink.write("\n| | step | time | |\n|---|---|---:|---|\n") }
    for (index, step) in record.steps.enumerated() {
      guard sink.position - start < room - Self.reserve else {
        sink.write("\n… and ")
        sink.write(record.steps.count - index, "step")
        sink.write(" more")
        return sink.writeNewline()
      }
      writeRow(step, record, to: sink)
    }
  }

  private func writeVerdict(_ record: RunRecord, to sink: ByteSink) {
    sink.write("## ")
    sink.write(record.end?.isDetached ?? true ? "⏳ " : record.exitStatus == 0 ? "✅ " : "❌ ")
    sink.write(markdown: record.operations.plan.name)
    sink.write("\n\n")
    sink.write(own: record.countsInWords)
    sink.write(record.hasDied ? " in at least " : " in ")
    sink.write(elapsed: record.wallTime)
    for remark in record.remarks {
      sink.write(", ")
      sink.write(markdown: remark)
    }
    sink.writeNewline()
  }

  private func write(
    _ failure: ReportedStep, _ record: RunRecord, _ buffer: UnsafeMutableRawBufferPointer,
    to sink: ByteSink
  ) {
    let operations = record.operations
    sink.write("\n### ")
    sink.write(markdown: operations.fullName(failure.operation))
    sink.write("\n\n")
    sink.write(markdown: record.reason(of: failure))
    let location = operations.plan.sources.location(of: operations.step(failure.operation).span)
    if !location.isEmpty {
      sink.write(", ")
      sink.write(markdown: location)
    }
    sink.writeNewline()
    writeLines(of: failure, record, buffer, to: sink)
    let blocked = record.blocked(by: failure)
    guard !blocked.isEmpty else { return }
    sink.write("\nblocked because of it: ")
    let names = blocked.prefix(Self.mostBlocked).map(operations.name)
    sink.write(markdown: names.joined(separator: ", "))
    let more = blocked.count - names.count
    sink.write(own: more > 0 ? " and \(more) more\n" : "\n")
  }

  /// Writes a failed hook of the run itself, or of a used pipeline.
  private func write(
    _ hook: FailedHook, _ record: RunRecord, _ buffer: UnsafeMutableRawBufferPointer,
    to sink: ByteSink
  ) {
    sink.write("\n### ")
    sink.write(markdown: record.operations.name(hook.operation))
    sink.write("\n\n")
    sink.write(markdown: sink.captured { $0.write(failedHook: hook, record.operations) })
    sink.writeNewline()
    writeLines(
      record.command(ofHook: hook),
      record.tail(ofHook: hook, limit: Self.tailLength, buffer: buffer), to: sink)
  }

  /// Writes the command, and the end of its output.
  private func writeLines(
    of failure: ReportedStep, _ record: RunRecord, _ buffer: UnsafeMutableRawBufferPointer,
    to sink: ByteSink
  ) {
    writeLines(
      record.command(of: failure),
      record.tail(of: failure, limit: Self.tailLength, buffer: buffer), to: sink)
  }

  private func writeLines(_ command: String?, _ tail: LogTail?, to sink: ByteSink) {
    let lines = (command.map { ["$ \($0)"] } ?? []) + (tail?.lines ?? [])
    if lines.isEmpty { return }
    sink.write("\n<pre>")
    for line in lines {
      sink.write(xml: line)
      sink.writeNewline()
    }
    sink.write("</pre>\n")
  }

  private func writeRow(_ step: ReportedStep, _ record: RunRecord, to sink: ByteSink) {
    sink.write("| ")
    sink.write(step.settled.isLeft ? "⏳" : step.settled.ending.sign)
    sink.write(" | ")
    sink.write(markdown: record.operations.fullName(step.operation))
    sink.write(" | ")
    if let duration = step.knownDuration { sink.write(elapsed: duration) }
    sink.write(" | ")
    if step.settled.ending.outcome != .succeeded {
      sink.write(markdown: record.sentence(of: step))
    } else if let place = step.settled.record?.last?.place {
      sink.write(markdown: place.wordsAfterEnd)
    }
    sink.write(" |\n")
  }
}

extension Ending {
  fileprivate var sign: StaticString {
    switch outcome {
    case .succeeded, .cached: "✅"
    case .failed, .timedOut: isAllowed ? "⚠️" : "❌"
    case .cancelled: "🛑"
    case .skipped, .blocked: "⏭️"
    }
  }
}

extension ByteSink {
  /// Writes text on one line, escaping everything that Markdown or HTML would interpret, even in a
  /// table.
  func write(markdown text: String) {
    let line = oneLine(masked(text))
    if line.utf8.allSatisfy(isPlainInMarkdown) { return write(own: line) }
    let scalars = Array(line.unicodeScalars)
    for (index, scalar) in scalars.enumerated() {
      switch scalar {
      // A colon before a blank begins no `:emoji:`.
      case ":" where index + 1 < scalars.count && scalars[index + 1] == " ": write(":")
      case "&": write("&amp;")
      case "<": write("&lt;")
      case ">": write("&gt;")
      case "\\", "`", "*", "_", "[", "]", "|", "#", "~", "!", "@", ":":
        // A character reference is text everywhere; a backslash before `@` is not.
        write(own: "&#\(scalar.value);")
      default: write(own: String(scalar))
      }
    }
  }
}

/// True if a byte is ASCII that neither Markdown nor HTML interprets.
private func isPlainInMarkdown(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: " "), UInt8(ascii: "-"),
    UInt8(ascii: "."), UInt8(ascii: ","), UInt8(ascii: "/"), UInt8(ascii: "'"),
    UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "="):
    true
  default: false
  }
}
