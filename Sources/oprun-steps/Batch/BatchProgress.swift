// Shows the progress of a batch: a bar on a terminal, a line now and then elsewhere.

import Diagnostics
import Glibc
import OperationKit

/// Reports on a batch on standard error. It may be used from any thread.
final class BatchProgress: Sendable {
  private struct Counts: Sendable {
    var state: BatchState
    var isShown = false
    var isOver = false
    var lastLine: Int64
    var lastText = ""
    var report: ProgressReport?
    var lastReport: Int64
  }

  private let output: Output
  private let meter: Meter
  private let started: Int64
  private let hasBar: Bool
  private let counts: Guarded<Counts>

  private static let frame: UInt32 = 200_000
  private static let lineInterval: Int64 = 5_000_000_000

  init(total: Int, noun: String, output: Output, meter: Meter) {
    let started = monotonicTime()
    self.started = started
    counts = Guarded(
      Counts(
        state: BatchState(total: total, noun: noun), lastLine: started, report: ProgressReport(),
        lastReport: started))
    counts.withLock { Self.report(&$0, at: started, since: started) }
    self.output = output
    self.meter = meter
    hasBar = output.isTerminal && !Self.keepsLines(environmentValue)
    _ = Threads.start { [self] in
      while !counts.withLock({ $0.isOver }) {
        usleep(Self.frame)
        show()
      }
    }
  }

  /// Called when an item has ended; a failure is reported at once.
  func ended(_ item: ItemResult) {
    counts.withLock { counts in
      counts.state.done += 1
      guard let error = item.error else { return }
      counts.state.failed += 1
      hide(&counts)
      output.write("failed: \(printable(item.origin)): \(error)\n")
    }
  }

  /// Prints a notice on a separate line.
  func tell(_ text: String) {
    counts.withLock { counts in
      hide(&counts)
      output.write(text + "\n")
    }
  }

  /// Stops showing progress.
  func close() {
    counts.withLock { counts in
      hide(&counts)
      counts.isOver = true
      measure(&counts)
      Self.report(&counts, at: monotonicTime(), since: started)
    }
  }

  private func show() {
    let now = monotonicTime()
    counts.withLock { counts in
      guard !counts.isOver else { return }
      measure(&counts)
      if now - counts.lastReport >= ProgressReport.interval {
        Self.report(&counts, at: now, since: started)
      }
      let state = counts.state
      let text = Self.text(state, bytesPerSecond: state.speed(after: now - started))
      if hasBar {
        let line = Self.line(state.done, of: state.total, text, columns: output.columnCount)
        output.write("\r\u{1b}[K\(line)")
        counts.isShown = true
      } else if now - counts.lastLine >= Self.lineInterval, text != counts.lastText {
        counts.lastLine = now
        counts.lastText = text
        output.write(text + "\n")
      }
    }
  }

  private func measure(_ counts: inout Counts) {
    counts.state.byteCount = meter.byteCount
    counts.state.expectedByteCount = meter.expectedByteCount
  }

  private static func report(_ counts: inout Counts, at now: Int64, since started: Int64) {
    counts.lastReport = now
    counts.report?.write(counts.state.line(after: now - started))
  }

  private func hide(_ counts: inout Counts) {
    if counts.isShown { output.write("\r\u{1b}[K") }
    counts.isShown = false
  }

  /// The text of a line: `37/1000 images, 2 failed, 41 MB/s`.
  static func text(_ state: BatchState, bytesPerSecond: Int) -> String {
    var parts = ["\(state.done)/\(state.total) \(state.noun)\(state.total == 1 ? "" : "s")"]
    if state.failed > 0 { parts.append("\(state.failed) failed") }
    if bytesPerSecond > 0 { parts.append("\(shownBytes(bytesPerSecond))/s") }
    return parts.joined(separator: ", ")
  }

  /// True if overwriting lines is useless: on a terminal that cannot do it, and in CI, whose terminal is a log.
  static func keepsLines(_ variable: (String) -> String?) -> Bool {
    let ci = variable("CI") ?? ""
    return variable("TERM") == "dumb" || !["", "0", "false"].contains(ci)
  }

  /// A line that is short enough not to continue in the next row, where it could not be
  /// overwritten.
  static func line(_ done: Int, of total: Int, _ words: String, columns: Int?) -> String {
    let whole = "\(bar(done, of: total)) \(words)"
    guard let columns, whole.count >= columns else { return whole }
    return String(words.prefix(max(0, columns - 1)))
  }

  static func bar(_ done: Int, of total: Int) -> String {
    let width = 20
    let filled = total > 0 ? done * width / total : width
    return "["
      + String(repeating: "#", count: filled) + String(repeating: " ", count: width - filled) + "]"
  }
}
