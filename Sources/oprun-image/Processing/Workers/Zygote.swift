// The process that workers are forked from: made before the program has a second thread, since only
// such a process may be forked without loading a program anew. It does nothing else. What the others
// do in confinement, it never gets to see.

import CConfinement
import CLinux
import Diagnostics
import Glibc

/// The program's side of it. One thread at a time may use it.
struct Zygote: ~Copyable {
  private let socket: Int32
  private let processID: Int32

  /// Forks. Call it before anything starts a thread, also not in a library.
  static func start(readable: [ImageFormat], usesHEIF: Bool) throws(SystemError) -> Zygote {
    let (ours, theirs) = try socketPair()
    let parent = getpid()
    let process = clinux_fork()
    if process == 0 {
      followParent(parent)
      leaveSignalsToParent()
      clinux_close_all_but(theirs)
      Nursery(socket: theirs, readable: readable, usesHEIF: usesHEIF).forkOnDemand()
    }
    let error = errno
    close(theirs)
    guard process > 0 else {
      close(ours)
      throw SystemError("cannot start a process for images", errno: error)
    }
    return Zygote(socket: ours, processID: process)
  }

  /// Ends it, and with it every worker.
  deinit {
    close(socket)
    var status: Int32 = 0
    while waitpid(processID, &status, 0) < 0, errno == EINTR {}
  }

  /// Starts a worker that answers at the other end of the socket.
  func fork() throws(SystemError) -> WorkerProcess {
    let action = "cannot start a process for images"
    let (ours, theirs) = try socketPair()
    defer { close(theirs) }
    let answer = ask([Nursery.fork], sending: [theirs])
    guard let answer, answer > 0 else {
      close(ours)
      throw SystemError(action, errno: answer.map { Int32(-$0) } ?? EPIPE)
    }
    return WorkerProcess(processID: Int32(answer), socket: ours)
  }

  /// Waits until a worker has ended, and tells its status as wait(2) does.
  func status(of worker: WorkerProcess) -> Int32? {
    ask([Nursery.reap, Int64(worker.processID)], sending: []).map(Int32.init(truncatingIfNeeded:))
  }

  private func ask(_ question: [Int64], sending descriptors: [Int32]) -> Int64? {
    let sent = question.withUnsafeBytes {
      confinement_send(socket, $0.baseAddress, $0.count, descriptors, Int32(descriptors.count))
    }
    var answer: Int64 = 0
    var count: Int32 = 0
    guard sent > 0, confinement_receive(socket, &answer, 8, nil, &count) == 8 else { return nil }
    return answer
  }
}

/// A worker as the program knows it. Its number stays its own until the zygote is asked how it ended.
struct WorkerProcess: Hashable, Sendable {
  let processID: Int32
  let socket: Int32
}

/// The zygote's own side.
private struct Nursery {
  static let fork: Int64 = 1
  static let reap: Int64 = 2

  let socket: Int32
  let readable: [ImageFormat]
  let usesHEIF: Bool

  func forkOnDemand() -> Never {
    var workers: Set<Int32> = []
    while true {
      var question: [Int64] = [0, 0]
      var descriptor: Int32 = -1
      var count: Int32 = 1
      guard confinement_receive(socket, &question, 16, &descriptor, &count) > 0 else {
        for worker in workers { kill(worker, SIGKILL) }
        for worker in workers { _ = waitForEnd(worker) }
        _exit(0)
      }
      var answer: Int64
      if question[0] == Nursery.fork {
        answer = startWorker(descriptor)
        if answer > 0 { workers.insert(Int32(answer)) }
      } else {
        let worker = Int32(truncatingIfNeeded: question[1])
        answer = waitForEnd(worker)
        workers.remove(worker)
      }
      confinement_send(socket, &answer, 8, nil, 0)
    }
  }

  private func startWorker(_ descriptor: Int32) -> Int64 {
    let parent = getpid()
    let process = clinux_fork()
    if process == 0 {
      followParent(parent)
      leaveCrashesToKernel()
      clinux_close_all_but(descriptor)
      let null = open("/dev/null", O_RDWR)
      for stream: Int32 in 0...2 { dup2(null, stream) }
      close(null)
      Worker.run(on: descriptor, readable: readable, usesHEIF: usesHEIF)
    }
    let answer = process > 0 ? Int64(process) : Int64(-errno)
    close(descriptor)
    return answer
  }

  private func waitForEnd(_ process: Int32) -> Int64 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 {
      if errno != EINTR { return 0 }
    }
    return Int64(status)
  }
}

/// SIGKILL when the parent ends, also if it already has.
private func followParent(_ parent: Int32) {
  confinement_die_with_parent()
  if getppid() != parent { _exit(0) }
}

/// A terminal sends its signals to all processes of a group; what they mean is the program's business.
private func leaveSignalsToParent() {
  for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE] { signal(number, SIG_IGN) }
}

/// Swift's runtime can start a program that tells of a crash, which a worker must not.
private func leaveCrashesToKernel() {
  for number in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(number, SIG_DFL) }
}

private func socketPair() throws(SystemError) -> (ours: Int32, theirs: Int32) {
  var ends: [Int32] = [-1, -1]
  let error = confinement_socket_pair(&ends)
  guard error == 0 else {
    throw SystemError("cannot start a process for images", errno: error)
  }
  return (ends[0], ends[1])
}
