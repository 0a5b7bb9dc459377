// Shows a failed step in full: how it ended, the end of its output, where to find more.

import Diagnostics
import Plans
import RunFiles
import Scheduling

struct FailureBlock {
  private let operations: RunOperations
  private let screen: Screen
  private let sink: ByteSink

  /// A longer reason has lines of its own.
  private static let widestReason = 60

  init(_ operations: RunOperations, screen: Screen) {
    self.operations = operations
    self.screen = screen
    sink = screen.messages
  }

  /// `lineLimit` lines of its log are shown.
  func write(_ failure: SettledOperation, blocked: FoldedNames, lineLimit: Int) {
    let step = operations.step(failure.operation)
    writeHeading(failure, step)
    if let reason = longReason(of: failure) { writeLines(of: reason) }
    if !operations.standsForOthers(failure.operation) { writeCommand(of: failure, step) }
    if let decisive = failure.decisive, decisive.end.outputByteCount > 0 {
      let stream = Stream(operation: failure.operation, role: decisive.role)
      writeLog(stream, decisive.log, lineLimit, step.settings)
    }
    if blocked.count > 0 {
      sink.write(spaces: 2)
      screen.write(
        screen.words(of: "blocked because of it:") + operations.pieces(blocked), at: 2, indent: 4)
    }
  }

  /// Writes `✗ unit  exit 1 after 3.4s (attempt 2 of 2)  gallery.yml:14`.
  private func writeHeading(_ failure: SettledOperation, _ step: PlannedStep) {
    screen.write(.failed)
    sink.write(" ")
    let end = sink.captured { writeEnd(failure, step.settings, to: $0) }
    let place = oneLine(operations.plan.sources.location(of: step.span))
    screen.write(
      [Piece(step.id, .strong, cut: .middle)] + operations.label(of: failure.operation)
        + [Piece(end), Piece(place, cut: .middle)], at: 2)
  }

  private func writeEnd(
    _ failure: SettledOperation, _ settings: StepSettings, to sink: ByteSink
  ) {
    guard let decisive = failure.decisive else {
      return writeEndWithoutCommand(failure, to: sink)
    }
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

  private func writeEndWithoutCommand(_ failure: SettledOperation, to sink: ByteSink) {
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
    let columns = max(1, screen.columns - 4)
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
    var pieces = [
      Piece(sink.captured { $0.write(firstLineOf: command, columns: screen.columns - 4) })
    ]
    if let directory = step.settings.workingDirectory {
      pieces.append(Piece("in \(oneLine(directory))", cut: .middle, gap: 4))
    }
    screen.write(pieces, at: 4, indent: 4)
  }

  private func writeLog(
    _ stream: Stream, _ identity: FileIdentity?, _ lineLimit: Int, _ settings: StepSettings
  ) {
    do throws(LogReadFailure) {
      let log = try operations.log(of: stream, writtenTo: identity)
      let tail = LogTail(
        of: log, limit: lineLimit, columns: screen.columns - 4, buffer: screen.scratch)
      write(tail, of: operations.logPath(of: stream))
      if !settings.usesTerminal, tail.lines.contains(where: TerminalWish.isSaid) {
        writeHelp("it seems to want a terminal: 'tty: true' gives the step one")
      }
    } catch {
      screen.writeUnreadable(operations.logPath(of: stream), error)
    }
  }

  private func writeHelp(_ text: String) {
    sink.write("  help: ", in: .good, isColored: screen.colorsMessages)
    screen.write(screen.words(of: text), at: 8, indent: 4)
  }

  private func write(_ tail: LogTail, of path: String) {
    for line in tail.lines {
      sink.write("  | ", in: .faint, isColored: screen.colorsMessages)
      sink.write(line)
      sink.writeNewline()
    }
    let size = sink.captured {
      $0.write("(")
      if let count = tail.lineCount {
        $0.write(count, "line")
      } else {
        $0.write(byteCount: tail.byteCount)
      }
      if tail.lineCount != tail.lines.count {
        $0.write(", last ")
        $0.write(decimal: tail.lines.count)
        $0.write(" shown")
      }
      $0.write(")")
    }
    sink.write("  ")
    screen.write([Piece("log"), Piece(oneLine(path), cut: .nothing), Piece(size)], at: 2)
  }
}
