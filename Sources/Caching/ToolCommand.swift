// Runs a command of `tools` and hashes what it prints.

import CLinux
import Diagnostics
import Glibc

enum ToolCommand {
  /// A command that takes longer is ended.
  private static let timeLimit: Int32 = 60_000
  private static let longestOutput = 1 << 20

  /// The digest of what a script prints to both of its streams.
  static func digest(of command: String) throws(CacheFailure) -> CacheDigest {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw failure(command, SystemError.reason(errno)) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let parent = getpid()
    let process = clinux_fork()
    if process == 0 { execute(command, output: ends[1], parent: parent) }
    close(ends[1])
    defer { close(ends[0]) }
    guard process > 0 else { throw failure(command, SystemError.reason(errno)) }
    let printed = read(from: ends[0])
    if printed == nil { kill(-process, SIGKILL) }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    guard let printed else {
      throw failure(command, "it prints too much, or takes longer than 60 s")
    }
    guard clinux_exited(status) != 0, clinux_exit_status(status) == 0 else {
      throw failure(command, "it failed")
    }
    var builder = DigestBuilder()
    printed.withUnsafeBytes { builder.addRaw($0) }
    return builder.finish()
  }

  private static func failure(_ command: String, _ reason: String) -> CacheFailure {
    CacheFailure("tool \(quoted(command)): \(reason)")
  }

  /// Nil if it takes too long, or is too much.
  private static func read(from pipe: Int32) -> [UInt8]? {
    var printed: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 12)
    var clock = timespec()
    clock_gettime(CLOCK_MONOTONIC, &clock)
    let end = clock.tv_sec + Int(timeLimit) / 1000
    while printed.count <= longestOutput {
      clock_gettime(CLOCK_MONOTONIC, &clock)
      guard clock.tv_sec < end else { return nil }
      var ready = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
      guard poll(&ready, 1, 1000) > 0 else { continue }
      let count = Glibc.read(pipe, &piece, piece.count)
      if count == 0 { return printed }
      if count > 0 { printed += piece[..<count] } else if errno != EINTR { return nil }
    }
    return nil
  }

  /// Runs in the new process.
  private static func execute(_ command: String, output: Int32, parent: Int32) -> Never {
    clinux_end_with_parent()
    if getppid() != parent { _exit(1) }
    setpgid(0, 0)
    let null = open("/dev/null", O_RDWR)
    dup2(null, 0)
    dup2(output, 1)
    dup2(output, 2)
    clinux_close_all_but([output], 1)
    var none = sigset_t()
    sigemptyset(&none)
    sigprocmask(SIG_SETMASK, &none, nil)
    for number in [SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGPIPE] { signal(number, SIG_DFL) }
    var words: [UnsafeMutablePointer<CChar>?] =
      ["sh", "-c", command].map { (word: String) in strdup(word) } + [nil]
    execv("/bin/sh", &words)
    _exit(127)
  }
}
