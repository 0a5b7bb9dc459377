// The end of a run: the first failures in full, the others counted, then one line that says it all.
// Other incidents have had their lines when they happened.

import Diagnostics
import Plans
import Scheduling

struct Summary {
  private let operations: RunOperations
  private let ledger: RunLedger
  private let screen: Screen
  private let sink: ByteSink
  /// The changes from outside, in words.
  var changes: [String] = []
  /// True if a step has been edited since it failed, and now runs something else.
  var isEdited: (OperationID) -> Bool = { _ in false }
  /// Decides which failures are shown; nil means all of them, and the number of those without room.
  var isShown: ((SettledOperation) -> Bool)?

  /// The number of names on the critical path that are shown; more are left out of its middle.
  private static let longestPath = 7
  /// The lines that are shown of the log of the first failure, and of the logs of the others.
  private static let linesOfFirst = 40
  private static let linesOfOthers = 10
  /// The failures that are shown in full; the next ones have a line.
  private static let wholeFailures = 5
  /// The number of failed hooks that are shown.
  private static let shownHooks = 5

  init(operations: RunOperations, ledger: RunLedger, screen: Screen) {
    self.operations = operations
    self.ledger = ledger
    self.screen = screen
    sink = screen.messages
  }

  func write(_ end: RunEnd, wallTime: Nanoseconds, isQuiet: Bool) {
    var advice: [Advice] = []
    if ledger.isWorthResuming(after: end), let command = screen.resumeCommand() {
      advice.append(.resume(command, afterLeaving: end.wasLeft))
    }
    let isSomething = writeFailures(advice, after: isQuiet ? .nothing : .lines)
    if isSomething { sink.writeNewline() }
    if !isQuiet, !changes.isEmpty {
      screen.write(.waiting)
      sink.write(" changed during the run: ")
      sink.write(oneLine(changes.joined(separator: ", ")))
      sink.writeNewline()
    }
    if !isQuiet || end.exitStatus != 0 { writeVerdict(end, wallTime: wallTime) }
  }

  /// The content above.
  enum Above {
    case nothing, lines
  }

  /// Writes the failures, the interrupted steps, and the advice, with a blank line before each;
  /// false if there was nothing to write.
  func writeFailures(_ advice: [Advice], after above: Above) -> Bool {
    var above = above
    func begin() {
      if above == .lines { sink.writeNewline() }
      above = .lines
    }
    var block = FailureBlock(operations, ledger, screen: screen)
    block.isEdited = isEdited
    let failures = ledger.failures.filter { isShown?($0) ?? true }
    let interrupted = ledger.interrupted.filter { isShown?($0) ?? true }
    var lineLimit = Self.linesOfFirst
    for (steps, others, mark, words) in [
      (failures, ledger.otherFailures, Mark.failed, "failed"),
      (interrupted, ledger.otherInterrupted, .notRun, "stopped"),
    ] {
      for (index, step) in steps.enumerated() {
        block.isBrief = index >= Self.wholeFailures
        if index <= Self.wholeFailures { begin() }
        block.write(step, blocked: ledger.blocked(by: step), lineLimit: lineLimit)
        lineLimit = Self.linesOfOthers
      }
      guard isShown == nil, others.count > 0 else { continue }
      if !block.isBrief { begin() }
      write(others, mark, words)
    }
    block.isBrief = false
    let hooks = isShown == nil ? ledger.failedHooks : []
    for hook in hooks.prefix(Self.shownHooks) {
      begin()
      block.write(hook, lineLimit: Self.linesOfOthers)
    }
    if hooks.count > Self.shownHooks {
      begin()
      var others = FoldedNames()
      for hook in hooks.dropFirst(Self.shownHooks) { others.add(hook.operation, in: nil) }
      write(others, .warning, "hooks failed")
    }
    if !advice.isEmpty {
      begin()
      write(advice)
    }
    return failures.count + interrupted.count + hooks.count + advice.count > 0
  }

  /// Writes `  try  oprun resume 20260402-101502-k3   run what failed or did not run`.
  private func write(_ advice: [Advice]) {
    let width = advice.map { displayWidth(of: $0.command) }.max() ?? 0
    for (index, entry) in advice.enumerated() {
      sink.write("  ")
      let gap = width - displayWidth(of: entry.command) + 3
      let purpose = Piece(entry.purpose, .faint, gap: gap)
      let command = Piece(entry.command, cut: .nothing)
      screen.write([Piece(index == 0 ? "try" : "   "), command, purpose], at: 2)
    }
  }

  /// Writes `✗ 7 more failed: a, b and 5 more`.
  private func write(_ others: FoldedNames, _ mark: Mark, _ words: String) {
    screen.write(mark)
    sink.write(" ")
    let beginning = sink.captured {
      $0.write(grouped: others.count)
      $0.write(" more \(words):")
    }
    screen.write([Piece(beginning)] + operations.pieces(others), at: 2)
  }
}

/// A command that somebody may want next, and its purpose.
package struct Advice {
  package let command: String
  package let purpose: String

  package init(_ command: String, to purpose: String) {
    self.command = command
    self.purpose = purpose
  }

  package static func resume(_ command: String, afterLeaving wasLeft: Bool = false) -> Advice {
    Advice(
      command,
      to: wasLeft
        ? "wait for the jobs, and run what did not run" : "run what failed or did not run")
  }
}

// The last line: `✗ gallery.yml: 1 failed, 2 blocked, 5 ok in 9.8s   (12.1s of work, …)`.
extension Summary {
  private func writeVerdict(_ end: RunEnd, wallTime: Nanoseconds) {
    screen.write(end.isDetached ? .waiting : end.exitStatus == 0 ? .succeeded : .failed)
    sink.write(" ")
    var words = counts
    words.append("in " + sink.captured { $0.write(elapsed: wallTime) })
    var remarks = end.remarks(operations, ledger.counts)
    if let reason = end.stopReason {
      remarks.append(remarks.removeLast() + reason.limit(in: operations))
    }
    for remark in remarks {
      words[words.count - 1] += ","
      words.append(remark)
    }
    let name = Piece(shortName(operations.plan.name) + ":", .strong, cut: .middle)
    screen.write(
      [name] + words.map { Piece($0, cut: .nothing, gap: 1) } + work, at: 2)
  }

  /// The counts: `1 failed,` `2 blocked,` `5 ok`.
  private var counts: [String] {
    let words = ledger.counts.words
    if words.isEmpty { return ["nothing ran"] }
    return words.dropLast().map { $0 + "," } + words.suffix(1)
  }

  /// The work and the critical path: `(12.1s of work, critical path fetch > build 6.2s)`.
  private var work: [Piece] {
    let path = ledger.criticalPath
    guard ledger.hasSeenAll, ledger.workCount > 1, ledger.work > 0, !path.isEmpty else { return [] }
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

extension RunOperations {
  /// The names of operations: `pack, test ×4 and 12 more`.
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
