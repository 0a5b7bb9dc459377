// Runs a command of `tools` and hashes what it prints.

import CLinux
import Diagnostics
import Glibc

enum ToolCommand {
  /// A command that takes longer is ended.
  private static let timeLimit = 60
  private static let longestOutput = 1 << 20
  /// A longer line is not shown.
  private static let longestLine = 200

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
      // The minder has the status of the shell, or what a shell makes of a signal.
      let code = clinux_exited(status) != 0 ? clinux_exit_status(status) : 1
      guard code == 0 else { throw failure(command, reason(code, after: text)) }
      var builder = DigestBuilder()
      text.withUnsafeBytes { builder.addRaw($0) }
      return builder.finish()
    }
  }

  private static func failure(_ command: String, _ reason: String) -> CacheFailure {
    CacheFailure("tool \(quoted(command)): \(reason)")
  }

  /// How the command failed, and the last line of what it printed, if that can be shown whole: a part of a secret would
  /// not be masked.
  private static func reason(_ code: Int32, after text: [UInt8]) -> String {
    let status =
      code > 128 && code <= 128 + 64
      ? "the command was ended by \(signalName(code - 128))"
      : "the command exited with status \(code)"
    let line = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline).last {
      !$0.allSatisfy(\.isWhitespace)
    }
    guard let line, line.utf8.count <= longestLine else { return status }
    return "\(status): \(line)"
  }

  /// Everything that is written until nobody has the other end any more. The minder of the command keeps that as long
  /// as it lives.
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
