// Writes a line from time to time that says what is running, where no terminal shows it.

import Scheduling

struct Heartbeat {
  private(set) var deadline: Nanoseconds = Heartbeat.pause
  /// True if the line would interrupt an open group in the log of a CI runner.
  private let isForRunner: Bool
  /// True if there was output since the last line that was due.
  private var hasOutput = false

  private static let pause: Nanoseconds = 30_000_000_000
  static let mostNames = 5

  init(isForRunner: Bool) { self.isForRunner = isForRunner }

  mutating func outputGrew() { hasOutput = true }

  /// True if a line is due, once for each. A runner needs none as long as there is output.
  mutating func isDue(at time: Nanoseconds) -> Bool {
    guard time >= deadline else { return false }
    deadline = (time / Self.pause + 1) * Self.pause
    defer { hasOutput = false }
    return !isForRunner || !hasOutput
  }
}

extension ProgressLines {
  /// Writes `… [4/9] 2 running, 3 waiting  30.0s, about 4s left: build 29.9s, lint 12.0s and 3 more`.
  func writeHeartbeat(_ view: LiveView) {
    screen.turnToMessages()
    screen.write(.waiting)
    sink.write(" [")
    sink.write(grouped: view.done)
    sink.write("/")
    sink.write(grouped: view.total)
    sink.write("] ")
    sink.write(view.words.map(\.text).joined(separator: ", "))
    sink.write("  ")
    sink.write(elapsed: view.elapsed)
    if let left = view.left { sink.write(", about \(roughText(left)) left") }
    for (index, row) in view.rows.enumerated() {
      sink.write(index == 0 ? ": " : ", ")
      sink.write(oneLine(row.name))
      sink.write(" ")
      sink.write(elapsed: row.elapsed ?? 0)
    }
    let others = view.rowCount - view.rows.count
    if others > 0 {
      sink.write(" and ")
      sink.write(grouped: others)
      sink.write(" more")
    }
    sink.writeNewline()
  }
}
