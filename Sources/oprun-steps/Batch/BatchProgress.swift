// How far a batch is, while it goes on: a bar on a terminal, a line now and then elsewhere.

import Diagnostics
import Glibc
import OperationKit

/// Tells of a batch on standard error. From any thread.
final class BatchProgress: Sendable {
  private struct Counts: Sendable {
    var done = 0
    var failed = 0
    var isShown = false
    var isOver = false
    var lastLine: Int64
    var lastText = ""
  }

  private let total: Int
  private let noun: String
  private let output: Output
  private let meter: Meter
  private let started = monotonicTime()
  private let hasBar: Bool
  private let counts = Guarded(Counts(lastLine: monotonicTime()))

  private static let frame: UInt32 = 200_000
  private static let lineInterval: Int64 = 5_000_000_000

  init(total: Int, noun: String, output: Output, meter: Meter) {
    self.total = total
    self.noun = noun
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

  /// An item has ended; a failure is told at once.
  func ended(_ item: ItemResult) {
    counts.withLock { counts in
      counts.done += 1
      guard let error = item.error else { return }
      counts.failed += 1
      hide(&counts)
      output.write("failed: \(printable(item.origin)): \(error)\n")
    }
  }

  /// Something that everybody should see, on a line of its own.
  func tell(_ text: String) {
    counts.withLock { counts in
      hide(&counts)
      output.write(text + "\n")
    }
  }

  /// No more is shown.
  func close() {
    counts.withLock { counts in
      hide(&counts)
      counts.isOver = true
    }
  }

  private func show() {
    let now = monotonicTime()
    counts.withLock { counts in
      guard !counts.isOver else { return }
      let text = Self.text(
        done: counts.done, failed: counts.failed, total: total, noun: noun,
        bytesPerSecond: Int(Double(meter.byteCount) / (Double(max(1, now - started)) / 1e9)))
      if hasBar {
        let line = Self.line(counts.done, of: total, text, columns: output.columnCount)
        output.write("\r\u{1b}[K\(line)")
        counts.isShown = true
      } else if now - counts.lastLine >= Self.lineInterval, text != counts.lastText {
        counts.lastLine = now
        counts.lastText = text
        output.write(text + "\n")
      }
    }
  }

  private func hide(_ counts: inout Counts) {
    if counts.isShown { output.write("\r\u{1b}[K") }
    counts.isShown = false
  }

  /// `37/1000 images, 2 failed, 41 MB/s`.
  static func text(
    done: Int, failed: Int, total: Int, noun: String, bytesPerSecond: Int
  ) -> String {
    var parts = ["\(done)/\(total) \(noun)\(total == 1 ? "" : "s")"]
    if failed > 0 { parts.append("\(failed) failed") }
    if bytesPerSecond > 0 { parts.append("\(shownBytes(bytesPerSecond))/s") }
    return parts.joined(separator: ", ")
  }

  /// Whether lines that are written over are of no use: on a terminal that cannot, and in CI, whose
  /// terminal is a log.
  static func keepsLines(_ variable: (String) -> String?) -> Bool {
    let ci = variable("CI") ?? ""
    return variable("TERM") == "dumb" || !["", "0", "false"].contains(ci)
  }

  /// Short enough not to go on in the next row, where it could not be written over.
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
