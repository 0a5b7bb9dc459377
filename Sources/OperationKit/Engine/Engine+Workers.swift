// The work of the threads of the crew: end the last operation, take the next, run it, sleep.

internal import CLinux
import Dispatch
import Glibc
internal import Scheduling
import Synchronization

extension Engine {
  private enum Job {
    /// Run an operation. The thread that does so need not count references: the engine's is taken
    /// back by retiring the operation.
    case run(Unmanaged<Operation>, CurrentQueue.Mark)
    case dispatch(Operation, CurrentQueue.Mark, DispatchQueue)
    case errand(@Sendable () -> Void)
    case search
    case rest
    case sleep
  }

  /// The role of a thread between two jobs.
  private enum Role {
    case sentFor, inReserve, searching, working
  }

  /// The limit of a counter of contention: it goes up by 2 each time a worker finds the lock taken,
  /// and down by 1 each time it does not.
  private static let muchContention = 4
  /// The time that the reserve waits, in microseconds.
  private static let turn: UInt32 = 20
  /// The time that a thread without work stays, in seconds.
  private static let patience = 2

  /// Call this under the lock; it requests a thread if there is work.
  ///
  /// `wasUnattended` means that the caller has found no thread that would check the inbox;
  /// `mayWait`, that the work need not be found before the next operations; `hasJob`, that the
  /// caller has chosen an operation, so that it must not call code that may wait for that one.
  func unlockAndWake(
    isNew: Bool = false, wasUnattended: Bool = false, mayWait: Bool = false, hasJob: Bool = false
  ) {
    var wake = wasUnattended ? crew.planReserve() : Crew.Wake.nobody
    repeat {
      if hasJob { leaveAffairs() }
      if case .nobody = wake, scheduler.pointee.mayStart() || crew.hasErrands {
        wake = crew.planWake(isNew: isNew)
        if case .nobody = wake { callSearcher(mayWait) }
      }
    } while !showAttendance()
    if !affairs.isEmpty { return unlockAndSettle(wake) }
    lock.unlock()
    send(wake)
  }

  /// Must be called under the lock, like everything that writes `epoch`: so that need not be one
  /// step.
  private func callSearcher(_ mayWait: Bool) {
    epoch.store(epoch.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    if !mayWait, crew.hasSearcher { nap.disturb() }
  }

  private func unlockAndSettle(_ wake: Crew.Wake) {
    let affairs = affairs
    self.affairs = []
    lock.unlock()
    send(wake)
    for affair in affairs { affair.settle() }
  }

  /// Makes an errand of the affairs.
  private func leaveAffairs() {
    if affairs.isEmpty { return }
    let affairs = affairs
    self.affairs = []
    crew.add { for affair in affairs { affair.settle() } }
  }

  private func send(_ wake: Crew.Wake) {
    switch wake {
    case .nobody: break
    case .worker(let worker): worker.signal.send()
    case .newThread: startThread()
    }
  }

  /// Announces whether a thread will check the inbox. False if something has been added since none
  /// will; it has been taken over.
  private func showAttendance() -> Bool {
    let isAttended = crew.hasSearcher || crew.hasReserve
    if isAttended == showsAttendance { return true }
    showsAttendance = isAttended
    attendance.store(isAttended, ordering: .sequentiallyConsistent)
    if isAttended || inbox.isEmpty { return true }
    takeOver()
    return false
  }

  private func startThread() {
    if Threads.start({ Engine.shared.work() }) { return }
    let cause = errno
    enter()
    crew.lostOne()
    let isLast = crew.size == 0
    unlockWithoutWaking()
    demand(!isLast, "no thread can be started: \(String(cString: strerror(cause)))")
  }

  private func unlockWithoutWaking() {
    while !showAttendance() {}
    lock.unlock()
  }

  /// Runs the closure on a thread of the crew, soon, whatever the queues are doing.
  func perform(_ errand: @escaping @Sendable () -> Void) {
    enter()
    crew.add(errand)
    unlockAndWake()
  }

  /// The main function of a thread.
  private func work() {
    let worker = Worker()
    var role = Role.sentFor
    var ended: Unmanaged<Operation>?
    var burst = Burst()
    var contention = 0
    while true {
      let job = goOn(after: ended, worker, &role, &contention)
      ended = nil
      switch job {
      case .run(let reference, let mark):
        burst.streak += 1
        if run(reference, in: mark) { ended = reference }
      case .dispatch(let operation, let mark, let dispatchQueue):
        dispatchQueue.async { self.runDispatched(operation, in: mark) }
      case .errand(let errand): errand()
      case .search: search(&burst)
      case .rest: rest()
      case .sleep: if !sleep(worker, &role) { return }
      }
    }
  }

  /// Retires the operation that the thread has run, and chooses what it does next.
  @inline(__always)
  private func goOn(
    after ended: Unmanaged<Operation>?, _ worker: Worker, _ role: inout Role,
    _ contention: inout Int
  ) -> Job {
    var leftovers = Leftovers()
    nap.end()
    contention = enter() ? contention + 2 : max(0, contention - 1)
    ended?._withUnsafeGuaranteedRef {
      retire($0, &leftovers)
      if leftovers.callsOthers { settle($0, &leftovers) }
    }
    let isNew = role == .sentFor
    leaveAffairs()
    let job = nextJob(worker, &role, contention)
    if role != .working { contention = 0 }
    unlockAndWake(isNew: isNew, hasJob: true)
    if isNew, role == .working { sendForAnother() }
    ended?._withUnsafeGuaranteedRef { leftovers.settle($0) }
    leftovers.reference?.release()
    return job
  }

  /// Releases the lock to settle an operation: the code that this calls may wait for any other
  /// operation, so the thread has not chosen the next one yet.
  private func settle(_ operation: Operation, _ leftovers: inout Leftovers) {
    unlockAndWake()
    leftovers.settle(operation)
    enter()
  }

  private func sendForAnother() {
    enter()
    unlockAndWake(isNew: true, hasJob: true)
  }

  private func nextJob(_ worker: Worker, _ role: inout Role, _ contention: Int) -> Job {
    let old = role
    if old == .sentFor || old == .searching { crew.stopsSearching() }
    if old == .inReserve { crew.leavesReserve() }
    role = .working
    if isInTheWay(old, contention) { return stepAside(worker, &role) }
    if let job = takeErrand() ?? takeOperation() { return job }
    if old == .working, !crew.hasSearcher {
      role = .searching
      crew.startsSearching()
      return .search
    }
    crew.sleeps(worker)
    return .sleep
  }

  private func isInTheWay(_ role: Role, _ contention: Int) -> Bool {
    if role == .sentFor || role == .inReserve {
      return crew.isInTheWay(ifWithin: Crew.shortTime)
    }
    return contention >= Engine.muchContention
      && crew.isInTheWay(ifWithin: Crew.longestShortTime)
  }

  private func stepAside(_ worker: Worker, _ role: inout Role) -> Job {
    if crew.hasReserve {
      crew.sleeps(worker)
      return .sleep
    }
    crew.takesReserve()
    role = .inReserve
    return .rest
  }

  private func takeErrand() -> Job? { crew.nextErrand().map { .errand($0) } }

  private func takeOperation() -> Job? {
    while let start = scheduler.pointee.next(after: QueueID(crew.latestQueue)) {
      guard let reference = take(start) else { continue }
      let queueNumber = Int(reference._withUnsafeGuaranteedRef { $0.queueNumber })
      crew.latestQueue = queueNumber
      if queues[queueNumber].isElastic { watchElasticity(of: queueNumber) }
      fetchNext(of: QueueID(queueNumber))
      guard let dispatchQueue = queues[queueNumber].dispatchQueue else {
        return .run(reference, queues[queueNumber].mark)
      }
      return .dispatch(reference.takeUnretainedValue(), queues[queueNumber].mark, dispatchQueue)
    }
    return nil
  }

  private func take(_ start: Scheduler.Start) -> Unmanaged<Operation>? {
    switch start {
    case .counted(let queue): return takePlain(of: queue)
    case .operation(let id):
      guard let reference = members[id.index].reference, choose(reference) else { return nil }
      return reference
    }
  }

  /// Prefetches the next operation into the processor's cache while this one runs: another
  /// thread has made it, or it was made long ago.
  private func fetchNext(of queue: QueueID) {
    guard let address = (queues[queue.index].backlog.first ?? firstReady(in: queue))?.toOpaque()
    else { return }
    clinux_prefetch(address)
    clinux_prefetch(address + 64)
  }

  private func firstReady(in queue: QueueID) -> Unmanaged<Operation>? {
    scheduler.pointee.firstPlain(in: queue).flatMap { members[$0.index].reference }
  }

  /// Chooses an operation: from now on the chooser handles its end. False if the operation has
  /// already finished: the thread that finished it is about to retire it. That cannot happen to
  /// plain operations; they are chosen when they begin.
  private func choose(_ reference: Unmanaged<Operation>) -> Bool {
    reference._withUnsafeGuaranteedRef { operation in
      if type(of: operation) == BlockOperation.self { return true }
      if !operation.set(.chosen).contains(.finished) { return true }
      operation.clear(.chosen)
      return false
    }
  }

  private func search(_ burst: inout Burst) {
    guard let limit = burst.pause() else { return lookAround() }
    if !nap.take(limit: limit, whileChanging: { inbox.mark }) { burst.end() }
  }

  /// Work often comes right after the last: a thread looks for some before it sleeps.
  private func lookAround() {
    let start = epoch.load(ordering: .relaxed)
    for _ in 0..<50 where epoch.load(ordering: .relaxed) == start && inbox.isEmpty {
      sched_yield()
    }
  }

  /// Sleeps in short turns for as long as operations end too fast for a second thread. It does not
  /// take the lock to find out: the thread that works would have to wait for it.
  private func rest() {
    var time = monotonicTime()
    var count = endedCount.load(ordering: .relaxed)
    while true {
      usleep(Engine.turn)
      let (newTime, newCount) = (monotonicTime(), endedCount.load(ordering: .relaxed))
      if !nap.isTaken, newTime - time >= (newCount &- count) * Crew.shortTime { return }
      (time, count) = (newTime, newCount)
    }
  }

  /// Sleeps until there is work. False if none came for a long time: the thread ends.
  private func sleep(_ worker: Worker, _ role: inout Role) -> Bool {
    if !worker.signal.wait(seconds: Engine.patience) {
      if locked({ crew.leaves(worker) }) { return false }
      worker.signal.wait()
    }
    role = .sentFor
    return true
  }
}

extension Engine {
  /// Starts an operation that was chosen. True if the caller must retire it.
  private func run(_ reference: Unmanaged<Operation>, in mark: CurrentQueue.Mark) -> Bool {
    let isOver = reference._withUnsafeGuaranteedRef { operation in
      if type(of: operation) != BlockOperation.self { return false }
      if runPlainly(operation, in: mark) { return true }
      operation.set(.chosen)
      return false
    }
    return isOver || run(reference.takeUnretainedValue(), in: mark)
  }

  /// Runs an operation. Another thread may end it before this one returns from `start()`.
  private func run(_ operation: Operation, in mark: CurrentQueue.Mark) -> Bool {
    if !mayRun(operation) { return park(operation) }
    let old = CurrentQueue.exchange(mark)
    if !operation.has(.finished) {
      if operation.has(.hasTerms) { operation.startClock() }
      operation.start()
    }
    let isOver = operation.clear(.chosen).contains(.finished)
    if isOver { operation.conclude() }
    CurrentQueue.exchange(old)
    if !isOver, operation.isFinished { operation.finish(onOwnThread: true) }
    return isOver
  }

  /// Runs an operation like `start()` if nothing is overridden or observed; false otherwise.
  private func runPlainly(_ operation: Operation, in mark: CurrentQueue.Mark) -> Bool {
    guard operation.beginsPlainly() else { return false }
    let old = CurrentQueue.exchange(mark)
    operation.main()
    let bits = operation.set(.finished)
    if !bits.isDisjoint(with: [.isObserved, .hasCompletion]) { operation.conclude() }
    CurrentQueue.exchange(old)
    return true
  }

  private func runDispatched(_ operation: Operation, in mark: CurrentQueue.Mark) {
    if run(.passUnretained(operation), in: mark) { retire(operation) }
  }
}
