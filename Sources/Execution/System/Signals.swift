// Signals as something to read: the run's own, and that a child changed state.

import CLinux
import Diagnostics
import Glibc

/// Blocks the signals a run acts on, until the process ends, and reads them from a descriptor. No
/// handler is ever set, so commands inherit the dispositions that oprun was started with.
struct Signals: ~Copyable {
  /// INT, TERM, HUP and QUIT end a run, unless they were ignored when oprun was started (nohup, or
  /// a shell's background job).
  static let stopping = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

  /// Signals that oprun was started with ignored and that commands get back: all but HUP, which
  /// stays ignored under nohup. Bit n−1 stands for signal n.
  let ignoredAtStart: UInt64
  /// Those of `stopping` that were not ignored at the start.
  let handled: UInt64
  private let source: Descriptor
  private var batch = [signalfd_siginfo](repeating: signalfd_siginfo(), count: 16)

  init() throws(SystemError) {
    let ignored = (1...64).filter { Signals.isIgnored(Int32($0)) }
    ignoredAtStart = ignored.reduce(0) { $1 == SIGHUP ? $0 : $0 | 1 << UInt64($1 - 1) }

    // With SIGCHLD ignored the kernel would reap our children itself and tell nobody.
    signal(SIGCHLD, SIG_DFL)
    var set = sigset_t()
    sigemptyset(&set)
    let stopping = Signals.stopping.filter { !ignored.contains(Int($0)) }
    for signal in stopping { sigaddset(&set, signal) }
    handled = stopping.reduce(0) { $0 | 1 << UInt64($1 - 1) }
    sigaddset(&set, SIGCHLD)
    var blocked = set
    // A write to a closed pipe, or beyond the limit on file size, is an error to look at: not a
    // reason to die, nor to make commands ignore the signal.
    sigaddset(&blocked, SIGPIPE)
    sigaddset(&blocked, SIGXFSZ)
    sigprocmask(SIG_BLOCK, &blocked, nil)

    let number = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
    guard number >= 0 else { throw .last("cannot read signals") }
    source = Descriptor(owning: number)
  }

  var descriptor: Int32 { source.number }

  /// Signals that arrived since the last call, SIGCHLD left out: the caller looks at its children
  /// whenever this descriptor is ready.
  mutating func takeStopping() -> [Int32] {
    let size = MemoryLayout<signalfd_siginfo>.stride
    let count = read(source.number, &batch, size * batch.count)
    guard count > 0 else { return [] }
    var signals: [Int32] = []
    for info in batch.prefix(count / size) where info.ssi_signo != UInt32(SIGCHLD) {
      signals.append(Int32(info.ssi_signo))
    }
    return signals
  }

  private static func isIgnored(_ signal: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(signal, nil, &action) == 0 else { return false }
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1  // SIG_IGN
  }
}
