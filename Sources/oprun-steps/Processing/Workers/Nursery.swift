// The work of the zygote: it forks workers and reports how they ended. It knows no image.

import BuiltinSteps
import CConfinement
import CLinux
import Diagnostics
import Glibc

/// The zygote's own side.
struct Nursery {
  static let fork: Int64 = 1
  static let reap: Int64 = 2

  let socket: Int32
  let readable: [ImageFormat]
  let modules: [CodecModule]

  func forkOnDemand() -> Never {
    var workers: Set<Int32> = []
    var hasForked = false
    while true {
      var question: [Int64] = [0, 0]
      var descriptor: Int32 = -1
      var count: Int32 = 1
      guard confinement_receive(socket, &question, 16, &descriptor, &count) > 0 else {
        for worker in workers { kill(worker, SIGKILL) }
        for worker in workers { _ = waitForEnd(of: worker) }
        _exit(0)
      }
      var answer: Int64
      if question[0] == Nursery.fork {
        // The first worker begins at once, and loads libvips while the program continues. What is
        // loaded here is shared by all others; they report themselves if loading fails.
        if hasForked { _ = Raster.load() }
        hasForked = true
        answer = startWorker(descriptor)
        if answer > 0 { workers.insert(Int32(answer)) }
      } else {
        let worker = Int32(truncatingIfNeeded: question[1])
        answer = Int64(waitForEnd(of: worker))
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
      clinux_close_all_but([descriptor], 1)
      let null = open("/dev/null", O_RDWR)
      for stream: Int32 in 0...2 { dup2(null, stream) }
      close(null)
      Worker.run(on: descriptor, readable: readable, modules: modules)
    }
    let answer = process > 0 ? Int64(process) : Int64(-errno)
    close(descriptor)
    return answer
  }
}

extension Nursery {
  /// The argument with which the program is loaded as a zygote. No step has such a name.
  private static let mark = "--image-nursery"
  /// The descriptor number of its socket.
  static let loadedSocket: Int32 = 3

  static func words(readable: [ImageFormat], modules: [CodecModule], parent: Int32) -> [String] {
    [BuiltinStep.program, mark, "\(parent)", modules.map(\.rawValue).joined(separator: ",")]
      + readable.map { "\($0.rawValue)" }
  }

  /// Serves for the rest of the process's life, if it was loaded for that.
  static func serveIfLoaded(for words: [String]) {
    guard words.first == mark, words.count >= 3, let parent = Int32(words[1]) else { return }
    followParent(parent)
    leaveSignalsToParent()
    clinux_close_all_but([loadedSocket], 1)
    let readable = words.dropFirst(3).compactMap { Int64($0).flatMap(ImageFormat.init) }
    let modules = words[2].split(separator: ",").compactMap { CodecModule(rawValue: String($0)) }
    Nursery(socket: loadedSocket, readable: readable, modules: modules).forkOnDemand()
  }
}

/// The status as in waitpid(2); 0 if there is no such child.
func waitForEnd(of process: Int32) -> Int32 {
  var status: Int32 = 0
  while waitpid(process, &status, 0) < 0 {
    if errno != EINTR { return 0 }
  }
  return status
}

/// Requests SIGKILL when the parent ends, or if it already has.
func followParent(_ parent: Int32) {
  confinement_die_with_parent()
  if getppid() != parent { _exit(0) }
}

/// Ignores signals that a terminal sends to all processes of a group; the program handles them.
func leaveSignalsToParent() {
  for number in signalsToEnd + [SIGPIPE] { signal(number, SIG_IGN) }
}

/// Swift's runtime can start a program that reports a crash, which a worker must not do.
private func leaveCrashesToKernel() {
  for number in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(number, SIG_DFL) }
}
