// The end of a run: the first failures in full, the others counted, then one line that says it all. What
// else happened has had its line when it happened.

import Plans
import Scheduling

struct Summary {
  private let operations: RunOperations
  private let ledger: RunLedger
  private let screen: Screen
  private let sink: ByteSink
  /// What was changed from outside, in words.
  var changes: [String] = []

  /// More names than this on the critical path are left out of its middle.
  private static let longestPath = 7
  /// The lines that are shown of the log of the first failure, and of the logs of the others.
  private static let linesOfFirst = 40
  private static let linesOfOthers = 10

  init(operations: RunOperations, ledger: RunLedger, screen: Screen) {
    self.operations = operations
    self.ledger = ledger
    self.screen = screen
    sink = screen.messages
  }

  func write(_ end: RunEnd, wallTime: Nanoseconds, isQuiet: Bool) {
    let block = FailureBlock(operations, ledger, screen: screen)
    for (index, failure) in ledger.failures.enumerated() {
      if index > 0 || !isQuiet { sink.writeNewline() }
      block.write(
        failure, blocked: ledger.blocked(by: failure),
        lineLimit: index == 0 ? Self.linesOfFirst : Self.linesOfOthers)
    }
    if !ledger.failures.isEmpty {
      writeResumeCommand()
      sink.writeNewline()
    }
    if ledger.otherFailures.count > 0 { writeOtherFailures() }
    if !isQuiet, !changes.isEmpty {
      screen.write(.waiting)
      sink.write(" changed while it ran: ")
      sink.write(oneLine(changes.joined(separator: ", ")))
      sink.writeNewline()
    }
    if !isQuiet || end.exitStatus != 0 { writeVerdict(end, wallTime: wallTime) }
  }

  /// `  try  oprun resume   run what failed or did not run`.
  private func writeResumeCommand() {
    guard let command = screen.resumeCommand else { return }
    sink.write("  ")
    let purpose = Piece("run what failed or did not run", .faint, gap: 3)
    screen.write([Piece("try"), Piece(command, cut: .nothing), purpose], at: 2)
  }

  /// `✗ 7 more failed: a, b and 5 more`.
  private func writeOtherFailures() {
    let others = ledger.otherFailures
    screen.write(.failed)
    sink.write(" ")
    let words = sink.captured {
      $0.write(grouped: others.count)
      $0.write(" more failed:")
    }
    screen.write([Piece(words)] + operations.pieces(others), at: 2)
    sink.writeNewline()
  }
}

// The last line: `✗ gallery.yml: 1 failed, 2 blocked, 5 ok in 9.8s   (12.1s of work, …)`.
extension Summary {
  private func writeVerdict(_ end: RunEnd, wallTime: Nanoseconds) {
    screen.write(end.exitStatus == 0 ? .succeeded : .failed)
    sink.write(" ")
    var words = counts
    words.append("in " + sink.captured { $0.write(elapsed: wallTime) })
    if end.hookFailed {
      words[words.count - 1] += ","
      words.append("a hook of the run failed")
    }
    if let reason = end.stopReason {
      words[words.count - 1] += ","
      words.append("stopped: " + reason.words(operations))
    }
    let name = Piece(shortName(operations.plan.name) + ":", .strong, cut: .middle)
    screen.write(
      [name] + words.map { Piece($0, cut: .nothing, gap: 1) } + work(wallTime: wallTime), at: 2)
  }

  private subscript(count: Count) -> Int {
    let all = Outcome.allCases.lazy.filter { $0.count == count }.reduce(0) { $0 + ledger[$1] }
    return switch count {
    case .failed: all - ledger.allowedFailures
    case .allowed: ledger.allowedFailures
    case .blocked, .cancelled, .ok, .upToDate, .skipped: all
    }
  }

  /// `1 failed,` `2 blocked,` `5 ok`.
  private var counts: [String] {
    let shown = Count.allCases.map { (self[$0], $0.words) }.filter { $0.0 > 0 }
    let words = shown.enumerated().map { index, count in
      sink.captured {
        $0.write(grouped: count.0)
        $0.write(count.1)
        if index < shown.count - 1 { $0.write(",") }
      }
    }
    return words.isEmpty ? ["nothing ran"] : words
  }

  /// `(12.1s of work, critical path fetch > build 6.2s)`.
  private func work(wallTime: Nanoseconds) -> [Piece] {
    let path = ledger.criticalPath
    let ranCount = Outcome.allCases.lazy.filter(\.isOfWork).reduce(0) { $0 + ledger[$1] }
    guard ranCount > 1, ledger.work > 0, !path.isEmpty else { return [] }
    let all = sink.captured {
      $0.write("(")
      $0.write(elapsed: ledger.work)
      $0.write(" of work,")
    }
    let time = sink.captured {
      $0.write(elapsed: ledger.criticalTime)
      $0.write(")")
    }
    let kind = path.count > 1 ? "critical path" : "longest"
    return [Piece(all, gap: 3), Piece(kind, gap: 1)] + pieces(of: path) + [Piece(time, gap: 1)]
  }

  private func pieces(of path: [OperationID]) -> [Piece] {
    let isCut = path.count > Self.longestPath
    var names = (isCut ? Array(path.prefix(3) + path.suffix(3)) : path).map(operations.name)
    if isCut {
      names.insert("… \(sink.captured { $0.write(grouped: path.count - 6) }) more …", at: 3)
    }
    return names.enumerated().flatMap { index, name in
      (index == 0 ? [] : [Piece(">", gap: 1)]) + [Piece(name, cut: .middle, gap: 1)]
    }
  }
}

/// What operations are counted as, in the order of the last line.
enum Count: CaseIterable {
  case failed, allowed, blocked, cancelled, ok, upToDate, skipped

  /// The order for the instances of a step.
  static let inLinesOfGroups: [Count] = [
    .ok, .upToDate, .failed, .allowed, .cancelled, .blocked, .skipped,
  ]

  init(_ ending: Ending) { self = ending.isAllowed ? .allowed : ending.outcome.count }

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
  var count: Count {
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

extension RunOperations {
  /// `pack, test ×4 and 12 more`.
  func pieces(_ names: FoldedNames) -> [Piece] {
    var words = names.first.map { entry in
      guard let group = entry.group, entry.count > 1 else { return name(entry.operation) }
      return "\(name(group)) ×\(entry.count)"
    }
    for index in words.indices.dropLast() { words[index] += "," }
    var pieces = words.map { Piece($0, cut: .middle, gap: 1) }
    if names.otherCount > 0 { pieces.append(Piece("and \(names.otherCount) more", gap: 1)) }
    return pieces
  }
}

extension ByteSink {
  /// Writes a size: `81.4 MB`.
  package func write(byteCount: Int) {
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
