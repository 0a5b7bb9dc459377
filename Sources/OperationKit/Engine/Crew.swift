// The threads that run operations: who is idle, who is looking for work, what else is to do. It
// starts nobody itself; under the engine's lock it is planned who should come, and after it done.

/// A thread of the crew, while it sleeps.
final class Worker: Sendable {
  let signal = Signal()
}

/// Who could work. At most one at a time is on its way to look for work; when that one has found
/// some and there is more, it sends for the next; for two, if operations block. So a burst of small
/// operations does not wake everybody, and 300 that block get 300 threads.
///
/// While operations end faster than a lock changes hands, one thread does most, and more would only be
/// in its way: another stays in reserve, and looks again in a moment, and the others sleep.
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
  /// In less, in nanoseconds, there is too little to see.
  private static let shortestLook = 20_000
  /// Operations that end faster than this, in nanoseconds, gain nothing from a second thread.
  static let shortTime = 1500
  /// As long as they may take for the lock to be what threads wait for, if they do wait for it.
  static let longestShortTime = 8000

  private(set) var size = 0
  private var searchers = 0
  private(set) var hasReserve = false
  /// How many had ended when somebody was last sent for.
  private var endedAtWake = 0
  /// When it was last looked how long operations take, how many had ended then, and what was seen.
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

  /// To be called under the lock when there is work. Whoever is sent for counts as looking for it.
  ///
  /// `isNew` says that the caller has just come, and found work: if nothing has ended since somebody
  /// was sent for, operations block, and several may be on their way.
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

  /// Whether the caller, who is at work, had better not be: there is another, and operations take less
  /// than so long.
  mutating func isInTheWay(ifWithin limit: Int) -> Bool {
    let workerCount = size - idle.count - searchers - (hasReserve ? 1 : 0)
    return workerCount > 1 && !hasErrands && pace() < limit
  }

  mutating func takesReserve() { hasReserve = true }
  /// Somebody has come in although nobody was looking. If that happens again and again while
  /// operations are short, one is sent for, to stay in reserve.
  mutating func planReserve() -> Wake {
    comerCount &+= 1
    guard comerCount % Crew.comersPerQuestion == 0, searchers == 0, pace() < Crew.longestShortTime
    else {
      return .nobody
    }
    return planWake()
  }

  /// The time from one end to the next, of late.
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
