// The line that stands for all instances of a step: their endings, counted.

import Plans
import Scheduling

/// The instances that have ended so far.
struct Fold {
  private var counts: [Count: Int] = [:]
  private var total = 0
  /// The number of instances that were up to date, with outputs that were put back.
  private var restoredCount = 0
  private var start: Nanoseconds?
  /// Why the first instance that did not run did not.
  private var reason: String?
  private var hasOtherReasons = false

  mutating func add(_ settled: SettledOperation, reason text: String?, isRestored: Bool) {
    if isRestored { restoredCount += 1 }
    let count = Count(settled.ending, settled.cause)
    counts[count, default: 0] += 1
    total += 1
    if let record = settled.record {
      start = min(start ?? record.start, record.start)
    } else if let text {
      if reason == nil { reason = text } else if reason != text { hasOtherReasons = true }
    }
  }

  /// Removes an instance that runs again.
  mutating func remove(_ ending: Ending) {
    let count = Count(ending, .itself)
    let rest = counts[count, default: 1] - 1
    counts[count] = rest > 0 ? rest : nil
    total -= 1
    if notRun.allSatisfy({ counts[$0] == nil }) {
      reason = nil
      hasOtherReasons = false
    }
  }

  private var notRun: [Count] { [.blocked, .cancelled, .left, .skipped] }

  /// `×40`.
  var multiplier: String { "×\(total)" }

  /// The mark of the most important ending.
  var mark: Mark {
    let marks: [(Count, Mark)] = [
      (.failed, .failed), (.timedOut, .failed), (.allowed, .warning), (.blocked, .notRun),
      (.cancelled, .notRun), (.left, .waiting), (.ok, .succeeded), (.upToDate, .cached),
    ]
    return marks.first { counts[$0.0] != nil }?.1 ?? .notRun
  }

  /// `38 ok, 2 failed in 12.3s`, `4 blocked: 'get' failed`.
  func words(at end: Nanoseconds, _ sink: ByteSink) -> String {
    counts(sink)
      + sink.captured { sink in
        if let start {
          sink.write(" in ")
          sink.write(elapsed: end - start)
        }
        if let reason {
          sink.write(": ")
          sink.write(reason)
          if hasOtherReasons { sink.write(", and other reasons (--verbose)") }
        }
      }
  }

  /// `38 ok, 2 failed`.
  func counts(_ sink: ByteSink) -> String {
    sink.captured { sink in
      let shown = Count.inLinesOfGroups.compactMap { count in counts[count].map { (count, $0) } }
      for (index, (count, number)) in shown.enumerated() {
        if index > 0 { sink.write(", ") }
        sink.write(grouped: number)
        sink.write(count.words)
        if count == .upToDate, restoredCount > 0 {
          sink.write(" (")
          sink.write(grouped: restoredCount)
          sink.write(" restored)")
        }
      }
    }
  }

  /// False for a single instance that failed, which has had its line.
  var saysMore: Bool {
    total > 1 || [.failed, .timedOut, .allowed].allSatisfy { counts[$0] == nil }
  }
}

extension ProgressLines {
  /// Counts an instance in the fold of its group; true if that line stands for it. A failure has
  /// its own line at once.
  mutating func fold(_ settled: SettledOperation) -> Bool {
    guard let group = operations.fold(of: settled.operation) else { return false }
    folds[group, default: Fold()].add(
      settled, reason: settled.reason(operations),
      isRestored: restored.remove(settled.operation) != nil)
    return !settled.ending.outcome.isFailure
  }

  /// Removes an operation that runs again, or waits for one that does.
  mutating func reopen(_ operation: OperationID, _ ending: Ending) {
    if let group = operations.fold(of: operation) { folds[group]?.remove(ending) }
  }

  /// Writes the line of a group whose instances have all ended.
  mutating func writeFold(_ group: OperationID, at time: Nanoseconds) {
    guard !folds.isEmpty, let fold = folds.removeValue(forKey: group), fold.saysMore
    else { return }
    begin(fold.mark, named: "\(operations.name(group)) \(fold.multiplier)")
    screen.subject = group
    sink.write(fold.words(at: time, sink))
    endLine(of: group)
  }
}
