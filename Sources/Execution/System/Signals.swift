// Signals as something to read: those to the run, those of job control, and those that tell that a
// child changed state or the terminal has another size.

import CLinux
import Diagnostics
import Glibc

/// Blocks the signals a run acts on, until the process ends, and reads them from a descriptor. No
/// handler is ever set, so commands inherit the dispositions that oprun was started with.
struct Signals: ~Copyable {
  /// Every signal that can be sent to a process and would end it without a message ends a run
  /// instead, including those that its own steps send. Left out are KILL, signals raised by a fault
  /// (which the guardian handles), and the two that become errors of a system call: PIPE and XFSZ.
  static let stopping =
    [
      SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGSTKFLT, SIGXCPU, SIGVTALRM,
      SIGPROF, SIGIO, SIGPWR,
    ] + Array(32...64)

  /// Signals that were ignored when oprun was started and are ignored again in commands: all except
  /// HUP, which stays ignored under nohup. Bit n−1 stands for signal n.
  let ignoredAtStart: UInt64
  /// The signals of `stopping` that end this run: all except a HUP that was ignored at the start.
  let handled: UInt64
  private let source: Descriptor
  private var batch = [signalfd_siginfo](repeating: signalfd_siginfo(), count: 16)

  init() throws(SystemError) {
    let ignored = clinux_ignored_signals()
    ignoredAtStart = ignored & ~Signals.bit(SIGHUP)
    // With SIGCHLD ignored the kernel would reap our children itself without reporting it.
    signal(SIGCHLD, SIG_DFL)
    let stopping = Signals.stopping.reduce(0) { $0 | Signals.bit($1) }
    handled = stopping & ~(ignored & Signals.bit(SIGHUP))
    let jobControl = Signals.bit(SIGTSTP) | Signals.bit(SIGCONT)
    let awaited = handled | jobControl | Signals.bit(SIGCHLD) | Signals.bit(SIGWINCH)
    // A write to a closed pipe, or beyond the limit on file size, fails with an error: it neither
    // ends oprun nor makes commands ignore the signal.
    clinux_block_signals(awaited | Signals.bit(SIGPIPE) | Signals.bit(SIGXFSZ))
    let number = clinux_signal_descriptor(awaited)
    guard number >= 0 else { throw SystemError("cannot read signals", errno: -number) }
    source = Descriptor(owning: number)
  }

  var descriptor: Int32 { source.number }

  /// A signal that arrived.
  enum Taken: Hashable {
    case signal(Int32)
    /// The end of the run, as requested by the `oprun watch` that has started it.
    case endOfWatched
  }

  /// The signals that arrived since the last call, except SIGCHLD: the caller checks its children
  /// whenever this descriptor is ready.
  mutating func take() -> [Taken] {
    let size = MemoryLayout<signalfd_siginfo>.stride
    let count = read(source.number, &batch, size * batch.count)
    guard count > 0 else { return [] }
    var signals: [Taken] = []
    for info in batch.prefix(count / size) where info.ssi_signo != UInt32(SIGCHLD) {
      let isOfWatch =
        info.ssi_code == SI_QUEUE && info.ssi_int == watchedRunEnd
        && info.ssi_pid == UInt32(getppid())
      signals.append(isOfWatch ? .endOfWatched : .signal(Int32(info.ssi_signo)))
    }
    return signals
  }

  private static func bit(_ signal: Int32) -> UInt64 { 1 << UInt64(signal - 1) }
}

/// The value with which `oprun watch` queues SIGTERM to its run when a change affects it.
private let watchedRunEnd: Int32 = 0x6f70_7275

/// Ends a run that this process has started, because it is to begin again.
package func endWatchedRun(_ process: Int32) {
  sigqueue(process, SIGTERM, sigval(sival_int: watchedRunEnd))
}
