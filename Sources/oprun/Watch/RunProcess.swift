// A run of the pipeline in a process of its own, with the terminal and the streams of this one.

import CLinux
import Diagnostics
import Execution
import Glibc

struct RunProcess {
  let number: pid_t

  /// Variables of options that `oprun watch` does not have, and `oprun run` would obey.
  static let unwanted: [String] = {
    let own = Set(Subcommand.watch.options.map(\.variable))
    return Subcommand.run.options.filter { $0.hasOneVariable && !own.contains($0.variable) }
      .map(\.variable)
  }()

  /// Starts this program with other words. It is in the same process group, so a terminal sends Ctrl-C to both.
  init(_ words: [String]) throws(SystemError) {
    for variable in Self.unwanted { unsetenv(variable) }
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { (word: String) in strdup(word) }
    arguments.append(nil)
    defer { for argument in arguments { free(argument) } }
    let parent = getpid()
    number = clinux_fork()
    if number == 0 {
      clinux_end_with_parent()
      if getppid() != parent { _exit(1) }
      var none = sigset_t()
      sigemptyset(&none)
      sigprocmask(SIG_SETMASK, &none, nil)
      execv("/proc/self/exe", &arguments)
      _exit(127)
    }
    guard number > 0 else { throw SystemError("cannot start a run", errno: errno) }
  }

  func send(_ signal: Int32) { kill(number, signal) }

  /// Ends the run as by TERM, because it will start anew.
  func cancel() { endWatchedRun(number) }

  /// Ends the run as by TERM, and waits for that.
  func end() {
    send(SIGTERM)
    var status: Int32 = 0
    while waitpid(number, &status, 0) < 0, errno == EINTR {}
  }

  /// The exit status of the run, as a shell reports it; nil if it has not ended.
  func takeEnd() -> Int32? {
    var status: Int32 = 0
    guard waitpid(number, &status, WNOHANG) == number else { return nil }
    if clinux_exited(status) != 0 { return clinux_exit_status(status) }
    return 128 + clinux_signal(status)
  }
}

/// Signals to this process, as a readable descriptor.
struct WatchSignals {
  let descriptor: Int32

  init() throws(SystemError) {
    // Ends of children are not reported while SIGCHLD is ignored.
    signal(SIGCHLD, SIG_DFL)
    let ignored = clinux_ignored_signals()
    let wanted = (signalsToEnd + [SIGCHLD]).reduce(UInt64(0)) { bits, signal in
      bits | 1 << UInt64(signal - 1)
    }
    let isUnderNohup = ignored & 1 << UInt64(SIGHUP - 1) != 0
    let awaited = isUnderNohup ? wanted & ~(1 << UInt64(SIGHUP - 1)) : wanted
    clinux_block_signals(awaited)
    descriptor = clinux_signal_descriptor(awaited)
    guard descriptor >= 0 else { throw SystemError("cannot read signals", errno: -descriptor) }
  }

  /// The signals that ask for an end; those from a terminal have reached the run, too.
  func take() -> [(signal: Int32, isFromTerminal: Bool)] {
    let size = MemoryLayout<signalfd_siginfo>.stride
    var batch = [signalfd_siginfo](repeating: signalfd_siginfo(), count: 16)
    let count = read(descriptor, &batch, size * batch.count)
    guard count > 0 else { return [] }
    return batch.prefix(count / size).filter { $0.ssi_signo != UInt32(SIGCHLD) }.map {
      (Int32($0.ssi_signo), $0.ssi_code == 0x80)  // SI_KERNEL
    }
  }
}
