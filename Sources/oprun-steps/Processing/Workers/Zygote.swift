// The process from which workers are forked. It is created before the program has a second thread,
// since only a process with a single thread may be forked without loading a program. It does
// nothing else, and never sees what the workers process. If it is killed, the program is loaded
// again in its place.

import CConfinement
import CLinux
import Diagnostics
import Glibc

/// The program's side of the zygote. One thread at a time may use it.
struct Zygote: ~Copyable {
  /// The time in milliseconds after which a zygote that does not answer may have been stopped.
  private static let patience: Int32 = 500

  private let socket: Int32
  private let processID: Int32
  private let readable: [ImageFormat]
  private let modules: [CodecModule]
  /// True if the zygote was reaped; its number may then be reused.
  private var isReaped = false

  private init(socket: Int32, processID: Int32, readable: [ImageFormat], modules: [CodecModule]) {
    self.socket = socket
    self.processID = processID
    self.readable = readable
    self.modules = modules
  }

  /// Forks, so call it before anything starts a thread, including libraries.
  static func start(readable: [ImageFormat], modules: [CodecModule]) throws(SystemError) -> Zygote {
    let (ours, theirs) = try socketPair()
    let parent = getpid()
    let process = clinux_fork()
    if process == 0 {
      followParent(parent)
      leaveSignalsToParent()
      clinux_close_all_but([theirs], 1)
      Nursery(socket: theirs, readable: readable, modules: modules).forkOnDemand()
    }
    let error = errno
    close(theirs)
    guard process > 0 else {
      close(ours)
      throw SystemError("cannot start a process for images", errno: error)
    }
    return Zygote(socket: ours, processID: process, readable: readable, modules: modules)
  }

  /// Replaces a zygote that is gone by loading the program again, so that threads do not matter.
  /// The new one ends with the thread that calls this.
  mutating func replace() throws(SystemError) {
    let (ours, theirs) = try socketPair()
    defer { close(theirs) }
    let words = Nursery.words(readable: readable, modules: modules, parent: getpid())
    var process: Int32 = 0
    let error = spawnProgram(words, socket: theirs, &process)
    guard error == 0 else {
      close(ours)
      throw SystemError("cannot start a process for images", errno: error)
    }
    self = Zygote(socket: ours, processID: process, readable: readable, modules: modules)
  }

  /// Ends the zygote, and with it every worker.
  deinit {
    close(socket)
    if !isReaped { kill(processID, SIGCONT) }
    if !isReaped { _ = waitForEnd(of: processID) }
  }

  /// Returns how a zygote that is gone ended, as in wait(2); nil if that was returned before. The
  /// kernel has killed its workers when this returns.
  mutating func reap() -> Int32? {
    if isReaped { return nil }
    isReaped = true
    return waitForEnd(of: processID)
  }

  /// Starts a worker that answers at the other end of the socket; nil if the zygote itself is gone.
  func fork() throws(SystemError) -> WorkerProcess? {
    let (ours, theirs) = try socketPair()
    defer { close(theirs) }
    let answer = ask([Nursery.fork], sending: [theirs])
    guard let answer, answer > 0 else {
      close(ours)
      guard let answer else { return nil }
      throw SystemError("cannot start a process for images", errno: Int32(-answer))
    }
    return WorkerProcess(processID: Int32(answer), socket: ours)
  }

  /// Waits until a worker has ended, and returns its status as in wait(2); nil if the zygote itself
  /// is gone.
  func status(of worker: WorkerProcess) -> Int32? {
    ask([Nursery.reap, Int64(worker.processID)], sending: []).map(Int32.init(truncatingIfNeeded:))
  }

  private func ask(_ question: [Int64], sending descriptors: [Int32]) -> Int64? {
    let sent = question.withUnsafeBytes {
      confinement_send(socket, $0.baseAddress, $0.count, descriptors, Int32(descriptors.count))
    }
    var answer: Int64 = 0
    var count: Int32 = 0
    if sent > 0 { waitForAnswer() }
    guard sent > 0, confinement_receive(socket, &answer, 8, nil, &count) == 8 else { return nil }
    return answer
  }
}

extension Zygote {
  /// Waits for an answer, which usually comes at once. If it does not, the zygote may have been
  /// stopped and is continued.
  private func waitForAnswer() {
    var polled = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    while poll(&polled, 1, Self.patience) == 0 { kill(processID, SIGCONT) }
  }
}

/// A worker as the program knows it. Its number is not reused until the zygote is asked how it
/// ended.
struct WorkerProcess: Hashable, Sendable {
  let processID: Int32
  let socket: Int32
}

private func socketPair() throws(SystemError) -> (ours: Int32, theirs: Int32) {
  var ends: [Int32] = [-1, -1]
  let error = confinement_socket_pair(&ends)
  guard error == 0 else {
    throw SystemError("cannot start a process for images", errno: error)
  }
  return (ends[0], ends[1])
}

/// Starts the program; returns the errno, or 0 on success.
private func spawnProgram(_ words: [String], socket: Int32, _ process: inout Int32) -> Int32 {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_adddup2(&actions, socket, Nursery.loadedSocket)
  let arguments = words.map { strdup($0) } + [nil]
  defer { for argument in arguments { free(argument) } }
  return posix_spawn(&process, "/proc/self/exe", &actions, nil, arguments, environ)
}
