// Passes requests to workers and answers back, and knows which workers are busy, late or dead. It
// runs on one thread, and waits in one place.

import CConfinement
import CLinux
import Diagnostics
import Glibc

struct Dispatcher: ~Copyable {
  /// The number of times that a killed zygote is replaced; if more are killed, this is assumed to be deliberate.
  static let mostReplacements = 3
  /// The time, in milliseconds, within which workers of a zygote that was killed end.
  private static let longestEnd = 2000

  private var zygote: Zygote
  private var replacements = 0
  private let count: Int
  private let wakeUp: Int32
  /// Called with the layers of each worker.
  var whenReady: (Int) -> Void = { _ in }
  /// Called with a message about a zygote that was killed.
  var whenReplaced: (String) -> Void = { _ in }
  private var waiting: [Assignment] = []
  private var idle: [WorkerProcess]
  private var active: [ActiveAssignment] = []

  init(zygote: consuming Zygote, idle: [WorkerProcess], count: Int, wakeUp: Int32) {
    self.zygote = zygote
    self.idle = idle
    self.count = count
    self.wakeUp = wakeUp
  }

  mutating func take(_ assignments: [Assignment]) {
    waiting.append(contentsOf: assignments)
    assign()
  }

  mutating func cancel(_ ticket: Int) {
    if let index = waiting.firstIndex(where: { $0.ticket == ticket }) {
      waiting.remove(at: index).handler(.failure(.cancelled))
    } else if let index = active.firstIndex(where: { $0.assignment.ticket == ticket }) {
      kill(index, for: .cancelled)
    }
  }

  /// Waits until something happens, and handles it.
  mutating func turn() {
    var polled = [pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0)]
    polled += active.map { pollfd(fd: $0.worker.socket, events: Int16(POLLIN), revents: 0) }
    _ = poll(&polled, nfds_t(polled.count), timeToDeadline())
    if polled[0].revents != 0 { drainWakeUp() }
    let ready = active.indices.filter { polled[$0 + 1].revents != 0 }.map { active[$0].worker }
    for worker in ready {
      // A zygote that is gone takes all workers with it.
      if let index = active.firstIndex(where: { $0.worker == worker }) { receive(index) }
    }
    let now = monotonicMilliseconds()
    for index in active.indices where active[index].deadline <= now { kill(index, for: .timedOut) }
    assign()
  }

  mutating func stop() {
    for index in active.indices { kill(index, for: .cancelled) }
    for entry in active { entry.assignment.handler(.failure(.cancelled)) }
    for assignment in waiting { assignment.handler(.failure(.cancelled)) }
    for worker in idle + active.map(\.worker) { close(worker.socket) }
  }

  private func timeToDeadline() -> Int32 {
    let pending = active.filter { $0.stopReason == nil }.map(\.deadline)
    guard let next = pending.min() else { return -1 }
    return Int32(clamping: max(0, next - monotonicMilliseconds()))
  }

  private func drainWakeUp() {
    var bytes = [UInt8](repeating: 0, count: 256)
    while read(wakeUp, &bytes, bytes.count) > 0 {}
  }

  // MARK: Handing out

  private mutating func assign() {
    while !waiting.isEmpty, active.count < count {
      let assignment = waiting.removeFirst()
      do throws(ImageFailure) {
        if let worker = idle.popLast() {
          try hand(assignment, to: worker)
        } else {
          try hand(assignment, to: try fork())
        }
      } catch {
        assignment.handler(.failure(error))
      }
    }
  }

  /// Passes an assignment to a worker; one that died while idle is replaced.
  private mutating func hand(
    _ assignment: Assignment, to worker: WorkerProcess
  ) throws(ImageFailure) {
    var worker = worker
    if !send(assignment, to: worker) {
      bury(worker)
      worker = try fork()
      guard send(assignment, to: worker) else {
        bury(worker)
        throw .system(SystemError("cannot reach a process for images", errno: EPIPE))
      }
    }
    let deadline = monotonicMilliseconds() + assignment.request.limits.milliseconds
    active.append(ActiveAssignment(assignment: assignment, worker: worker, deadline: deadline))
  }

  private func send(_ assignment: Assignment, to worker: WorkerProcess) -> Bool {
    let descriptors = assignment.descriptors
    return assignment.request.numbers.withUnsafeBytes {
      confinement_send(
        worker.socket, $0.baseAddress, $0.count, descriptors, Int32(descriptors.count)) > 0
    }
  }

  // MARK: Ends

  private mutating func receive(_ index: Int) {
    var message = [Int64](repeating: 0, count: ImageRequest.largestMessage / 8)
    var none: Int32 = 0
    let entry = active.remove(at: index)
    let size = message.withUnsafeMutableBytes {
      confinement_receive(entry.worker.socket, $0.baseAddress, $0.count, nil, &none)
    }
    guard size > 0 else { return end(entry) }
    guard let answer = ImageAnswer(numbers: Array(message.prefix(size / 8))) else {
      Glibc.kill(entry.worker.processID, SIGKILL)
      bury(entry.worker)
      return entry.assignment.handler(.failure(.workerSpokeNonsense))
    }
    if case .ready(let layers) = answer {
      active.insert(entry, at: index)
      return whenReady(layers)
    }
    idle.append(entry.worker)
    if case .fault(let fault) = answer {
      entry.assignment.handler(.failure(fault))
    } else {
      entry.assignment.handler(.success(answer))
    }
  }

  /// Called when the worker of an entry has died.
  private mutating func end(_ entry: ActiveAssignment) {
    guard let status = zygote.status(of: entry.worker) else {
      active.append(entry)
      return loseWorkers()
    }
    close(entry.worker.socket)
    settle(entry, status: status)
  }

  private mutating func settle(_ entry: ActiveAssignment, status: Int32) {
    let limits = entry.assignment.request.limits
    let signal = clinux_exited(status) == 0 ? clinux_signal(status) : 0
    switch entry.stopReason {
    case .cancelled?: entry.assignment.handler(.failure(.cancelled))
    case .timedOut?:
      entry.assignment.handler(.failure(.timedOut(milliseconds: limits.milliseconds)))
    case nil where signal == SIGXCPU:
      entry.assignment.handler(.failure(.outOfProcessorTime(seconds: limits.processorSeconds)))
    case nil where signal == SIGKILL && !entry.assignment.isRetried:
      var again = entry.assignment
      again.isRetried = true
      waiting.insert(again, at: 0)
    case nil where signal != 0: entry.assignment.handler(.failure(.workerDied(signal: signal)))
    case nil:
      entry.assignment.handler(.failure(.workerExited(status: clinux_exit_status(status))))
    }
  }

  private mutating func kill(_ index: Int, for reason: StopReason) {
    guard active[index].stopReason == nil else { return }
    active[index].stopReason = reason
    Glibc.kill(active[index].worker.processID, SIGKILL)
  }

  /// Reaps a worker. Its number cannot be reused before this.
  private func bury(_ worker: WorkerProcess) {
    close(worker.socket)
    _ = zygote.status(of: worker)
  }

  // MARK: A zygote that was killed

  /// Forks a worker; if the zygote is gone, from another one.
  private mutating func fork() throws(ImageFailure) -> WorkerProcess {
    do throws(SystemError) {
      if let worker = try zygote.fork() { return worker }
      while replacements < Self.mostReplacements {
        try replaceZygote()
        if let worker = try zygote.fork() { return worker }
      }
    } catch { throw .system(error) }
    throw .zygoteDied(replacements + 1)
  }

  private mutating func replaceZygote() throws(SystemError) {
    replacements += 1
    loseWorkers()
    if let status = zygote.reap() { whenReplaced(wordsForLostZygote(status: status)) }
    try zygote.replace()
  }

  /// Called when the workers are lost: the kernel has killed them with the zygote, or is about to.
  private mutating func loseWorkers() {
    let lost = active
    active = []
    let deadline = monotonicMilliseconds() + Self.longestEnd
    for var entry in lost.reversed() {
      // Two workers must never write to the same file.
      if !hasEnded(entry.worker, by: deadline) { entry.assignment.isRetried = true }
      close(entry.worker.socket)
      settle(entry, status: SIGKILL)
    }
    for worker in idle { close(worker.socket) }
    idle = []
  }

  private func hasEnded(_ worker: WorkerProcess, by deadline: Int) -> Bool {
    while true {
      // POLLHUP is reported without being requested.
      var polled = pollfd(fd: worker.socket, events: 0, revents: 0)
      let left = Int32(clamping: max(0, deadline - monotonicMilliseconds()))
      if poll(&polled, 1, left) > 0 { return true }
      if left == 0 { return false }
    }
  }
}

private func monotonicMilliseconds() -> Int { Int(monotonicTime() / 1_000_000) }
