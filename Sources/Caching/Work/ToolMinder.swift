// The process between oprun and a command of `tools`: the command is over when its shell is, and nothing of it
// outlives the shell, the time limit, or oprun. It does not know what the command is for.

import CLinux
import Diagnostics
import Glibc

/// Runs in a process of its own, which TERM ends with everything below it. The kernel sends TERM when the
/// process that started it has ended, killed or not.
enum ToolMinder {
  /// Runs a script, and exits with its status, or 128 and the number of the signal that ended it.
  static func run(
    _ command: String, _ environment: [String], output: Int32, parent: Int32
  ) -> Never {
    var all = sigset_t()
    sigfillset(&all)
    sigprocmask(SIG_SETMASK, &all, nil)
    clinux_end_with_parent_by(SIGTERM)
    if getppid() != parent { _exit(1) }
    clinux_set_name("oprun-tool")
    clinux_become_subreaper()
    let null = open("/dev/null", O_RDWR)
    dup2(null, 0)
    dup2(output, 1)
    dup2(output, 2)
    clinux_close_all_but([output], 1)
    let shell = clinux_fork()
    if shell == 0 { execute(command, environment) }
    let status = shell > 0 ? statusAtEnd(of: shell) : 1
    if shell > 0 { kill(-shell, SIGKILL) }
    endChildren()
    _exit(status)
  }

  /// Waits for the end of a process, or for TERM. What it has left behind, and has ended, is collected meanwhile.
  private static func statusAtEnd(of shell: Int32) -> Int32 {
    var awaited = sigset_t()
    sigemptyset(&awaited)
    for number in [SIGTERM, SIGCHLD] { sigaddset(&awaited, number) }
    while true {
      var received: Int32 = 0
      sigwait(&awaited, &received)
      if received == SIGTERM { return 128 + SIGTERM }
      var status: Int32 = 0
      var ended = waitpid(-1, &status, WNOHANG)
      while ended > 0 {
        if ended == shell {
          return clinux_exited(status) != 0
            ? clinux_exit_status(status) : 128 + clinux_signal(status)
        }
        ended = waitpid(-1, &status, WNOHANG)
      }
    }
  }

  /// Kills the children until none is left: those of a killed one become ours.
  private static func endChildren() {
    let list = "/proc/thread-self/children"
    var piece = [UInt8](repeating: 0, count: 1 << 12)
    while true {
      let file = open(list, O_RDONLY | O_CLOEXEC)
      let count = file < 0 ? 0 : max(0, read(file, &piece, piece.count - 1))
      if file >= 0 { close(file) }
      for word in piece[..<count].split(separator: UInt8(ascii: " ")) {
        if let child = Int32(String(decoding: word, as: UTF8.self)) { kill(child, SIGKILL) }
      }
      var status: Int32 = 0
      while waitpid(-1, &status, WNOHANG) > 0 {}
      if waitpid(-1, &status, WNOHANG) < 0 { return }
      usleep(200)
    }
  }

  /// Runs in the new process.
  private static func execute(_ command: String, _ environment: [String]) -> Never {
    clinux_end_with_parent()
    setpgid(0, 0)
    // The worker ignores PIPE; whoever started oprun, perhaps in the background, may have had the others ignored.
    for number in [SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGPIPE] { signal(number, SIG_DFL) }
    var none = sigset_t()
    sigemptyset(&none)
    sigprocmask(SIG_SETMASK, &none, nil)
    var words: [UnsafeMutablePointer<CChar>?] =
      ["sh", "-c", command].map { (word: String) in strdup(word) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] =
      environment.map { ByteText.withBytes($0) { strdup($0) } } + [nil]
    execve("/bin/sh", &words, &variables)
    _exit(127)
  }
}
