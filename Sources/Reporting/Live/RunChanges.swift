// What was changed from outside while a run went on: which queues are paused, by whom and since when, and
// what the summary tells of it. A fold over events.

import Glibc
import Plans
package import Scheduling

struct RunChanges {
  private let operations: RunOperations
  private var clock: RunClock?
  /// Who paused which queue, in words; nil stands for all queues.
  private var paused: [QueueID?: String] = [:]
  /// The first changes, in words, with the time of day.
  private(set) var log: [String] = []
  private static let longestLog = 20

  init(_ operations: RunOperations) { self.operations = operations }

  mutating func begin(_ clock: RunClock) { self.clock = clock }

  mutating func add(_ note: ControlNote, at time: Nanoseconds) {
    let moment = clock.map { " " + timeOfDay($0.wallTime + time) } ?? ""
    let text = words(of: note) + moment
    if log.count < Self.longestLog { log.append(text) }
    switch note.action {
    case .pause(let queue): paused[queue] = text
    case .proceed(let queue):
      if let queue { paused[queue] = nil } else { paused = [:] }
      if queue != nil, operations.plan.queues.count == 1 { paused = [:] }
    case .cancelRun, .cancel, .cancelQueue, .retry, .setWidth, .setPriority: break
    }
  }

  func words(of note: ControlNote) -> String {
    note.words(
      queue: { operations.plan.queues[$0.index].name }, step: { operations.compactName($0) })
  }

  /// `paused by anna 14:02`, for each pause that lasts.
  var pauses: [String] { paused.isEmpty ? [] : paused.values.sorted() }
}

/// The time of day where oprun runs: `14:02`.
package func timeOfDay(_ wallTime: Nanoseconds) -> String {
  var seconds = time_t(wallTime / 1_000_000_000)
  var parts = tm()
  guard localtime_r(&seconds, &parts) != nil else { return "" }
  let minutes = String(100 + parts.tm_min).dropFirst()
  return "\(parts.tm_hour < 10 ? "0" : "")\(parts.tm_hour):\(minutes)"
}
