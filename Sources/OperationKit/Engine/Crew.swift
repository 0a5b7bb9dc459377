// The threads that run operations: who is idle, who is looking for work, what else is to do. It
// starts nobody itself; under the engine's lock it is planned who should come, and after it done.

/// A thread of the crew, while it sleeps.
final class Worker: Sendable {
  let signal = Signal()
}

/// Who could work. At most one at a time is on its way to look for work; when that one has found
/// some and there is more, it sends for the next. So a burst of small operations does not wake
/// everybody, and 300 that block get 300 threads.
struct Crew {
  enum Wake {
    case nobody
    case worker(Worker)
    case newThread
  }

  /// Beyond this, operations wait for a thread as for a slot.
  static let largestSize = 4096

  private(set) var size = 0
  private var searchers = 0
  private var idle: [Worker] = []
  private var errands: [@Sendable () -> Void] = []
  private var errandsDone = 0
  /// The queue that was served last; they are served in turn.
  var latestQueue = 0

  var hasErrands: Bool { errandsDone < errands.count }
  var hasSearcher: Bool { searchers > 0 }

  /// To be called under the lock when there is work. Whoever is sent for counts as looking for it.
  mutating func planWake() -> Wake {
    if searchers > 0 { return .nobody }
    if let worker = idle.popLast() {
      searchers += 1
      return .worker(worker)
    }
    if size >= Crew.largestSize { return .nobody }
    size += 1
    searchers += 1
    return .newThread
  }

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
