// Runs a command of `tools` and hashes what it prints.

import CLinux
import Diagnostics
import Glibc

enum ToolCommand {
  /// A command that takes longer is ended.
  private static let timeLimit = 60
  private static let longestOutput = 1 << 20

  private enum Output {
    case text([UInt8])
    case refused(String)
  }

  /// The digest of what a script with these variables prints to both of its streams. What it has left in the background when it exits is ended.
  static func digest(
    of command: String, _ environment: [String]
  ) throws(CacheFailure) -> CacheDigest {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw failure(command, SystemError.reason(errno)) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let parent = getpid()
    let minder = clinux_fork()
    if minder == 0 { ToolMinder.run(command, environment, output: ends[1], parent: parent) }
    close(ends[1])
    defer { close(ends[0]) }
    guard minder > 0 else { throw failure(command, SystemError.reason(errno)) }
    let printed = read(from: ends[0])
    if case .refused = printed { kill(minder, SIGTERM) }
    var status: Int32 = 0
    while waitpid(minder, &status, 0) < 0, errno == EINTR {}
    switch printed {
    case .refused(let reason): throw failure(command, reason)
    case .text(let text):
      guard clinux_exited(status) != 0, clinux_exit_status(status) == 0 else {
        throw failure(command, "the command failed")
      }
      var builder = DigestBuilder()
      text.withUnsafeBytes { builder.addRaw($0) }
      return builder.finish()
    }
  }

  private static func failure(_ command: String, _ reason: String) -> CacheFailure {
    CacheFailure("tool \(quoted(command)): \(reason)")
  }

  /// What comes until nobody has the other end any more.
  private static func read(from pipe: Int32) -> Output {
    var printed: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 12)
    var clock = timespec()
    clock_gettime(CLOCK_MONOTONIC, &clock)
    let end = clock.tv_sec + timeLimit
    while printed.count <= longestOutput {
      clock_gettime(CLOCK_MONOTONIC, &clock)
      guard clock.tv_sec < end else {
        return .refused("the command takes longer than \(timeLimit) s")
      }
      var ready = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
      guard poll(&ready, 1, 1000) > 0 else { continue }
      let count = Glibc.read(pipe, &piece, piece.count)
      if count == 0 { return .text(printed) }
      if count > 0 {
        printed += piece[..<count]
      } else if errno != EINTR {
        return .refused(SystemError.reason(errno))
      }
    }
    return .refused("the command prints more than 1 MiB")
  }
}
