// The progress of a run, as its block and its heartbeat show it, folded from its events.

import Diagnostics
import Masking
import Plans
import Scheduling

struct RunProgress {
  private let screen: Screen
  private let operations: RunOperations
  private(set) var steps: LiveSteps
  private let timeLeft: TimeLeft?
  /// The last estimate, and when it was made.
  private var estimate: (left: Nanoseconds?, time: Nanoseconds)?

  /// The time for which an estimate is kept: it looks at all operations, which is too much for every frame.
  private static let estimateAge: Nanoseconds = 500_000_000

  init(_ operations: RunOperations, screen: Screen) {
    self.screen = screen
    self.operations = operations
    steps = LiveSteps(operations)
    // Durations of earlier runs belong here.
    let graph = operations.plan.graph
    timeLeft = TimeLeft(operations) { graph.expected(of: $0) }
  }

  mutating func observe(_ event: RunEvent) { steps.observe(event) }

  /// The view at this time, with the last lines of as many steps as have a row.
  mutating func view(
    at time: Nanoseconds, rows limit: Int, _ ledger: RunLedger, _ lines: ProgressLines
  ) -> LiveView {
    let rows = steps.visibleRows
    var view = LiveView()
    view.done = ledger.counts.total
    view.total = max(operations.stepCount, view.done)
    view.failed = ledger.counts[.failed] + ledger.counts[.timedOut]
    view.running = steps.running.keys.count { $0.rawValue >= 0 }
    view.isStopping = steps.isStopping
    view.elapsed = time
    view.left = left(at: time, ledger)
    view.rows = rows.prefix(limit).map { self.row($0, at: time, lines.folds[$0.operation]) }
    view.rowCount = rows.count
    view.nameWidth = lines.nameWidth
    return view
  }

  private mutating func left(at time: Nanoseconds, _ ledger: RunLedger) -> Nanoseconds? {
    guard let timeLeft, !steps.isStopping else { return nil }
    if estimate.map({ time - $0.time >= Self.estimateAge }) ?? true {
      estimate = (timeLeft.left(steps, at: time, hasEnded: ledger.hasEnded), time)
    }
    guard let estimate, let left = estimate.left else { return nil }
    let rest = left - (time - estimate.time)
    return rest > 0 ? rest : nil
  }

  private func row(_ row: LiveRow, at time: Nanoseconds, _ fold: Fold?) -> LiveView.Row {
    let mark: Mark = row.retry == nil ? .opening : .retry
    var shown = LiveView.Row(mark: mark, name: name(of: row), elapsed: time - row.start)
    if row.isFold {
      let ended = fold.map { $0.counts(screen.messages) + ", " } ?? ""
      shown.note = ended + "\(counted(row.runningCount)) running"
    } else if let retry = row.retry {
      shown.note = "attempt \(retry.attempt) in \(elapsedText(retry.time - time))"
    } else if let place = row.place {
      shown.note = place.words
    }
    if row.byteCount > 0, let stream = row.stream, let log = operations.log(of: stream) {
      shown.lastLine = LastLine(of: log, upTo: row.byteCount, buffer: screen.scratch)
    }
    if shown.note.isEmpty, shown.lastLine.text.isEmpty {
      shown.note = masked(operations.label(of: row.operation).map(\.text).joined())
    }
    return shown
  }

  private func name(of row: LiveRow) -> String {
    if row.isFold {
      let count = counted(operations.instanceCount(of: row.operation))
      return masked("\(operations.name(row.operation)) ×\(count)")
    }
    return masked(row.stream.map(operations.title) ?? operations.name(row.operation))
  }

  private func masked(_ text: String) -> String {
    screen.messages.masker?.mask(text) ?? text
  }
}
