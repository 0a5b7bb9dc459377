// The numbers of steps with each kind of ending. Every screen, listing and report that counts them
// does it here, so that all say the same about a run.

import Plans
package import Scheduling

/// The kinds of endings that are counted, in the order of the last line.
package enum Count: Int, CaseIterable {
  case failed, timedOut, allowed, blocked, cancelled, left, ok, upToDate, skipped, notEnded

  /// The order for the instances of a step.
  static let inLinesOfGroups: [Count] = [
    .ok, .upToDate, .failed, .timedOut, .allowed, .cancelled, .left, .blocked, .skipped,
  ]

  init(_ ending: Ending, _ cause: Cause) {
    self =
      cause == .stopped(.left) ? .left : ending.isAllowed ? .allowed : ending.outcome.count
  }

  var words: StaticString {
    switch self {
    case .failed: " failed"
    case .timedOut: " timed out"
    case .allowed: " failed but allowed"
    case .blocked: " blocked"
    case .cancelled: " cancelled"
    case .left: " left"
    case .ok: " ok"
    case .upToDate: " up to date"
    case .skipped: " skipped"
    case .notEnded: " not ended"
    }
  }

  /// The name of the field with the number, for programs.
  package var field: StaticString {
    switch self {
    case .failed: "failed"
    case .timedOut: "timed_out"
    case .allowed: "allowed"
    case .blocked: "blocked"
    case .cancelled: "cancelled"
    case .left: "left"
    case .ok: "ok"
    case .upToDate: "up_to_date"
    case .skipped: "skipped"
    case .notEnded: "not_ended"
    }
  }
}

extension Outcome {
  fileprivate var count: Count {
    switch self {
    case .failed: .failed
    case .timedOut: .timedOut
    case .blocked: .blocked
    case .cancelled: .cancelled
    case .succeeded: .ok
    case .cached: .upToDate
    case .skipped: .skipped
    }
  }
}

/// The number of operations with each kind of ending.
package struct EndingCounts {
  private var numbers = [Int](repeating: 0, count: Count.allCases.count)

  package init() {}

  package subscript(count: Count) -> Int { numbers[count.rawValue] }

  package var total: Int { numbers.reduce(0, +) }

  /// Adds a number of endings; a negative number takes some back.
  package mutating func add(_ ending: Ending, _ cause: Cause = .itself, _ number: Int = 1) {
    numbers[Count(ending, cause).rawValue] += number
  }

  /// Adds operations of a run that goes on, or of one whose oprun died.
  package mutating func add(unended number: Int) { numbers[Count.notEnded.rawValue] += number }

  /// The counts that are not zero, the most important first: `1 failed`, `2 blocked`, `5 ok`.
  package var words: [String] {
    Count.allCases.filter { self[$0] > 0 }.map { count in
      let sink = ByteSink.intoMemory()
      sink.write(grouped: self[count])
      sink.write(count.words)
      return sink.text
    }
  }

  /// True if something did not run, or did not run to its end.
  private var hasUnfinished: Bool {
    [Count.blocked, .cancelled, .timedOut].contains { self[$0] > 0 }
  }

  /// The other remarks of a list, a report and the last line about a run that ended with these
  /// numbers. `passedOn` is the status of a step that it gave in place of its own, `stop` is the
  /// reason why it ended early, both in words; the latter comes last. What could not be kept after
  /// everything had ended has stopped nothing.
  package func remarks(
    exitStatus: Int, hookFailed: Bool, passedOn: String?, stop: String?
  ) -> [String] {
    var remarks: [String] = []
    if hookFailed { remarks.append("a hook of the run failed") }
    if let stop {
      let isStopped = exitStatus != 74 || hasUnfinished
      remarks.append(isStopped && !StopReason.isWhole(stop) ? "stopped: \(stop)" : stop)
    }
    let isAllAllowed =
      self[.allowed] > 0
      && [.failed, .timedOut, .blocked, .cancelled].allSatisfy { self[$0] == 0 }
    if exitStatus != 0, remarks.isEmpty, isAllAllowed {
      remarks.append("--strict allows no failures")
    }
    return (passedOn.map { [$0] } ?? []) + remarks
  }
}

/// `exit 42 from 'probe'`: the status of a step, which the run gave in place of its own.
package func passedOnWords(_ status: Int, of step: String) -> String {
  "exit \(status) from '\(oneLine(step))'"
}
