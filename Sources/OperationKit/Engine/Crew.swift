// The threads that run operations: which are idle, which look for work, what else is to do. It
// starts no thread itself; what to wake is planned under the engine's lock and done after it is
// released.

/// A thread of the crew, while it sleeps.
final class Worker: Sendable {
  let signal = Signal()
}

/// The threads that can work. At most one at a time is on its way to look for work; when that one
/// has found some and there is more, it requests the next, or two if operations block. So a burst
/// of small operations does not wake all threads, and 300 operations that block get 300 threads.
///
/// While operations end faster than a lock changes hands, one thread does most of the work, and
/// more would only get in its way: one other stays in reserve and checks again shortly, and the
/// rest sleep.
struct Crew {
  enum Wake {
    case nobody
    case worker(Worker)
    case newThread
  }

  /// Beyond this number, operations wait for a thread as they do for a slot.
  static let largestSize = 4096
  private static let mostSearchers = 8
  private static let comersPerQuestion = 16
  /// The shortest time, in nanoseconds, over which the pace can be measured.
  private static let shortestLook = 20_000
  /// Operations that end faster than this, in nanoseconds, gain nothing from a second thread.
  static let shortTime = 1500
  /// The longest time, in nanoseconds, that operations may take if threads that wait are waiting
  /// for the lock.
  static let longestShortTime = 8000

  private(set) var size = 0
  private var searchers = 0
  private(set) var hasReserve = false
  /// The number of operations that had ended when a thread was last requested.
  private var endedAtWake = 0
  /// When the pace was last measured, how many operations had ended then, and the result.
  private var look = (time: 0, endedCount: 0, pace: Int.max)
  var endedCount = 0
  private var comerCount = 0
  private var idle: [Worker] = []
  private var errands: [@Sendable () -> Void] = []
  private var errandsDone = 0
  /// The queue that was served last; they are served in turn.
  var latestQueue = 0

  var hasErrands: Bool { errandsDone < errands.count }
  var hasSearcher: Bool { searchers > 0 }

  /// Call this under the lock when there is work. A thread that is requested counts as looking for
  /// it.
  ///
  /// `isNew` means that the caller has just come and found work: if nothing has ended since a
  /// thread was last requested, operations block, and several threads may be on their way.
  mutating func planWake(isNew: Bool = false) -> Wake {
    let limit = isNew && endedCount == endedAtWake ? Crew.mostSearchers : 1
    if searchers >= limit || hasReserve { return .nobody }
    if let worker = idle.popLast() {
      searchers += 1
      endedAtWake = endedCount
      return .worker(worker)
    }
    if size >= Crew.largestSize { return .nobody }
    size += 1
    searchers += 1
    endedAtWake = endedCount
    return .newThread
  }

  /// Whether the caller, which is working, should stop: there is another thread, and operations
  /// take less time than the limit.
  mutating func isInTheWay(ifWithin limit: Int) -> Bool {
    let workerCount = size - idle.count - searchers - (hasReserve ? 1 : 0)
    return workerCount > 1 && !hasErrands && pace() < limit
  }

  mutating func takesReserve() { hasReserve = true }
  /// Called when an operation has been added although no thread was looking. If that happens
  /// repeatedly while operations are short, a thread is requested, to stay in reserve.
  mutating func planReserve() -> Wake {
    comerCount &+= 1
    guard comerCount % Crew.comersPerQuestion == 0, searchers == 0, pace() < Crew.longestShortTime
    else {
      return .nobody
    }
    return planWake()
  }

  /// The recent average time from one end to the next.
  private mutating func pace() -> Int {
    let now = monotonicTime()
    let elapsed = now - look.time
    if elapsed > Crew.shortestLook {
      look = (now, endedCount, elapsed / max(1, endedCount &- look.endedCount))
    }
    return look.pace
  }

  mutating func leavesReserve() { hasReserve = false }

  mutating func startsSearching() { searchers += 1 }
  mutating func stopsSearching() { searchers -= 1 }
  mutating func sleeps(_ worker: Worker) { idle.append(worker) }

  /// Lets a worker leave; false if it is no longer asleep because it is about to be woken.
  mutating func leaves(_ worker: Worker) -> Bool {
    guard let index = idle.firstIndex(where: { $0 === worker }) else { return false }
    idle.remove(at: index)
    size -= 1
    return true
  }

  /// Called when a thread could not be started.
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
    } else if errandsDone >= 1024, 2 * errandsDone > errands.count {
      errands.removeSubrange(..<errandsDone)
      errandsDone = 0
    }
    return errand
  }
}
