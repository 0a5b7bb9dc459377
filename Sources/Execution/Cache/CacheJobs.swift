// The jobs of the cache in a run: which of them wait, which process does which, and in which order
// the answers are used. Transfers and tools have processes of their own, so that a slow server or
// compiler delays nothing else.

import Caching
import Scheduling

struct CacheJobs {
  struct Waiting {
    let number: Int
    let key: RunCache.Key
    let job: CacheJob
    /// The time at which a process got the job.
    var start: Nanoseconds = 0
    /// True if nobody wants the answer any more.
    var isWithdrawn = false

    /// True if a step at its gate waits for the answer.
    var isQuestion: Bool {
      switch key {
      case .tool, .step: true
      case .keeping, .sharing: false
      }
    }
  }

  /// The jobs of one kind, and the processes for them.
  private struct Line {
    let slots: Range<Int>
    var jobs: [Waiting] = []
    var next = 0

    var isEmpty: Bool { next == jobs.count }

    mutating func take() -> Waiting {
      defer {
        next += 1
        skip()
      }
      return jobs[next]
    }

    /// Drops a job that no process has; false if there is none with that number. The jobs are in
    /// the order of their numbers.
    mutating func drop(_ number: Int) -> Bool {
      var range = next..<jobs.count
      while !range.isEmpty {
        let middle = (range.lowerBound + range.upperBound) / 2
        if jobs[middle].number < number {
          range = middle + 1..<range.upperBound
        } else {
          range = range.lowerBound..<middle
        }
      }
      guard range.lowerBound < jobs.count, jobs[range.lowerBound].number == number else {
        return false
      }
      jobs[range.lowerBound].isWithdrawn = true
      skip()
      return true
    }

    private mutating func skip() {
      while !isEmpty, jobs[next].isWithdrawn { next += 1 }
      if isEmpty { (jobs, next) = ([], 0) }
    }
  }

  /// The effect of withdrawing a job that nobody wants any more.
  enum Withdrawal: Equatable {
    /// There was no job that writes outputs.
    case none
    /// The job was not begun, and will not be.
    case dropped
    /// A process is doing the job.
    case running(slot: Int)
  }

  /// The processes for jobs that look at files, fetch results, store them, and run tools.
  private var lines: [Line]
  /// The numbers of the jobs that are open, or answered and not used.
  private var known: [RunCache.Key: Int] = [:]
  private var running: [Int: Waiting] = [:]
  private var lastNumber = 0
  private var openQuestionCount = 0
  private var answers: [(question: Waiting, reply: CacheReply)] = []
  /// When the answers are used although some are missing; nil while there are none.
  private(set) var answersDue: Nanoseconds?
  private static let patience: Nanoseconds = 10_000_000
  private static let fetching = 1
  private static let storing = 2
  private static let asking = 3

  private static let fetcherCount = 4
  private static let storerCount = 2
  private static let askerCount = 4

  init(width: Int) {
    let fetchers = width..<width + Self.fetcherCount
    let storers = fetchers.upperBound..<fetchers.upperBound + Self.storerCount
    let askers = storers.upperBound..<storers.upperBound + Self.askerCount
    lines = [
      Line(slots: 0..<width), Line(slots: fetchers), Line(slots: storers), Line(slots: askers),
    ]
  }

  /// The number of processes that there may be at the same time.
  static func slotCount(_ width: Int, fetches: Bool, stores: Bool) -> Int {
    width + askerCount + (fetches ? fetcherCount : 0) + (stores ? storerCount : 0)
  }

  private static func line(of job: CacheJob) -> Int {
    switch job {
    case .inspect, .restore, .keep: 0
    case .tool: asking
    case .fetch: fetching
    case .store: storing
    }
  }

  /// True if a job waits for a process.
  var isWaiting: Bool { lines.contains { !$0.isEmpty } }

  /// True if a result is being stored in the shared cache, or will be.
  var isStoring: Bool {
    !lines[Self.storing].isEmpty || running.keys.contains { lines[Self.storing].slots ~= $0 }
  }

  func isIdle(_ slot: Int) -> Bool { running[slot] == nil }

  mutating func add(_ job: CacheJob, for key: RunCache.Key) {
    guard known[key] == nil else { return }
    lastNumber += 1
    known[key] = lastNumber
    let waiting = Waiting(number: lastNumber, key: key, job: job)
    if waiting.isQuestion { openQuestionCount += 1 }
    lines[Self.line(of: job)].jobs.append(waiting)
  }

  /// The time since a process was asked for a result of the shared cache; nil if it was not.
  func fetchTime(_ slot: Int, at time: Nanoseconds) -> Nanoseconds? {
    guard let waiting = running[slot], case .fetch = waiting.job else { return nil }
    return time - waiting.start
  }

  /// The next job, for a process that has none.
  mutating func takeNext(at time: Nanoseconds = 0) -> (slot: Int, job: CacheJob)? {
    for index in lines.indices where !lines[index].isEmpty {
      guard let slot = lines[index].slots.first(where: { running[$0] == nil }) else { continue }
      var waiting = lines[index].take()
      waiting.start = time
      running[slot] = waiting
      return (slot, waiting.job)
    }
    return nil
  }

  /// Withdraws the job that restores the outputs of a step which has ended otherwise. If a process
  /// has begun, the key comes back from `finish` once the process has ended or answered.
  mutating func withdraw(_ key: RunCache.Key) -> Withdrawal {
    guard let number = known[key] else { return .none }
    if let (slot, waiting) = running.first(where: { $0.value.number == number }) {
      guard case .restore = waiting.job else { return .none }
      if !waiting.isWithdrawn { openQuestionCount -= 1 }
      running[slot]?.isWithdrawn = true
      return .running(slot: slot)
    }
    for index in lines.indices where lines[index].drop(number) {
      openQuestionCount -= 1
      known[key] = nil
      return .dropped
    }
    return .none
  }

  /// Takes an answer. Nil if a step at its gate waits for it, so that it is used together with
  /// others; otherwise the key of the job.
  mutating func finish(
    _ slot: Int, _ reply: CacheReply, at time: Nanoseconds
  ) -> RunCache.Key? {
    guard let waiting = running.removeValue(forKey: slot) else { return nil }
    guard waiting.isQuestion, !waiting.isWithdrawn else {
      known[waiting.key] = nil
      return waiting.key
    }
    openQuestionCount -= 1
    answers.append((waiting, reply))
    answersDue = answersDue ?? time + Self.patience
    return nil
  }

  /// Takes the answers to the questions of several steps, in the order in which these were asked:
  /// otherwise the processes would determine which step is ready first. They are complete, or one
  /// of them has waited for long.
  mutating func takeAnswers(at time: Nanoseconds) -> [(key: RunCache.Key, reply: CacheReply)] {
    guard let due = answersDue, openQuestionCount == 0 || time >= due else { return [] }
    let taken = answers.sorted { $0.question.number < $1.question.number }
    answers = []
    answersDue = nil
    for answer in taken { known[answer.question.key] = nil }
    return taken.map { ($0.question.key, $0.reply) }
  }
}
