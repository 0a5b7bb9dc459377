// Writes one line for each operation when it ends, on the messages stream.

import Diagnostics
import Plans
import Scheduling

struct ProgressLines {
  let operations: RunOperations
  let screen: Screen
  let sink: ByteSink
  /// The columns of the widest known name, up to a limit.
  private var widest: Int
  /// The reported conditions that unended operations wait for.
  var waits: [OperationID: Set<String>] = [:]
  /// Steps that are about to be up to date, and whose outputs were put back.
  var restored: Set<OperationID> = []
  /// The folds by the group, until all of it has ended.
  var folds: [OperationID: Fold] = [:]
  /// The numbers of operations that ended in this turn without having started: with a line, and without.
  private var told = 0
  private var untold = 0

  private static let widestName = 48
  /// The width to which names are padded at least, where there is room.
  private static let usualName = 24
  private static let usualEnd = 56
  private static let narrowestEnd = 40
  private static let unstartedPerTurn = 10

  init(_ operations: RunOperations, screen: Screen) {
    self.operations = operations
    self.screen = screen
    sink = screen.messages
    let widest =
      operations.plan.steps.indices.lazy.map { operations.widthOfName(OperationID($0)) }
      .max() ?? 0
    self.widest = min(Self.widestName, widest)
  }

  /// The number of columns to which names are padded. On a terminal it leaves room for reasons.
  var nameWidth: Int {
    min(widest, max(screen.columns - Self.usualEnd, min(Self.usualName, screen.nameColumns)))
  }

  /// Makes room for an operation that may have this name from now on.
  mutating func makeRoom(for name: String) {
    widest = min(Self.widestName, max(widest, displayWidth(of: name)))
  }

  /// The number of columns left for the words about an end.
  var endColumns: Int { max(Self.narrowestEnd, screen.columns - nameWidth - 4) }

  /// Writes the mark and the padded name.
  func begin(_ mark: Mark, _ operation: OperationID) {
    begin(mark, named: operations.name(operation))
    screen.subject = operation
  }

  func begin(_ mark: Mark, named name: String) {
    screen.turnToMessages()
    screen.write(mark)
    sink.write(UInt8(ascii: " "))
    let room = max(screen.nameColumns, screen.columns - Self.narrowestEnd)
    let name = operations.short(name, columns: room)
    sink.write(name)
    sink.write(spaces: max(0, nameWidth - displayWidth(of: name)) + 2)
  }

  /// Writes the name for people, and ends the line.
  func endLine(of operation: OperationID) {
    for piece in operations.label(of: operation) {
      sink.write("  ")
      sink.write(piece.text, in: .faint, isColored: screen.colorsMessages)
    }
    sink.writeNewline()
  }

  mutating func restored(_ operation: OperationID) { restored.insert(operation) }

  mutating func write(_ settled: SettledOperation) {
    if !waits.isEmpty { waits[settled.operation] = nil }
    if fold(settled) { return }
    guard settled.record != nil || settled.ending.outcome == .cached || tellsOneMore() else {
      return
    }
    let goesOn = settled.isLeft && settled.record != nil
    begin(goesOn ? .waiting : Mark(settled.ending), settled.operation)
    switch settled.ending.outcome {
    case .succeeded: writeSuccess(settled)
    case .failed, .timedOut: writeFailure(settled, to: sink)
    case .cached:
      sink.write(restored.remove(settled.operation) == nil ? "up to date" : "up to date, restored")
    case .cancelled:
      sink.write(
        settled.hasNotStarted ? "did not start" : goesOn ? "goes on in Slurm" : "cancelled")
    case .skipped: sink.write("skipped")
    case .blocked: sink.write("blocked")
    }
    if !goesOn, let reason = settled.reason(operations) {
      sink.write(settled.linkToReason)
      sink.write(reason)
    }
    endLine(of: settled.operation)
  }

  private func writeSuccess(_ settled: SettledOperation) {
    guard let last = settled.record?.last else { return sink.write("done") }
    if operations.isService(settled.operation) { sink.write("stopped after ") }
    sink.write(elapsed: last.end.duration)
    sink.write(attemptOf: last.role, limit: 0)
  }

  /// Writes how an operation failed, and why.
  func writeEnd(of settled: SettledOperation, to sink: ByteSink) {
    writeFailure(settled, to: sink)
    guard let reason = settled.reason(operations) else { return }
    sink.write(settled.linkToReason)
    sink.write(reason)
  }

  private func writeFailure(_ settled: SettledOperation, to sink: ByteSink) {
    if case .hook(let kind) = settled.cause {
      sink.write(kind.keyText)
      sink.write(" hook failed")
    } else if let last = settled.record?.last {
      let settings = operations.step(settled.operation).settings
      sink.write(last.end, limit: settings.timeout, columns: endColumns)
      sink.write(attemptOf: last.role, limit: settled.retryLimit(settings))
    } else {
      sink.write(failureWithoutCommand: settled, nil)
    }
    if settled.ending.isAllowed { sink.write(", allowed") }
  }

  /// True if another operation gets a line. A failure can end thousands of operations at once, and
  /// a few lines are enough.
  private mutating func tellsOneMore() -> Bool {
    if told < Self.unstartedPerTurn {
      told += 1
      return true
    }
    untold += 1
    return false
  }

  mutating func endTurn() {
    if untold > 0 {
      screen.turnToMessages()
      screen.write(.notRun)
      sink.write(" … and ")
      sink.write(grouped: untold)
      sink.write(" more\n")
      screen.subject = nil
      untold = 0
    }
    told = 0
  }
}

extension Mark {
  init(_ ending: Ending) {
    self =
      switch ending.outcome {
      case .succeeded: .succeeded
      case .cached: .cached
      case .failed, .timedOut: ending.isAllowed ? .warning : .failed
      case .cancelled, .skipped, .blocked: .notRun
      }
  }
}
