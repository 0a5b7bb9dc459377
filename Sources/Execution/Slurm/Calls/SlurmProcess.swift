// Runs one command to its end and collects its output. Blocks, so it is used only by processes of
// oprun that do nothing else.

import CLinux
import Diagnostics
import Glibc
import Scheduling

enum SlurmProcess {
  /// The number of bytes that are kept of each stream.
  private static let longestOutput = 256 << 20

  /// The exit status (empty if the time was over), what was printed to each stream, why the command
  /// could not be started, and, if it was, its processor time in microseconds. The command is killed when the time is
  /// over, or when nobody is at the other end of `socket` any more.
  static func run(
    _ call: SlurmCall, _ environment: [String], for socket: Int32 = -1
  ) -> [String] {
    var pipes: [[Int32]] = []
    for _ in 0..<3 {
      var ends: [Int32] = [0, 0]
      guard pipe(&ends) == 0 else { return ["", "", "", SystemError.reason(errno)] }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      pipes.append(ends)
    }
    var process: Int32 = 0
    let error = start(call.words, environment, pipes, &process)
    close(pipes[0][0])
    close(pipes[1][1])
    close(pipes[2][1])
    guard error == 0 else {
      for end in [pipes[0][1], pipes[1][0], pipes[2][0]] { close(end) }
      return ["", "", "", refusal(call.words[0], error)]
    }
    let deadline = Int(call.limit / 1_000_000) + now()
    feed(call.input, to: pipes[0][1])
    let printed = collect(from: [pipes[1][0], pipes[2][0]], until: deadline, for: socket)
    if printed.map({ isWaiting($0) }) ?? true { kill(-process, SIGKILL) }
    return finish(process, printed)
  }

  private static func refusal(_ name: String, _ error: Int32) -> String {
    error == ENOENT
      ? "'\(name)' is not installed on this machine"
      : "cannot start '\(name)': \(SystemError.reason(error))"
  }

  private static func start(
    _ words: [String], _ environment: [String], _ pipes: [[Int32]], _ process: inout Int32
  ) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_adddup2(&actions, pipes[0][0], 0)
    posix_spawn_file_actions_adddup2(&actions, pipes[1][1], 1)
    posix_spawn_file_actions_adddup2(&actions, pipes[2][1], 2)
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
    let arguments = words.map { (word: String) in strdup(word) }
    let variables = environment.map { (variable: String) in strdup(variable) }
    defer { (arguments + variables).forEach { free($0) } }
    return posix_spawnp(
      &process, words[0], &actions, &attributes, arguments + [nil], variables + [nil])
  }

  /// Writes the text without waiting for the command to read it, because a pipe has room for it.
  private static func feed(_ text: String, to pipe: Int32) {
    let earlier = signal(SIGPIPE, SIG_IGN)
    defer { signal(SIGPIPE, earlier) }
    _ = fcntl(pipe, F_SETFL, O_NONBLOCK)
    let bytes = Array(text.utf8)
    _ = write(pipe, bytes, bytes.count)
    close(pipe)
  }

  /// The output from the pipes until both have ended, or nothing more is wanted; nil if the time is
  /// over, or nobody waits for it any more.
  private static func collect(
    from pipes: [Int32], until deadline: Int, for socket: Int32
  ) -> [[UInt8]]? {
    var printed: [[UInt8]] = [[], []]
    var isOpen = [true, true]
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    defer { for pipe in pipes { close(pipe) } }
    while isOpen.contains(true) {
      let left = deadline - now()
      guard left > 0 else { return nil }
      var waiting = zip(pipes, isOpen).map {
        pollfd(fd: $1 ? $0 : -1, events: Int16(POLLIN), revents: 0)
      }
      // No other call comes before the answer: the socket can only end.
      waiting.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0))
      guard poll(&waiting, 3, Int32(clamping: left)) > 0 else { continue }
      if waiting[2].revents != 0 { return nil }
      for index in 0..<2 where waiting[index].revents != 0 {
        let count = read(pipes[index], &piece, piece.count)
        if count > 0, printed[index].count < longestOutput {
          printed[index] += piece[..<count]
          if isWaiting(printed) { return printed }
        } else if count == 0 || count < 0 && errno != EINTR {
          isOpen[index] = false
        }
      }
    }
    return printed
  }

  /// True if `sbatch` was refused and would repeat the submission: oprun does that, with an array that fits.
  private static func isWaiting(_ printed: [[UInt8]]) -> Bool {
    !printed[1].isEmpty && isSbatchWaiting(String(decoding: printed[1].prefix(4096), as: UTF8.self))
  }

  private static func finish(_ process: Int32, _ printed: [[UInt8]]?) -> [String] {
    var status: Int32 = 0
    var usage = rusage()
    while wait4(process, &status, 0, &usage) < 0, errno == EINTR {}
    guard let printed else { return ["", "", "", ""] }
    let microseconds = [usage.ru_utime, usage.ru_stime].reduce(0) {
      $0 + Int($1.tv_sec) * 1_000_000 + Int($1.tv_usec)
    }
    let code = clinux_exited(status) != 0 ? clinux_exit_status(status) : 128 + clinux_signal(status)
    return [String(code)] + printed.map { String(decoding: $0, as: UTF8.self) } + [
      "", String(microseconds),
    ]
  }

  /// The time in milliseconds.
  private static func now() -> Int { Int(monotonicTime() / 1_000_000) }
}

extension SlurmAnswer {
  /// Reads what `SlurmProcess.run` returns; nil if it is something else.
  init?(_ texts: [String]) {
    guard texts.count >= 4 else { return nil }
    self.init(
      exitStatus: Int32(texts[0]), output: texts[1], errors: texts[2],
      refusal: texts[3].isEmpty ? nil : texts[3],
      processorTime: texts.count > 4 ? (Nanoseconds(texts[4]) ?? 0) * 1000 : 0)
  }

  /// The answer to a call that this process makes itself, and waits for.
  init(to call: SlurmCall, _ environment: [String]) {
    guard let answer = SlurmAnswer(SlurmProcess.run(call, environment)) else {
      preconditionFailure("a command of Slurm has an answer")
    }
    self = answer
  }
}
