// Times of looks at Slurm's queue: one look costs the controller as much as it has jobs.
// docs/design-slurm.md

import Scheduling

/// Decides when the next look at the queue is due. It does not know what a look shows.
struct QueueLooks {
  private static let longestInterval: Nanoseconds = 60 * SlurmExecutor.second

  /// The shortest time between two looks, as the plan says.
  private let poll: Nanoseconds
  /// The shortest time between two looks, because of how long one takes.
  private var interval: Nanoseconds = 0
  /// When the last look began; nil if there was none.
  private var lastBegin: Nanoseconds?
  private var isUnderWay = false
  /// True if the next look is to answer a question.
  private var isWanted = false
  /// When the first of the present jobs was submitted; nil if there are none.
  private var firstSubmission: Nanoseconds?
  /// True if some job has another state than at the last look.
  private var hasMoved = false
  /// The number of changes of tasks at the last look (`SlurmCounts.changes`).
  private var changesSeen = 0

  init(poll: Nanoseconds) { self.poll = poll }

  /// When the next look is due; nil if it would tell nothing. `isAwaited` is true if a step waits
  /// for what a look shows, even if the last one has failed; `mayShowJobs`, if tasks may have jobs
  /// in the queue.
  func due(isAwaited: Bool, mayShowJobs: Bool) -> Nanoseconds? {
    guard !isUnderWay, isWanted || isAwaited || mayShowJobs else { return nil }
    guard let lastBegin else {
      return isWanted || isAwaited ? 0 : firstSubmission.map { $0 + poll }
    }
    return lastBegin + max(poll, isAwaited ? min(interval, 2 * poll) : interval)
  }

  mutating func want() { isWanted = true }

  /// Asks for a look that does not wait until `poll` is over.
  mutating func wantAtOnce() {
    isWanted = true
    lastBegin = nil
  }

  mutating func noteSubmission(at now: Nanoseconds) { firstSubmission = firstSubmission ?? now }

  /// Notes that Slurm has no job of this run any more.
  mutating func noteLastEnd() { firstSubmission = nil }

  mutating func noteMove() { hasMoved = true }

  mutating func begin(at now: Nanoseconds) {
    isUnderWay = true
    isWanted = false
    lastBegin = now
  }

  /// Notes that the look is over, whether or not it has shown anything.
  mutating func end() { isUnderWay = false }

  /// Learns from a look how seldom the queue is to be looked at. Looks take at most a twentieth of the time, because a
  /// busy machine makes any of them long, and one part in 300 of a processor, or in 100 while jobs begin and end.
  mutating func learn(duration: Nanoseconds, processorTime: Nanoseconds, changes: Int) {
    let isMoving = hasMoved || changes != changesSeen
    hasMoved = false
    changesSeen = changes
    interval = min(
      max(duration * 20, processorTime * (isMoving ? 100 : 300)), Self.longestInterval)
  }
}
