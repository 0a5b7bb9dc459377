// The threads that run operations: who is idle, who is looking for work, what else is to do. It
// starts nobody itself; under the engine's lock it is planned who should come, and after it done.

import Glibc

/// A thread of the crew, while it sleeps.
final class Worker: Sendable {
  let signal = Signal()
}

/// Who could work. At most one at a time is on its way to look for work; when that one has found
/// some and there is more, it sends for the next; for two, if operations block. So a burst of small
/// operations does not wake everybody, and 300 that block get 300 threads.
///
/// One that comes while operations end faster than a lock changes hands would only be in the way: it
/// stays in reserve, and looks again in a moment.
struct Crew {
  enum Wake {
    case nobody
    case worker(Worker)
    case newThread
  }

  /// Beyond this, operations wait for a thread as for a slot.
  static let largestSize = 4096
  private static let mostSearchers = 8
  private static let comersPerQuestion = 16
  /// Operations that end faster than this, in nanoseconds, gain nothing from a second thread.
  static let shortTime = 1500

  private(set) var size = 0
  private var searchers = 0
  private(set) var hasReserve = false
  /// When it was last asked whether operations are short, and how many had ended then.
  private var window = (start: 0, endedCount: 0)
  var endedCount = 0
  private var comerCount = 0
  private var idle: [Worker] = []
  private var errands: [@Sendable () -> Void] = []
  private var errandsDone = 0
  /// The queue that was served last; they are served in turn.
  var latestQueue = 0

  var hasErrands: Bool { errandsDone < errands.count }
  var hasSearcher: Bool { searchers > 0 }

  /// To be called under the lock when there is work. Whoever is sent for counts as looking for it.
  ///
  /// `isNew` says that the caller has just come, and found work: if nothing has ended since somebody
  /// was sent for, operations block, and several may be on their way.
  mutating func planWake(isNew: Bool = false) -> Wake {
    let limit = isNew && endedCount == window.endedCount ? Crew.mostSearchers : 1
    if searchers >= limit || hasReserve { return .nobody }
    if let worker = idle.popLast() {
      searchers += 1
      window = (monotonicTime(), endedCount)
      return .worker(worker)
    }
    if size >= Crew.largestSize { return .nobody }
    size += 1
    searchers += 1
    window = (monotonicTime(), endedCount)
    return .newThread
  }

  /// Whether somebody who was sent for had better stay in reserve.
  mutating func takesReserve() -> Bool {
    hasReserve = operationsAreShort()
    return hasReserve
  }

  /// Somebody has come in although nobody was looking. If that happens again and again while
  /// operations are short, one is sent for, to stay in reserve.
  mutating func planReserve() -> Wake {
    comerCount &+= 1
    guard comerCount % Crew.comersPerQuestion == 0, searchers == 0, operationsAreShort() else {
      return .nobody
    }
    return planWake()
  }

  private mutating func operationsAreShort() -> Bool {
    let now = monotonicTime()
    let (start, count) = window
    window = (now, endedCount)
    return (endedCount - count) * Crew.shortTime > now - start
  }

  mutating func leavesReserve() { hasReserve = false }

  mutating func startsSearching() { searchers += 1 }
  mutating func stopsSearching() { searchers -= 1 }
  mutating func sleeps(_ worker: Worker) { idle.append(worker) }

  /// False if it is no longer asleep: somebody is about to wake it.
  mutating func leaves(_ worker: Worker) -> Bool {
    guard let index = idle.firstIndex(where: { $0 === worker }) else { return false }
    idle.remove(at: index)
    size -= 1
    return true
  }

  /// A thread could not be started.
  mutating func lostOne() {
    size -= 1
    searchers -= 1
  }

  mutating func add(_ errand: @escaping @Sendable () -> Void) { errands.append(errand) }

  mutating func nextErrand() -> (@Sendable () -> Void)? {
    guard hasErrands else { return nil }
    let errand = errands[errandsDone]
    errands[errandsDone] = {}
    errandsDone += 1
    if errandsDone == errands.count {
      errands.removeAll(keepingCapacity: errandsDone < 1024)
      errandsDone = 0
    }
    return errand
  }
}

/// Nanoseconds since some moment.
private func monotonicTime() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
