// The guardian: a tiny process that outlives oprun by a moment. If oprun dies without a word
// (SIGKILL, a crash, the out-of-memory killer) it ends what the steps left running.

import CLinux
import Diagnostics
import Glibc

/// The process that watches over ours, and the page through which it knows the running groups.
///
/// It reads from a pipe whose other end oprun holds, close-on-exec, and never writes to. The end
/// of file comes when oprun is gone, and with it every child that had not loaded its program yet:
/// from then on nothing can start that a sweep could miss.
struct Guardian: ~Copyable {
  let processID: Int32
  /// It was reaped; its number may be another's by now.
  var isReaped = false
  private let lifeline: Descriptor
  /// Process groups of running commands, 0 for none; shared with the guardian.
  private let groups: UnsafeMutablePointer<Int32>

  /// Commands beyond this number are known by their cookie alone.
  static let groupCapacity = 4096

  private init(
    processID: Int32, lifeline: consuming Descriptor, groups: UnsafeMutablePointer<Int32>
  ) {
    self.processID = processID
    self.lifeline = lifeline
    self.groups = groups
  }

  static func start(
    cookie: Cookie, controlGroup: String?, outputFolder: String?
  ) throws(SystemError) -> Guardian {
    let size = groupCapacity * MemoryLayout<Int32>.stride
    let page = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
    guard let page, page != MAP_FAILED else { throw .last("cannot start the guardian") }
    let groups = page.bindMemory(to: Int32.self, capacity: groupCapacity)

    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw .last("cannot start the guardian") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let process = clinux_fork()
    if process == 0 {
      becomeInconspicuous(keeping: ends[0])
      waitForEnd(of: ends[0])
      if let controlGroup { ControlGroup.endAll(at: controlGroup) }
      sweep(cookie: cookie, groups: groups)
      if let controlGroup { rmdir(controlGroup) }
      if let outputFolder { OutputFiles.removeAll(in: outputFolder) }
      _exit(0)
    }
    let error = errno
    close(ends[0])
    let lifeline = Descriptor(owning: ends[1])
    guard process > 0 else { throw SystemError("cannot start the guardian", errno: error) }
    return Guardian(processID: process, lifeline: lifeline, groups: groups)
  }

  /// Ends the guardian: nothing is left to watch over.
  deinit {
    if !isReaped {
      kill(processID, SIGKILL)
      var status: Int32 = 0
      while waitpid(processID, &status, 0) < 0, errno == EINTR {}
    }
    munmap(groups, Guardian.groupCapacity * MemoryLayout<Int32>.stride)
  }

  /// Says which group runs in a slot; 0 when it ended.
  func note(group: Int32, slot: Int) {
    if slot < Guardian.groupCapacity { groups[slot] = group }
  }
}

private func waitForEnd(of lifeline: Int32) {
  var byte: UInt8 = 0
  while read(lifeline, &byte, 1) < 0, errno == EINTR {}
}

/// Ends everything that carries the run's mark or belongs to the group or session of a command.
private func sweep(cookie: Cookie, groups: UnsafeMutablePointer<Int32>) {
  // A group's number stays taken while it has members, also after its leader was reaped.
  let running = Set(
    UnsafeBufferPointer(start: groups, count: Guardian.groupCapacity).filter { $0 > 0 })
  var quietRounds = 0
  // A process that forks while the list is read can be missed once, not twice.
  while quietRounds < 2 {
    let found = ProcessStatus.all().filter { isLeftover($0, cookie: cookie, groups: running) }
    found.forEach { kill($0, SIGKILL) }
    quietRounds = found.isEmpty ? quietRounds + 1 : 0
    if !found.isEmpty { usleep(1000) }
  }
}

private func isLeftover(_ processID: Int32, cookie: Cookie, groups: Set<Int32>) -> Bool {
  guard processID != getpid(), let status = ProcessStatus(of: processID), !status.isZombie
  else { return false }
  return groups.contains(status.groupID) || groups.contains(status.sessionID)
    || cookie.command(of: processID) != nil
}

/// A session of its own, so that what is sent to oprun's group or terminal does not reach it; no
/// open files, so that nobody waits for it; another name, so that `pkill oprun` does not find it.
private func becomeInconspicuous(keeping lifeline: Int32) {
  setsid()
  var all = sigset_t()
  sigfillset(&all)
  sigprocmask(SIG_SETMASK, &all, nil)
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
