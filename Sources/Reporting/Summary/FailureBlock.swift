// Shows a failed step in full: its ending, the end of its output, and where to find more.

import Diagnostics
import Expressions
import Plans
import RunFiles
import Scheduling

struct FailureBlock {
  private let operations: RunOperations
  private let ledger: RunLedger
  private let screen: Screen
  private let sink: ByteSink
  /// True if a step has been edited since it failed, and now runs something else.
  var isEdited: (OperationID) -> Bool = { _ in false }
  /// True if a failure has only one line.
  var isBrief = false

  private static let shownServices = 3
  private static let serviceTailLength = 10
  /// The largest number of columns of a command.
  private static let widestCommand = 156
  /// The lines that are shown of a script.
  private static let longestScript = 6
  /// A longer reason has lines of its own.
  private static let widestReason = 60

  init(_ operations: RunOperations, _ ledger: RunLedger, screen: Screen) {
    self.operations = operations
    self.ledger = ledger
    self.screen = screen
    sink = screen.messages
  }

  /// Writes a failure, with `lineLimit` lines of its log.
  func write(_ failure: SettledOperation, blocked: FoldedNames, lineLimit: Int) {
    let step = operations.step(failure.operation)
    writeHeading(failure, step)
    if isBrief { return }
    if let reason = longReason(of: failure) { writeLines(of: reason) }
    if failure.decisive != nil || !operations.standsForOthers(failure.operation) {
      writeCommand(of: failure, step)
    }
    if let decisive = failure.decisive {
      let stream = Stream(operation: failure.operation, role: decisive.role)
      let command = operations.command(of: failure)
      if decisive.end.outputByteCount > 0 {
        writeLog(stream, decisive, lineLimit, step.settings)
      } else {
        writeSilence(after: decisive.end, of: command)
      }
      if case .service = failure.cause, decisive.end.status == .exited(0) {
        writeHelp("the command of a service must run in the foreground until oprun stops it")
      }
    }
    if blocked.count > 0 {
      sink.write(spaces: 2)
      screen.write(
        screen.words(of: "blocked because of it:") + operations.pieces(blocked), at: 2, indent: 4)
    }
    for service in operations.services(of: failure.operation).prefix(Self.shownServices) {
      writeService(service)
    }
  }

  /// Writes a failed hook of the run itself, or of a used pipeline: `! the run  on_success hook: exit 3 after 1ms`.
  func write(_ hook: FailedHook, lineLimit: Int) {
    screen.write(.warning)
    sink.write(" ")
    screen.write([
      Piece(operations.name(hook.operation), .strong, cut: .middle),
      Piece(sink.captured { $0.write(failedHook: hook, operations) }),
    ])
    let settings = operations.settings(of: hook.operation)
    let command = operations.hook(hook.command.role, of: settings)?.work.shown
    if let command { writeCommand(command, in: settings.workingDirectory) }
    if hook.command.end.outputByteCount > 0 {
      writeLog(hook.stream, hook.command, lineLimit, settings)
    } else {
      writeSilence(after: hook.command.end, of: command)
    }
  }

  /// Says of a command without output that it printed nothing, if it ran.
  private func writeSilence(after end: CommandEnd, of command: ShownCommand?) {
    if end.isStopped { return }
    switch end.status {
    case .exited, .signalled: break
    case .abandoned, .lost, .notStarted, .outputsRefused: return
    }
    sink.write("  it printed nothing")
    if let target = command.flatMap({ targetOfErrors(inScript: $0.text) }) {
      sink.write(": its errors go to ")
      sink.write(shortName(target))
    }
    sink.writeNewline()
  }

  /// Writes the last output of a service that the step depended on.
  private func writeService(_ service: OperationID) {
    guard let command = ledger.serviceCommands[service], command.end.outputByteCount > 0 else {
      return
    }
    sink.write("  service ")
    sink.write(operations.name(service))
    sink.write(":\n")
    writeLog(
      Stream(operation: service, role: command.role), command, Self.serviceTailLength,
      operations.step(service).settings)
  }

  /// Writes `✗ unit  exit 1 after 3.4s (attempt 2 of 2)  gallery.yml:14`.
  private func writeHeading(_ failure: SettledOperation, _ step: PlannedStep) {
    screen.write(Mark(failure.ending))
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
    if failure.isUnended { return sink.write(unended: failure) }
    guard let decisive = failure.decisive else {
      return writeEndWithoutCommand(failure, to: sink)
    }
    sink.write(hookOf: decisive.role)
    if longReason(of: failure) != nil {
      return sink.write(decisive.end.isRefused ? "its outputs were refused" : "did not start")
    }
    let limit = operations.limit(of: decisive.end, as: decisive.role, failure.operation)
    sink.write(decisive.end, limit: limit, columns: .max)
    sink.write(decisive.place)
    if case .attempt = decisive.role {
      sink.write(attemptOf: decisive.role, limit: failure.retryLimit(settings))
    }
    switch failure.cause {
    case .notReady(let words), .service(let words):
      sink.write(": ")
      sink.write(oneLine(words))
    case .itself, .dependency, .condition, .timeLimit, .wait, .stopped, .stoppedEarlier, .hook:
      break
    }
  }

  private func writeEndWithoutCommand(_ failure: SettledOperation, to sink: ByteSink) {
    let reason = longReason(of: failure) == nil ? failure.reason(operations) : nil
    sink.write(failureWithoutCommand: failure, reason)
  }

  /// Why the command was not started, was lost, or does not count, if that is more than a few words.
  private func longReason(of failure: SettledOperation) -> String? {
    if isBrief { return nil }
    let reason: String? =
      switch failure.decisive?.end.status {
      case .notStarted(let reason, _), .outputsRefused(let reason), .lost(let reason): reason
      case .exited, .signalled, .abandoned: nil
      case nil: failure.reason(operations)
      }
    guard let reason else { return nil }
    let isShort = !reason.contains(where: \.isNewline) && reason.utf8.count <= Self.widestReason
    return isShort && !hasPlace(reason, failure.operation) ? nil : reason
  }

  /// True if the reason itself says where in the file the fault is.
  private func hasPlace(_ reason: String, _ operation: OperationID) -> Bool {
    let sources = operations.plan.sources
    return !sources.files.isEmpty
      && reason.hasPrefix(sources.position(of: operations.step(operation).span).path + ":")
  }

  private func writeLines(of reason: String) {
    let columns = max(1, screen.columns - 4)
    for line in wrapped(reason, columns: columns) {
      sink.write("  | ", in: .faint, isColored: screen.colorsMessages)
      sink.write(line)
      sink.writeNewline()
    }
  }

  /// The columns of a command. Without a terminal, lines are written whole; but of a command only
  /// enough to recognise it.
  private var commandColumns: Int { min(screen.columns - 4, Self.widestCommand) }

  /// Writes `  $ make test    in ./src` and the next lines of a script; with the values of its expressions, if it has any.
  private func writeCommand(of failure: SettledOperation, _ step: PlannedStep) {
    guard let command = operations.command(of: failure) else { return }
    if isEdited(failure.operation) {
      return sink.write("  edited since then: its command is no longer known\n")
    }
    writeCommand(command, in: step.settings.workingDirectory)
  }

  private func writeCommand(_ command: ShownCommand, in directory: String?) {
    let lines = sink.lines(of: command, columns: commandColumns)
    let isCut = lines.count > Self.longestScript
    for (index, line) in lines.prefix(Self.longestScript - (isCut ? 1 : 0)).enumerated() {
      sink.write(index == 0 ? "  $ " : "  > ")
      var pieces = [Piece(line)]
      if index == 0, let directory {
        pieces.append(Piece("in \(oneLine(directory))", cut: .middle, gap: 4))
      }
      screen.write(pieces, at: 4, indent: 4)
    }
    guard isCut else { return }
    sink.write("  > … and ")
    sink.write(decimal: lines.count - Self.longestScript + 1)
    sink.write(" more lines\n")
  }

  private func writeLog(
    _ stream: Stream, _ result: CommandResult, _ lineLimit: Int, _ settings: StepSettings
  ) {
    do throws(LogReadFailure) {
      let log = try operations.log(of: stream, writtenTo: result.log)
      let tail = LogTail(
        of: log, limit: lineLimit, columns: screen.columns - 4, buffer: screen.scratch)
      write(tail, at: place(of: stream))
      if !settings.usesTerminal, tail.lines.contains(where: TerminalWish.isSaid) {
        writeHelp("if the command needs a terminal, set 'tty: true'")
      }
      if result.end.status == .exited(126), let name = tail.lines.last.flatMap(refusedProgram) {
        let path = shellQuoted(path(of: name, in: settings.workingDirectory))
        writeHelp("if it is a program, make it executable: chmod +x \(path)")
      }
    } catch {
      screen.writeUnreadable(operations.logPath(of: stream), error)
    }
  }

  private func writeHelp(_ text: String) {
    sink.write("  help: ", in: .good, isColored: screen.colorsMessages)
    screen.write(screen.words(of: text), at: 8, indent: 4)
  }

  /// The path of the log; if a shell would read it as something else, the command that prints the log.
  private func place(of stream: Stream) -> String {
    let path = operations.logPath(of: stream)
    // Shells take letters of any script as they are.
    let plain = String(decoding: path.utf8.filter { $0 < 0x80 }, as: UTF8.self)
    if shellQuoted(plain) == plain { return oneLine(path) }
    return oneLine(operations.logsCommand(of: stream) ?? shellQuoted(path))
  }

  private func write(_ tail: LogTail, at place: String) {
    for line in tail.lines {
      sink.write("  | ", in: .faint, isColored: screen.colorsMessages)
      sink.write(line)
      sink.writeNewline()
    }
    let lineCount = tail.lineCount(buffer: screen.scratch)
    let size = sink.captured {
      $0.write("(")
      if let lineCount {
        $0.write(lineCount, "line")
      } else {
        $0.write(byteCount: tail.byteCount)
      }
      if lineCount != tail.lines.count {
        $0.write(", last ")
        $0.write(decimal: tail.lines.count)
        $0.write(" shown")
      } else if tail.isCutAtStart {
        $0.write(lineCount == 1 ? ", its end shown" : ", the end of the first shown")
      }
      $0.write(")")
    }
    sink.write("  ")
    screen.write([Piece("log"), Piece(place, cut: .nothing), Piece(size)], at: 2)
  }
}

extension ByteSink {
  /// Writes `on_success hook: `; nothing for an attempt.
  func write(hookOf role: CommandRole) {
    guard case .hook(let kind, _, _) = role else { return }
    write(kind.keyText)
    write(" hook: ")
  }

  /// Writes `on_success hook: exit 3 after 1ms`.
  func write(failedHook hook: FailedHook, _ operations: RunOperations) {
    let (role, end) = (hook.command.role, hook.command.end)
    write(hookOf: role)
    write(end, limit: operations.limit(of: end, as: role, hook.operation), columns: .max)
  }

  /// Writes `, job 12 on n3` about a command that did not run here.
  func write(_ place: CommandPlacement?) {
    guard let place else { return }
    write(", ")
    write(oneLine(place.wordsAfterEnd))
  }
}
