// Changes from outside while a run goes on: which queues are paused, by whom and since when, and
// the changes that the summary lists. A fold over events.

import Glibc
import Plans
package import Scheduling

struct RunChanges {
  private let operations: RunOperations
  private var clock: RunClock?
  /// The words about who paused which queue; nil stands for all queues.
  private var paused: [QueueID?: String] = [:]
  /// The first and the last changes, in words, with the time of day.
  private var first: [String] = []
  private var last: [String] = []
  /// The number of changes in between.
  private var leftOutCount = 0
  private static let most = 10

  init(_ operations: RunOperations) { self.operations = operations }

  mutating func begin(_ clock: RunClock) { self.clock = clock }

  mutating func add(_ note: ControlNote, at time: Nanoseconds) {
    let moment = clock.map { " " + timeOfDay($0.wallTime + time) } ?? ""
    let text = words(of: note) + moment
    keep(text)
    switch note.action {
    case .pause(let queue): paused[queue] = text
    case .proceed(let queue):
      if let queue { paused[queue] = nil } else { paused = [:] }
      if queue != nil, operations.plan.queues.count == 1 { paused = [:] }
    case .cancelRun, .cancel, .cancelQueue, .retry, .setWidth, .setPriority: break
    }
  }

  private mutating func keep(_ text: String) {
    if first.count < Self.most { return first.append(text) }
    last.append(text)
    if last.count > Self.most {
      last.removeFirst()
      leftOutCount += 1
    }
  }

  /// The changes that the summary lists. If there are many, the middle is left out: the beginning,
  /// and what was in force at the end, say most.
  var log: [String] {
    first + (leftOutCount == 0 ? [] : ["\(leftOutCount) more"]) + last
  }

  func words(of note: ControlNote) -> String {
    note.words(
      queue: { operations.plan.queues[$0.index].name }, step: { operations.compactName($0) })
  }

  /// The words for each pause that lasts: `paused by anna 14:02`.
  var pauses: [String] { paused.isEmpty ? [] : paused.values.sorted() }
}

/// The local time of day: `14:02`.
package func timeOfDay(_ wallTime: Nanoseconds) -> String {
  var seconds = time_t(wallTime / 1_000_000_000)
  var parts = tm()
  guard localtime_r(&seconds, &parts) != nil else { return "" }
  let minutes = String(100 + parts.tm_min).dropFirst()
  return "\(parts.tm_hour < 10 ? "0" : "")\(parts.tm_hour):\(minutes)"
}
