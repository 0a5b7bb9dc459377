// The jobs of the cache in a run: which of them wait, which process does which, and in which order the answers are
// used. Transfers have processes of their own, so that a slow server holds up nothing else.

import Caching
import Scheduling

struct CacheJobs {
  struct Waiting {
    let number: Int
    let key: RunCache.Key
    let job: CacheJob

    /// Whether a step at its gate waits for the answer.
    var isQuestion: Bool {
      switch key {
      case .tool, .step: true
      case .keeping, .sharing: false
      }
    }
  }

  /// Jobs of one kind, and the processes for them.
  private struct Line {
    let slots: Range<Int>
    var jobs: [Waiting] = []
    var next = 0

    var isEmpty: Bool { next == jobs.count }

    mutating func take() -> Waiting {
      defer {
        next += 1
        if isEmpty { (jobs, next) = ([], 0) }
      }
      return jobs[next]
    }
  }

  /// The processes for jobs that look at files, fetch results, and store them.
  private var lines: [Line]
  private var known: Set<RunCache.Key> = []
  private var running: [Int: Waiting] = [:]
  private var lastNumber = 0
  private var openQuestionCount = 0
  private var answers: [(question: Waiting, reply: CacheReply)] = []
  /// When the answers are used, though some are missing.
  private(set) var answersDue: Nanoseconds?
  private static let patience: Nanoseconds = 10_000_000
  private static let fetching = 1
  private static let storing = 2

  private static let fetcherCount = 4
  private static let storerCount = 2

  init(width: Int) {
    let fetchers = width..<width + Self.fetcherCount
    let storers = fetchers.upperBound..<fetchers.upperBound + Self.storerCount
    lines = [Line(slots: 0..<width), Line(slots: fetchers), Line(slots: storers)]
  }

  /// The number of processes that there may be at the same time.
  static func slotCount(_ width: Int, fetches: Bool, stores: Bool) -> Int {
    width + (fetches ? fetcherCount : 0) + (stores ? storerCount : 0)
  }

  private static func line(of job: CacheJob) -> Int {
    switch job {
    case .inspect, .tool, .restore, .keep: 0
    case .fetch: fetching
    case .store: storing
    }
  }

  /// Whether a job waits for a process.
  var isWaiting: Bool { lines.contains { !$0.isEmpty } }

  /// Whether a result is being stored in the shared cache, or will be.
  var isStoring: Bool {
    !lines[Self.storing].isEmpty || running.keys.contains { lines[Self.storing].slots ~= $0 }
  }

  func isIdle(_ slot: Int) -> Bool { running[slot] == nil }

  mutating func add(_ job: CacheJob, for key: RunCache.Key) {
    guard known.insert(key).inserted else { return }
    lastNumber += 1
    let waiting = Waiting(number: lastNumber, key: key, job: job)
    if waiting.isQuestion { openQuestionCount += 1 }
    lines[Self.line(of: job)].jobs.append(waiting)
  }

  /// The next job, for a process that has none.
  mutating func takeNext() -> (slot: Int, job: CacheJob)? {
    for index in lines.indices where !lines[index].isEmpty {
      guard let slot = lines[index].slots.first(where: { running[$0] == nil }) else { continue }
      let waiting = lines[index].take()
      running[slot] = waiting
      return (slot, waiting.job)
    }
    return nil
  }

  /// Takes an answer; nil if somebody waits for it at a gate, so that it is used with others, and else for whom
  /// it is.
  mutating func finish(
    _ slot: Int, _ reply: CacheReply, at time: Nanoseconds
  ) -> RunCache.Key? {
    guard let waiting = running.removeValue(forKey: slot) else { return nil }
    guard waiting.isQuestion else {
      known.remove(waiting.key)
      return waiting.key
    }
    openQuestionCount -= 1
    answers.append((waiting, reply))
    answersDue = answersDue ?? time + Self.patience
    return nil
  }

  /// The answers to the questions of several steps, in the order in which these were asked: else it would depend on
  /// the processes which step is ready first. They are complete, or one of them has waited for long.
  mutating func takeAnswers(at time: Nanoseconds) -> [(key: RunCache.Key, reply: CacheReply)] {
    guard let due = answersDue, openQuestionCount == 0 || time >= due else { return [] }
    let taken = answers.sorted { $0.question.number < $1.question.number }
    answers = []
    answersDue = nil
    for answer in taken { known.remove(answer.question.key) }
    return taken.map { ($0.question.key, $0.reply) }
  }
}
