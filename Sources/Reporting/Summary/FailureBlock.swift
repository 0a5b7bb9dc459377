// Shows a failed step in full: how it ended, the end of its output, where to find more.

import Diagnostics
import Plans
import RunFiles
import Scheduling

struct FailureBlock {
  private let operations: RunOperations
  private let ledger: RunLedger
  private let screen: Screen
  private let sink: ByteSink

  private static let tailLength = 40
  private static let shownServices = 3
  private static let serviceTailLength = 10
  /// A reason longer than this is on separate lines.
  private static let widestReason = 60
  private static let narrowestReason = 40

  init(_ operations: RunOperations, _ ledger: RunLedger, screen: Screen) {
    self.operations = operations
    self.ledger = ledger
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
    for service in operations.services(of: failure.operation).prefix(Self.shownServices) {
      writeService(service)
    }
    if blocked.count > 0 { writeBlocked(blocked) }
  }

  /// What the service has written last, of those that the step depended on.
  private func writeService(_ service: OperationID) {
    guard let command = ledger.serviceCommands[service], command.end.outputByteCount > 0 else {
      return
    }
    sink.write("  service ")
    sink.write(operations.name(service))
    sink.write(":\n")
    writeLog(
      Stream(operation: service, role: command.role), command.log, lines: Self.serviceTailLength)
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
    if case .notReady(let words) = failure.cause {
      return writeNotReady(words, after: decisive.end)
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
    if case .service(let words) = failure.cause {
      sink.write(": ")
      sink.write(oneLine(words))
    }
  }

  /// `not ready after 30s: tcp localhost:5432: refused`.
  private func writeNotReady(_ words: String, after end: CommandEnd) {
    sink.write("not ready after ")
    sink.write(elapsed: end.duration)
    sink.write(": ")
    sink.write(oneLine(words))
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

  private func writeLog(
    _ stream: Stream, _ identity: FileIdentity?, lines: Int = FailureBlock.tailLength
  ) {
    do throws(LogReadFailure) {
      let log = try operations.log(of: stream, writtenTo: identity)
      let tail = LogTail(
        of: log, limit: lines, columns: screen.columns - 4, buffer: screen.scratch)
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
