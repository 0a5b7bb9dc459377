// The workers as the program sees them: requests go in from any thread, answers come back. A
// separate thread communicates with the processes.

import CConfinement
import Diagnostics
import Glibc
import Synchronization

final class Workers: Sendable {
  private struct State: Sendable {
    var nextTicket = 0
    var incoming: [Assignment] = []
    var cancelled: [Int] = []
    var isStopping = false
    var thread: pthread_t?
    var tell: @Sendable (String) -> Void = { _ in }
    var hasToldLack = false
  }

  /// The number of images that are processed at the same time.
  let count: Int
  let readable: [ImageFormat]
  private let state = Mutex(State())
  private let zygote: Mutex<Zygote?>
  private let first: WorkerProcess
  private let wakeUp: (read: Int32, write: Int32)

  private init(
    count: Int, readable: [ImageFormat], zygote: consuming Zygote, first: WorkerProcess,
    wakeUp: (Int32, Int32)
  ) {
    self.count = count
    self.readable = readable
    self.first = first
    self.zygote = Mutex(consume zygote)
    self.wakeUp = wakeUp
  }

  deinit {
    close(wakeUp.read)
    close(wakeUp.write)
  }

  /// Forks, so call it before anything starts a thread.
  static func start(
    count: Int, readable: [ImageFormat], modules: [CodecModule]
  ) throws(SystemError) -> Workers {
    let zygote = try Zygote.start(readable: readable, modules: modules)
    // The worker gets ready while the program finds out what there is to do.
    guard let first = try zygote.fork() else {
      throw SystemError("cannot start a process for images", errno: EPIPE)
    }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw SystemError("cannot start a process for images", errno: errno)
    }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    return Workers(
      count: max(1, count), readable: readable, zygote: zygote, first: first,
      wakeUp: (ends[0], ends[1]))
  }

  /// Submits a request; returns a ticket for `cancel`. The descriptors must stay open until the
  /// handler is called.
  @discardableResult
  func perform(
    _ request: ImageRequest, _ descriptors: [Int32], then handler: @escaping AnswerHandler
  ) -> Int {
    let (ticket, hasThread) = state.withLock { state in
      state.nextTicket += 1
      if state.thread == nil { state.thread = startThread() }
      guard state.thread != nil else { return (state.nextTicket, false) }
      state.incoming.append(
        Assignment(
          ticket: state.nextTicket, request: request, descriptors: descriptors, handler: handler))
      return (state.nextTicket, true)
    }
    if hasThread {
      wake()
    } else {
      handler(.failure(.system(SystemError("cannot start a thread for images", errno: EAGAIN))))
    }
    return ticket
  }

  /// Cancels a request: the handler is called with the fault `cancelled`, unless the answer was
  /// there before.
  func cancel(_ ticket: Int) {
    state.withLock { $0.cancelled.append(ticket) }
    wake()
  }

  /// Ends all processes, and returns when they are gone. Requests that are under way end as cancelled.
  func stop() {
    let thread = state.withLock { state in
      state.isStopping = true
      defer { state.thread = nil }
      return state.thread
    }
    wake()
    if let thread { pthread_join(thread, nil) }
    zygote.withLock { $0 = nil }
  }

  /// Sets a closure that receives messages: once if the kernel does not grant workers everything
  /// that confines them, and whenever the process from which they are forked is restarted. Set it
  /// before the first request.
  func whenTroubled(_ tell: @escaping @Sendable (String) -> Void) {
    state.withLock { $0.tell = tell }
  }

  private func note(layers: Int) {
    guard let words = wordsForLack(of: layers) else { return }
    let tell = state.withLock { state in
      defer { state.hasToldLack = true }
      return state.hasToldLack ? nil : state.tell
    }
    tell?(words)
  }

  private func wake() {
    var byte: UInt8 = 0
    // A full pipe wakes as well.
    _ = write(wakeUp.write, &byte, 1)
  }

  /// Nil if the machine has no thread to give.
  private func startThread() -> pthread_t? {
    var thread = pthread_t()
    let box = Unmanaged.passRetained(self)
    let failure = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        let workers = Unmanaged<Workers>.fromOpaque(argument).takeRetainedValue()
        workers.serve()
        return nil
      }, box.toOpaque())
    if failure != 0 { box.release() }
    return failure == 0 ? thread : nil
  }

  private func serve() {
    guard let zygote = zygote.withLock({ $0.take() }) else { return }
    var dispatcher = Dispatcher(
      zygote: zygote, idle: [first], count: count, wakeUp: wakeUp.read)
    dispatcher.whenReady = { [self] layers in note(layers: layers) }
    dispatcher.whenReplaced = { [self] words in
      let tell = state.withLock { $0.tell }
      tell(words)
    }
    while true {
      let (incoming, cancelled, isStopping) = state.withLock { state in
        defer {
          state.incoming = []
          state.cancelled = []
        }
        return (state.incoming, state.cancelled, state.isStopping)
      }
      dispatcher.take(incoming)
      for ticket in cancelled { dispatcher.cancel(ticket) }
      if isStopping { return dispatcher.stop() }
      dispatcher.turn()
    }
  }
}
