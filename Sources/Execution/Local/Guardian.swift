// The guardians: tiny processes that outlive oprun by a moment. If oprun dies without a word (SIGKILL,
// a crash, the out-of-memory killer) they end what the steps left running.

import CLinux
import Diagnostics
import Glibc

/// Two processes that watch over ours and over each other, as oprun sees them. The first is our
/// child; it starts the second, and whichever is left replaces the other.
///
/// They read from a pipe whose other end oprun holds, close-on-exec, and never writes to. The end
/// of file comes when oprun is gone, and with it every child that had not loaded its program yet:
/// from then on nothing can start that a sweep could miss.
struct Guardian: ~Copyable {
  /// The one that is our child.
  var processID: Int32
  /// It was reaped; its number may be another's by now.
  var isReaped = false
  private let lifeline: Descriptor
  private let page: GuardianPage

  private init(processID: Int32, lifeline: consuming Descriptor, page: GuardianPage) {
    self.processID = processID
    self.lifeline = lifeline
    self.page = page
  }

  static func start(_ sweep: Sweep) throws(SystemError) -> Guardian {
    let page = try GuardianPage()
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw .last("cannot start the guardian") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let parent = getpid()
    let process = clinux_fork()
    if process == 0 {
      becomeInconspicuous(keeping: ends[0])
      GuardianWatch(lifeline: ends[0], parent: parent, page: page, sweep: sweep).begin()
    }
    let error = errno
    close(ends[0])
    let lifeline = Descriptor(owning: ends[1])
    guard process > 0 else {
      page.unmap()
      throw SystemError("cannot start the guardian", errno: error)
    }
    return Guardian(processID: process, lifeline: lifeline, page: page)
  }

  /// Ends the guardians: nothing is left to watch over.
  deinit {
    page.isOver = true
    if !isReaped { Guardian.end(processID) }
    // It became our child when the first one was gone.
    if let second = successor { Guardian.end(second) }
    page.unmap()
  }

  private static func end(_ processID: Int32) {
    kill(processID, SIGKILL)
    var status: Int32 = 0
    while waitpid(processID, &status, 0) < 0, errno == EINTR {}
  }

  /// The guardian that became our child when the one we knew had ended; nil if there is none.
  var successor: Int32? {
    page.guardians.first { $0 != processID && ProcessStatus(of: $0)?.parentID == getpid() }
  }

  /// Whether a child of ours is one of them.
  func isGuardian(_ processID: Int32) -> Bool { page.guardians.contains(processID) }

  func note(group: Int32, slot: Int) { page.note(group: group, slot: slot) }
}

/// A session of its own, so that what is sent to oprun's group or terminal does not reach it; no
/// open files, so that nobody waits for it; another name, so that `pkill oprun` does not find it.
private func becomeInconspicuous(keeping lifeline: Int32) {
  setsid()
  clinux_block_signals(.max)
  let null = open("/dev/null", O_RDWR)
  for stream: Int32 in 0...2 { dup2(null, stream) }
  clinux_close_all_but(lifeline)
  chdir("/")
  let name = "guardian"
  clinux_set_name(name)
  overwriteArguments(with: name)
}

/// `/proc/self/cmdline` shows the memory that the arguments were given in.
private func overwriteArguments(with name: String) {
  let arguments = CommandLine.unsafeArgv
  guard CommandLine.argc > 0, let first = arguments[0] else { return }
  for index in 1..<max(1, Int(CommandLine.argc)) {
    if let argument = arguments[index] { memset(argument, 0, strlen(argument)) }
  }
  let length = strlen(first)
  memset(first, 0, length)
  _ = name.withCString { strncpy(first, $0, length) }
}
