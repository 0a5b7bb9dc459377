// Shows a failed step in full: how it ended, the end of its output, where to find more.

import Diagnostics
import Plans
import RunFiles
import Scheduling

struct FailureBlock {
  private let operations: RunOperations
  private let screen: Screen
  private let sink: ByteSink

  private static let tailLength = 40
  /// A reason longer than this is on separate lines.
  private static let widestReason = 60
  private static let narrowestReason = 40

  init(_ operations: RunOperations, screen: Screen) {
    self.operations = operations
    self.screen = screen
    sink = screen.messages
  }

  func write(_ failure: SettledOperation, blocked: Sample<OperationID>) {
    let step = operations.step(failure.operation)
    writeHeading(failure, step)
    if let reason = longReason(of: failure) { writeLines(of: reason) }
    if !operations.standsForOthers(failure.operation) { writeCommand(of: failure, step) }
    if let decisive = failure.decisive, decisive.end.outputByteCount > 0 {
      writeLog(Stream(operation: failure.operation, role: decisive.role), decisive.log)
    }
    if blocked.count > 0 { writeBlocked(blocked) }
  }

  /// Writes `✗ unit  exit 1 after 3.4s (attempt 2 of 2)  gallery.yml:14`.
  private func writeHeading(_ failure: SettledOperation, _ step: PlannedStep) {
    screen.write(.failed)
    sink.write(" ")
    sink.write(step.id, in: .strong, isColored: screen.colorsMessages)
    if let name = step.settings.name, name != step.id {
      sink.write(" (")
      sink.write(shortName(name))
      sink.write(")")
    }
    sink.write("  ")
    writeEnd(failure, step.settings)
    sink.write("  ")
    sink.write(oneLine(operations.plan.sources.location(of: step.span)))
    sink.writeNewline()
  }

  private func writeEnd(_ failure: SettledOperation, _ settings: StepSettings) {
    guard let decisive = failure.decisive else { return writeEndWithoutCommand(failure) }
    if case .hook(let kind) = failure.cause {
      sink.write(kind.keyText)
      sink.write(" hook: ")
    }
    if longReason(of: failure) != nil {
      return sink.write(decisive.end.isRefused ? "its outputs were rejected" : "did not start")
    }
    if case .hook = failure.cause {
      sink.write(decisive.end, limit: nil, columns: .max)
    } else {
      sink.write(decisive.end, limit: settings.timeout, columns: .max)
      sink.write(attemptOf: decisive.role, limit: settings.retry.limit)
    }
  }

  private func writeEndWithoutCommand(_ failure: SettledOperation) {
    let reason = longReason(of: failure) == nil ? failure.reason(operations) : nil
    sink.write(failureWithoutCommand: failure, reason)
  }

  /// Why the command was not started, was lost, or is not enough, if that is more than a few words.
  private func longReason(of failure: SettledOperation) -> String? {
    let reason: String? =
      switch failure.decisive?.end.status {
      case .notStarted(let reason, _), .outputsRefused(let reason), .lost(let reason): reason
      case .exited, .signalled, .abandoned: nil
      case nil: failure.reason(operations)
      }
    guard let reason else { return nil }
    let isShort = !reason.contains(where: \.isNewline) && reason.utf8.count <= Self.widestReason
    return isShort ? nil : reason
  }

  private func writeLines(of reason: String) {
    let columns = max(Self.narrowestReason, screen.columns - 4)
    for line in wrapped(reason, columns: columns) {
      sink.write("  | ", in: .faint, isColored: screen.colorsMessages)
      sink.write(line)
      sink.writeNewline()
    }
  }

  /// Writes `  $ make test    in ./src`; with the values of its expressions, if it has any.
  private func writeCommand(of failure: SettledOperation, _ step: PlannedStep) {
    var command = failure.command.map { ShownCommand(.script(ScriptText($0))) } ?? step.work.shown
    if case .hook(let kind, let index)? = failure.decisive?.role {
      let hooks = step.settings.hooks[kind]
      guard hooks.indices.contains(index - 1) else { return }
      command = hooks[index - 1].shown
    }
    guard let command else { return }
    sink.write("  $ ")
    sink.write(firstLineOf: command, columns: screen.columns - 4)
    if let directory = step.settings.workingDirectory {
      sink.write("    in ")
      sink.write(oneLine(directory))
    }
    sink.writeNewline()
  }

  private func writeLog(_ stream: Stream, _ identity: FileIdentity?) {
    do throws(LogReadFailure) {
      let log = try operations.log(of: stream, writtenTo: identity)
      let tail = LogTail(
        of: log, limit: Self.tailLength, columns: screen.columns - 4, buffer: screen.scratch)
      write(tail, of: operations.logPath(of: stream))
    } catch {
      screen.writeUnreadable(operations.logPath(of: stream), error)
    }
  }

  private func write(_ tail: LogTail, of path: String) {
    for line in tail.lines {
      sink.write("  | ", in: .faint, isColored: screen.colorsMessages)
      sink.write(line)
      sink.writeNewline()
    }
    sink.write("  log  ")
    sink.write(oneLine(path))
    sink.write("  (")
    if let count = tail.lineCount {
      sink.write(count, "line")
    } else {
      sink.write(byteCount: tail.byteCount)
    }
    if tail.lineCount != tail.lines.count {
      sink.write(", last ")
      sink.write(decimal: tail.lines.count)
      sink.write(" shown")
    }
    sink.write(")\n")
  }

  private func writeBlocked(_ blocked: Sample<OperationID>) {
    sink.write("  blocked because of it: ")
    for (index, operation) in blocked.first.enumerated() {
      if index > 0 { sink.write(", ") }
      sink.write(operations.name(operation))
    }
    if blocked.count > blocked.first.count {
      sink.write(" and ")
      sink.write(grouped: blocked.count - blocked.first.count)
      sink.write(" more")
    }
    sink.writeNewline()
  }
}
