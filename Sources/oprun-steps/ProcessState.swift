// The state that the program inherits from whoever starts it, made fit for its work: standard
// streams, signals, and the number of descriptors.

import Glibc

enum ProcessState {
  /// Called before anything else.
  static func prepare() {
    // The next file would get the number of a closed stream: messages would be written into it, and
    // a process that keeps its standard streams would keep it open.
    for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(stream, F_GETFD) < 0 {
      _ = open("/dev/null", O_RDWR)
    }
    // A reader that has gone away must not end the work.
    signal(SIGPIPE, SIG_IGN)
    // If SIGCHLD is ignored, the status of a process is lost: waitpid(2).
    signal(SIGCHLD, SIG_DFL)
  }
}

/// The descriptors that work may use, so that it is never more at once than they suffice for.
struct DescriptorBudget: Sendable {
  /// Descriptors set aside for uses that do not depend on the amount of work: standard streams, the
  /// lock of the cache, libraries and processes.
  private static let reserve = 32

  private let count: Int

  /// Raises the limit of the process to what it may have.
  init() {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else {
      count = 0
      return
    }
    var raised = limit
    raised.rlim_cur = limit.rlim_max
    if setrlimit(resource, &raised) == 0 { limit = raised }
    count = Int(clamping: limit.rlim_cur) - Self.reserve
  }

  /// The number that there may be of something: as many as wanted, or fewer if each needs so many
  /// descriptors that a part of all would not suffice; at least one.
  func most(_ wanted: Int, each: Int, ofParts parts: Int = 1) -> Int {
    max(1, min(wanted, count / parts / each))
  }
}
