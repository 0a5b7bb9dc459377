// A command whose success is waited for. It has a process group of its own, which is ended with it, and
// with this program.

import Diagnostics
import Glibc
import OperationKit

enum ProbeCommand {
  /// Nil if the command succeeds, otherwise the reason. If it takes too long, it is killed with
  /// everything in its process group.
  static func obstacle(_ text: String, _ deadline: Int64) -> String? {
    var child = pid_t()
    if let obstacle = start(text, &child) { return obstacle }
    CommandGroups.add(child)
    defer { CommandGroups.remove(child) }
    let limit = min(monotonicTime() + longestLook, deadline)
    var status: Int32 = 0
    while waitpid(child, &status, WNOHANG) == 0 {
      if monotonicTime() >= limit {
        kill(-child, SIGKILL)
        waitpid(child, &status, 0)
        return "takes too long"
      }
      usleep(5_000)
    }
    let signal = status & 0x7f
    if signal != 0 { return "was killed by \(signalName(signal))" }
    let code = status >> 8 & 0xff
    return code == 0 ? nil : "exits with \(code)"
  }

  /// Starts a command; returns nil if it has started. Its output is discarded, and no signal is
  /// ignored.
  private static func start(_ text: String, _ child: inout pid_t) -> String? {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP) | Int16(POSIX_SPAWN_SETSIGDEF))
    let words: [UnsafeMutablePointer<CChar>?] = [
      strdup("/bin/sh"), strdup("-c"), strdup(text), nil,
    ]
    defer { for word in words { free(word) } }
    let error = posix_spawn(&child, "/bin/sh", &actions, &attributes, words, environ)
    return error == 0 ? nil : SystemError.reason(error)
  }
}

/// The process groups of the commands that run now. A signal that ends this program is not sent to
/// them, so its handler kills them.
private enum CommandGroups {
  /// The largest number of groups that are killed.
  private static let most = 64
  /// A handler can only use memory that exists, and reads one number at a time; all changes are under the lock. 0 is no
  /// group.
  nonisolated(unsafe) private static let groups: UnsafeMutablePointer<pid_t> = {
    let groups = UnsafeMutablePointer<pid_t>.allocate(capacity: most)
    groups.initialize(repeating: 0, count: most)
    return groups
  }()
  /// Set up after the groups, which the handler reads.
  private static let handlers: Void = {
    _ = groups
    for number in signalsToEnd { handle(number) }
  }()
  private static let lock = Guarded(())

  static func add(_ group: pid_t) {
    _ = handlers
    replace(0, by: group)
  }

  static func remove(_ group: pid_t) { replace(group, by: 0) }

  private static func replace(_ old: pid_t, by new: pid_t) {
    lock.withLock { _ in
      if let place = (0..<most).first(where: { groups[$0] == old }) { groups[place] = new }
    }
  }

  private static func handle(_ number: Int32) {
    var old = sigaction()
    sigaction(number, nil, &old)
    // An ignored signal stays ignored: nohup(1).
    guard unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) != 1 else { return }
    signal(number, endCommands)
  }

  /// Only calls what a handler may call: signal-safety(7).
  fileprivate static func killAll() {
    var place = 0
    while place < most {
      if groups[place] > 0 { kill(-groups[place], SIGKILL) }
      place += 1
    }
  }
}

private func endCommands(_ number: Int32) {
  CommandGroups.killAll()
  signal(number, SIG_DFL)
  raise(number)
}
