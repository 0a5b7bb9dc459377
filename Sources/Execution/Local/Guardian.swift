// The guardians: tiny processes that outlive oprun by a moment. If oprun is killed or crashes
// (SIGKILL, the out-of-memory killer), they end what the steps left running.

import CLinux
import Diagnostics
import Glibc

/// Two processes that watch oprun and each other, as oprun sees them. The first is our child; it
/// starts the second, and whichever is left replaces the other.
///
/// The guardians read from a pipe whose other end oprun holds, close-on-exec, and never writes to. The end
/// of file comes when oprun is gone, and with it every child that had not loaded its program yet:
/// from then on nothing can start that a sweep could miss.
struct Guardian: ~Copyable {
  /// The guardian that is our child.
  var processID: Int32
  /// True if it was reaped; its number may since have been reused.
  var isReaped = false
  private let lifeline: Descriptor
  private let page: GuardianPage
  private let start: GuardianStart

  /// The delay in milliseconds before the guardian loads its program and starts its partner: the
  /// shortest runs would feel the cost.
  private static let delay: Int32 = 20

  /// Starts a guardian. If its program cannot be loaded, it ends the groups and the control group
  /// of commands when oprun ends, but does not search for other processes.
  static func start(
    _ sweep: Sweep, _ presence: GuardianPresence, needsProgram: Bool = true
  ) throws(SystemError) -> Guardian {
    let number = clinux_memory_file(guardianName)
    guard number >= 0 else { throw SystemError("cannot start the guardian", errno: -number) }
    let file = Descriptor(owning: number)
    let page = try GuardianPage(of: getpid(), sweep.texts, in: file.number)
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else {
      page.unmap()
      throw .last("cannot start the guardian")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let start = GuardianStart(
      presence, lifeline: ends[0], ourEnd: ends[1], page: file.number,
      delay: needsProgram ? delay : -1)
    start.willEnd(page.slots, controlGroup: sweep.controlGroup)
    let process = start.perform()
    close(ends[0])
    let lifeline = Descriptor(owning: ends[1])
    guard process > 0 else {
      page.unmap()
      throw SystemError("cannot start the guardian", errno: -process)
    }
    page.take(seat: 0, by: process)
    return Guardian(processID: process, lifeline: lifeline, page: page, start: start)
  }

  private init(
    processID: Int32, lifeline: consuming Descriptor, page: GuardianPage, start: GuardianStart
  ) {
    self.processID = processID
    self.lifeline = lifeline
    self.page = page
    self.start = start
  }

  /// Tells the guardians to end, because nothing is left to watch. They are gone when this value is
  /// destroyed.
  func dismiss() {
    page.isOver = true
    if !isReaped { kill(processID, SIGKILL) }
  }

  deinit {
    dismiss()
    if !isReaped { Guardian.end(processID) }
    // The second guardian became our child when the first one ended.
    if let second = successor { Guardian.end(second) }
    page.unmap()
  }

  private static func end(_ processID: Int32) {
    kill(processID, SIGKILL)
    var status: Int32 = 0
    while waitpid(processID, &status, 0) < 0, errno == EINTR {}
  }

  /// The guardian that became our child when the known one had ended; nil if there is none.
  var successor: Int32? {
    page.guardians.first { $0 != processID && ProcessStatus(of: $0)?.parentID == getpid() }
  }

  /// True if the program of a guardian was loaded.
  var wasWatching: Bool { page.isWatched }

  /// True if a child of ours is a guardian.
  func isGuardian(_ processID: Int32) -> Bool { page.guardians.contains(processID) }

  func note(group: Int32, slot: Int) { page.note(group: group, slot: slot) }

  /// Records the settings that our terminal had before its keys went to a command; nil once they are restored.
  func note(terminal before: termios?) {
    guard let before, let path = ttyname(STDIN_FILENO) else {
      return page.terminal = nil
    }
    page.terminal = GuardedTerminal(path: String(cString: path), before: before)
  }
}

/// A flag that tells whether a guardian would see the end of oprun: new processes load their
/// programs only then. A signal for our whole process group reaches a guardian, too, until it has
/// left the group.
final class GuardianPresence {
  /// The flag that guardians and new processes use.
  let flag = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

  init() { flag.initialize(to: 0) }

  /// Must run when no process that shares our memory uses the flag.
  deinit { flag.deallocate() }

  /// Makes new processes wait for the guardian that is started next.
  func expect() { flag.pointee = 0 }

  /// Gives up the processor for a guardian that has not had it yet. The kernel puts the first of two new processes on the
  /// processor of the one that starts them, where the guardian would wait until oprun has nothing to do, and the
  /// command with it. If others have the processor first, the command waits alone.
  func letRun() {
    for _ in 0..<3 where flag.pointee == 0 { sched_yield() }
  }

  /// Lets new processes go on without a guardian, because there can be none.
  func giveUp() { clinux_set_guarded(flag) }
}

/// The memory that a guardian uses until it has a program.
private final class GuardianStart {
  private let presence: GuardianPresence
  private let memory: UnsafeMutablePointer<clinux_guardian>
  private let stack: UnsafeMutablePointer<CChar>
  private let program = strdup("/proc/self/exe")
  private let arguments: CStrings
  private let environment: CStrings
  private var killFile: UnsafeMutablePointer<CChar>?

  private static let stackSize = 16 * 1024

  init(
    _ presence: GuardianPresence, lifeline: Int32, ourEnd: Int32, page: Int32, delay: Int32
  ) {
    self.presence = presence
    arguments = CStrings([guardianName, "\(lifeline)", "\(page)"])
    // An enclosing run recognises our guardian by this variable, which contains no secret.
    environment = CStrings(
      environmentValue(Cookie.variable).map { ["\(Cookie.variable)=\($0)"] } ?? [])
    stack = .allocate(capacity: Self.stackSize)
    memory = .allocate(capacity: 1)
    memory.initialize(to: clinux_guardian())
    memory.pointee.program = UnsafePointer(program)
    memory.pointee.arguments = UnsafePointer(arguments.pointers)
    memory.pointee.environment = UnsafePointer(environment.pointers)
    memory.pointee.lifeline = lifeline
    memory.pointee.our_end = ourEnd
    memory.pointee.page = page
    memory.pointee.delay = delay
    memory.pointee.parent = getpid()
    memory.pointee.guarded = presence.flag
  }

  /// Sets what the guardian ends if its program cannot be loaded.
  func willEnd(_ groups: UnsafeBufferPointer<Int32>, controlGroup: String?) {
    memory.pointee.groups = groups.baseAddress
    memory.pointee.group_count = Int32(groups.count)
    killFile = controlGroup.map { strdup(ControlGroup.killFile(of: $0)) }
    memory.pointee.kill_file = UnsafePointer(killFile)
  }

  deinit {
    // A guardian that still uses the memory keeps it.
    guard memory.pointee.busy == 0 else {
      _ = Unmanaged.passRetained(presence)
      return
    }
    memory.deallocate()
    stack.deallocate()
    free(program)
    free(killFile)
    arguments.free()
    environment.free()
  }

  /// The id of the process, or -errno.
  func perform() -> Int32 { clinux_start_guardian(memory, stack, Self.stackSize) }
}

/// An array of C strings as execve(2) takes it.
private struct CStrings {
  let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private let count: Int

  init(_ strings: [String]) {
    count = strings.count
    pointers = .allocate(capacity: count + 1)
    for (index, string) in strings.enumerated() {
      (pointers + index).initialize(to: strdup(string))
    }
    (pointers + count).initialize(to: nil)
  }

  func free() {
    for index in 0..<count { Glibc.free(pointers[index]) }
    pointers.deallocate()
  }
}

/// The name of a guardian in ps and pkill.
package let guardianName = "guardian"
