// What the threads of the crew do: end the last operation, take the next, run it, sleep.

import Dispatch
import Glibc
internal import Scheduling
import Synchronization

extension Engine {
  private enum Job {
    case run(Operation, OperationQueue?)
    case dispatch(Operation, OperationQueue?, DispatchQueue)
    case errand(@Sendable () -> Void)
    case search
    case sleep
  }

  /// How long a thread without work stays.
  private static let patience = 2

  /// To be called under the lock; sends for somebody if there is work.
  func unlockAndWake() {
    var wake = Crew.Wake.nobody
    if scheduler.mayStart || crew.hasErrands {
      wake = crew.planWake()
      if case .nobody = wake { epoch.add(1, ordering: .relaxed) }
    }
    lock.unlock()
    switch wake {
    case .nobody: break
    case .worker(let worker): worker.signal.send()
    case .newThread: startThread()
    }
  }

  private func startThread() {
    if Threads.start({ Engine.shared.work() }) { return }
    let size = lock.locked {
      crew.lostOne()
      return crew.size
    }
    precondition(size > 0, "no thread can be started: \(String(cString: strerror(errno)))")
  }

  /// Runs the closure on a thread of the crew, soon, whatever queues are doing.
  func perform(_ errand: @escaping @Sendable () -> Void) {
    lock.lock()
    crew.add(errand)
    unlockAndWake()
  }

  /// The life of a thread.
  private func work() {
    let worker = Worker()
    var isSearching = true
    var ended: Operation?
    while true {
      var leftovers = Leftovers()
      lock.lock()
      if let operation = ended { retire(operation, &leftovers) }
      let job = nextJob(worker, &isSearching)
      unlockAndWake()
      ended = nil
      leftovers.settle()
      switch job {
      case .run(let operation, let queue):
        if run(operation, in: queue) { ended = operation }
      case .dispatch(let operation, let queue, let dispatchQueue):
        dispatchQueue.async { self.runDispatched(operation, in: queue) }
      case .errand(let errand): errand()
      case .search: lookAround()
      case .sleep: if !sleep(worker, &isSearching) { return }
      }
    }
  }

  private func nextJob(_ worker: Worker, _ isSearching: inout Bool) -> Job {
    let job = takeErrand() ?? takeOperation()
    if let job {
      if isSearching { crew.stopsSearching() }
      isSearching = false
      return job
    }
    if !isSearching, !crew.hasSearcher {
      isSearching = true
      crew.startsSearching()
      return .search
    }
    if isSearching { crew.stopsSearching() }
    isSearching = false
    crew.sleeps(worker)
    return .sleep
  }

  private func takeErrand() -> Job? { crew.nextErrand().map { .errand($0) } }

  private func takeOperation() -> Job? {
    guard let id = scheduler.next(after: QueueID(crew.latestQueue)) else { return nil }
    guard let operation = members[id.index].operation else { return nil }
    let lane = scheduler.graph.queue(of: id).index
    crew.latestQueue = lane
    operation.set(.chosen)
    if lanes[lane].isElastic { watchElasticity(of: lane) }
    guard let dispatchQueue = lanes[lane].dispatchQueue else {
      return .run(operation, lanes[lane].queue)
    }
    return .dispatch(operation, lanes[lane].queue, dispatchQueue)
  }

  /// Work often comes right after the last: a thread looks out for some before it sleeps.
  private func lookAround() {
    let start = epoch.load(ordering: .relaxed)
    for _ in 0..<50 where epoch.load(ordering: .relaxed) == start { sched_yield() }
  }

  /// False if nothing came for long: the thread ends.
  private func sleep(_ worker: Worker, _ isSearching: inout Bool) -> Bool {
    if !worker.signal.wait(seconds: Engine.patience) {
      if lock.locked({ crew.leaves(worker) }) { return false }
      worker.signal.wait()
    }
    isSearching = true
    return true
  }
}

extension Engine {
  /// Starts an operation that was chosen. True if the caller shall retire it.
  private func run(_ operation: Operation, in queue: OperationQueue?) -> Bool {
    if !mayRun(operation) { return park(operation) }
    return queue.asCurrent {
      if !operation.has(.finished) { operation.start() }
      if operation.clear(.chosen).contains(.finished) {
        operation.conclude()
        return true
      }
      if operation.isFinished { operation.finish(onOwnThread: true) }
      return false
    }
  }

  private func runDispatched(_ operation: Operation, in queue: OperationQueue?) {
    if run(operation, in: queue) { retire(operation) }
  }

  private func mayRun(_ operation: Operation) -> Bool {
    if operation.has(.cancelled) { return true }
    if !operation.isReady { return false }
    guard operation.has(.hasTerms) else { return true }
    if operation.timeUntilNextQuestion != nil { return false }
    operation.checkRequirements()
    return true
  }

  /// The operation gives its slot back until it is ready. True if it has finished meanwhile and the
  /// caller shall retire it.
  private func park(_ operation: Operation) -> Bool {
    lock.lock()
    if operation.clear(.chosen).contains(.finished) {
      lock.unlock()
      operation.conclude()
      return true
    }
    scheduler.pause(OperationID(Int(operation.number)))
    operation.set(.parked)
    unlockAndWake()
    askAgain(operation)
    return false
  }

  private func askAgain(_ operation: Operation) {
    if operation.has(.cancelled) { return becameReady(operation) }
    if !operation.isReady { return }
    guard let delay = operation.timeUntilNextQuestion else { return becameReady(operation) }
    DispatchQueue.global().asyncAfter(deadline: .now() + delay.dispatchInterval) {
      if operation.has(.parked) { self.askAgain(operation) }
    }
  }

  /// A parked operation may run now.
  func becameReady(_ operation: Operation) {
    lock.lock()
    if operation.has(.parked) { unpark(operation) }
    unlockAndWake()
  }

  func unpark(_ operation: Operation) {
    operation.clear(.parked)
    scheduler.resume(OperationID(Int(operation.number)))
  }
}
