// The summary at the end of a run: the first failure in full, the others in a line each, then one
// line for the whole run. Everything else had its line when it happened.

import Plans
import Scheduling

struct Summary {
  private let operations: RunOperations
  private let ledger: RunLedger
  private let screen: Screen
  private let sink: ByteSink

  /// More names than this on the critical path are left out of its middle.
  private static let longestPath = 7
  private static let narrowestEnd = 40

  init(operations: RunOperations, ledger: RunLedger, screen: Screen) {
    self.operations = operations
    self.ledger = ledger
    self.screen = screen
    sink = screen.messages
  }

  func write(_ end: RunEnd, wallTime: Nanoseconds, isQuiet: Bool) {
    let failures = ledger.failures
    let block = FailureBlock(operations, ledger, screen: screen)
    let inFull = isQuiet ? failures.first.count : min(1, failures.first.count)
    for (index, failure) in failures.first[..<inFull].enumerated() {
      if index > 0 || !isQuiet { sink.writeNewline() }
      block.write(failure, blocked: index == 0 ? ledger.blocked : Sample())
    }
    if inFull > 0 { sink.writeNewline() }
    if failures.count > inFull {
      for failure in failures.first[inFull...] { writeFailure(failure) }
      if failures.count > failures.first.count {
        sink.write("  … and ")
        sink.write(grouped: failures.count - failures.first.count)
        sink.write(" more\n")
      }
      sink.writeNewline()
    }
    if !isQuiet || end.exitStatus != 0 { writeVerdict(end, wallTime: wallTime) }
  }

  private func writeFailure(_ failure: SettledOperation) {
    let step = operations.step(failure.operation)
    screen.write(.failed)
    sink.write(" ")
    sink.write(step.id)
    sink.write("  ")
    if let decisive = failure.decisive {
      let columns = max(Self.narrowestEnd, screen.columns - step.id.utf8.count - 4)
      sink.write(decisive.end, limit: step.settings.timeout, columns: columns)
      if decisive.end.outputByteCount > 0 {
        sink.write("  ")
        sink.write(oneLine(operations.logPath(of: Stream(failure.operation, decisive))))
      }
    } else {
      sink.write(failureWithoutCommand: failure, failure.reason(operations))
    }
    sink.writeNewline()
  }
}

// The last line: `✗ gallery.yml: 1 failed, 2 blocked, 5 ok in 9.8s   (12.1s of work, …)`.
extension Summary {
  private func writeVerdict(_ end: RunEnd, wallTime: Nanoseconds) {
    screen.write(end.exitStatus == 0 ? .succeeded : .failed)
    sink.write(" ")
    sink.write(shortName(operations.plan.name), in: .strong, isColored: screen.colorsMessages)
    sink.write(": ")
    writeCounts()
    sink.write(" in ")
    sink.write(elapsed: wallTime)
    if end.hookFailed { sink.write(", a hook of the run failed") }
    if let reason = end.stopReason {
      sink.write(", stopped: ")
      sink.write(reason.words(operations))
    }
    writeWork(wallTime: wallTime)
    sink.writeNewline()
  }

  private subscript(count: Count) -> Int {
    let all = Outcome.allCases.lazy.filter { $0.count == count }.reduce(0) { $0 + ledger[$1] }
    return switch count {
    case .failed: all - ledger.allowedFailures
    case .allowed: ledger.allowedFailures
    case .blocked, .cancelled, .ok, .upToDate, .skipped: all
    }
  }

  private func writeCounts() {
    let counts = Count.allCases.map { (self[$0], $0.words) }
    let shown = counts.filter { $0.0 > 0 }
    for (index, (count, word)) in shown.enumerated() {
      if index > 0 { sink.write(", ") }
      sink.write(grouped: count)
      sink.write(word)
    }
    if shown.isEmpty { sink.write("nothing ran") }
  }

  private func writeWork(wallTime: Nanoseconds) {
    let path = ledger.criticalPath
    let ranCount = Outcome.allCases.lazy.filter(\.isOfWork).reduce(0) { $0 + ledger[$1] }
    guard ranCount > 1, ledger.work > 0, !path.isEmpty else { return }
    sink.write("   (")
    sink.write(elapsed: ledger.work)
    sink.write(" of work, ")
    sink.write(path.count > 1 ? "critical path " : "longest ")
    write(path)
    sink.write(" ")
    sink.write(elapsed: ledger.criticalTime)
    sink.write(")")
  }

  private func write(_ path: [OperationID]) {
    let isCut = path.count > Self.longestPath
    let ends = isCut ? Array(path.prefix(3) + path.suffix(3)) : path
    for (index, operation) in ends.enumerated() {
      if index > 0 { sink.write(" > ") }
      if isCut, index == 3 {
        sink.write("… ")
        sink.write(grouped: path.count - 6)
        sink.write(" more … > ")
      }
      sink.write(operations.name(operation))
    }
  }
}

/// The classes in which operations are counted, in the order of the last line.
private enum Count: CaseIterable {
  case failed, allowed, blocked, cancelled, ok, upToDate, skipped

  var words: StaticString {
    switch self {
    case .failed: " failed"
    case .allowed: " failed but allowed"
    case .blocked: " blocked"
    case .cancelled: " cancelled"
    case .ok: " ok"
    case .upToDate: " up to date"
    case .skipped: " skipped"
    }
  }
}

extension Outcome {
  fileprivate var count: Count {
    switch self {
    case .failed, .timedOut: .failed
    case .blocked: .blocked
    case .cancelled: .cancelled
    case .succeeded: .ok
    case .cached: .upToDate
    case .skipped: .skipped
    }
  }

  /// Whether an operation that ended like this usually did work.
  fileprivate var isOfWork: Bool {
    switch self {
    case .succeeded, .failed, .timedOut, .cancelled: true
    case .cached, .blocked, .skipped: false
    }
  }
}

extension Stream {
  fileprivate init(_ operation: OperationID, _ command: CommandResult) {
    self.init(operation: operation, role: command.role)
  }
}

extension ByteSink {
  /// Writes a size: `81.4 MB`.
  func write(byteCount: Int) {
    let units: [(size: Int, name: StaticString)] = [
      (1_000_000_000, " GB"), (1_000_000, " MB"), (1000, " kB"),
    ]
    guard let unit = units.first(where: { byteCount >= $0.size }) else {
      return write(byteCount, "byte")
    }
    write(decimal: byteCount / unit.size)
    write(".")
    write(decimal: byteCount % unit.size * 10 / unit.size)
    write(unit.name)
  }
}
