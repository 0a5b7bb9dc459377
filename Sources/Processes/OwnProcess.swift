// Processes of oprun itself, which work beside the loop: forks, which end with the process that
// made them.

import CLinux
package import Diagnostics
import Glibc

package enum OwnProcess {
  /// Starts a process and returns its id; the caller collects its end. `work` runs in it: its
  /// standard streams lead nowhere, and of all other descriptors only `kept` are open, because
  /// steps wait for the ends of pipes. The purpose is for messages; the name, for ps, has at most
  /// 15 bytes.
  package static func start(
    _ purpose: String, named name: String, keeping kept: [Int32], _ work: () -> Void
  ) throws(SystemError) -> Int32 {
    let parent = getpid()
    let process = clinux_fork()
    if process == 0 {
      clinux_end_with_parent()
      // The parent may already have ended.
      if getppid() != parent { _exit(1) }
      clinux_set_name(name)
      let null = open("/dev/null", O_RDWR)
      for stream: Int32 in 0...2 { dup2(null, stream) }
      let sorted = kept.sorted()
      clinux_close_all_but(sorted, sorted.count)
      work()
      _exit(0)
    }
    guard process > 0 else { throw SystemError("cannot \(purpose)", errno: errno) }
    return process
  }

  /// A pipe from `inlet` to `outlet`, both close-on-exec.
  package static func pipe(
    _ purpose: String
  ) throws(SystemError) -> (outlet: Int32, inlet: Int32) {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { throw SystemError("cannot \(purpose)", errno: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }
}
