// The number of descriptors that a run may open, and so the number of commands that can run at the
// same time.

import Diagnostics
import Glibc

/// The limit on open files. It is raised for oprun when a wide run needs it; commands get the old
/// one.
///
/// Everything that a run opens is counted here, so that nothing fails in the middle of one. With a
/// low limit it does without descriptors that only make it faster, and a wide run gets more than is counted.
struct DescriptorLimits {
  let softAtStart: UInt64
  let hard: UInt64
  private(set) var soft: UInt64
  /// Descriptors that are open now, until the end of the run.
  private let open: Int
  private let uses: DescriptorUses
  /// Files for output that readers of standard output and standard error have not accepted.
  private let backlogs: Int
  /// True if the run does without descriptors that are kept for speed, and without a control group.
  private(set) var isFrugal = false
  private(set) var hasControlGroup = true

  /// The descriptors of a command: a pipe's two ends and a log.
  static let perCommand = 3
  /// The descriptors that are always needed: the input of commands, the pipe of the guardians, the
  /// log that is shown while it grows; and two that are closed in the same turn: a script, the input of
  /// a command, a file of outputs or of /proc.
  private static let always = 5
  /// The files of the state database, which is opened later if no earlier run was looked at.
  private static let ofDatabase = 3
  /// The descriptors that are kept for speed: the list of our children.
  private static let forSpeed = 1
  private static let forControlGroup = 3
  /// The number of descriptors that a run gets in addition if its limit is raised.
  private static let reserve = 512

  private let isDatabaseOpen: Bool

  /// Must be made when the descriptors that a run waits with are open.
  init(
    isDatabaseOpen: Bool, _ uses: DescriptorUses = DescriptorUses()
  ) throws(SystemError) {
    self.isDatabaseOpen = isDatabaseOpen
    self.uses = uses
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    softAtStart = UInt64(limit.rlim_cur)
    hard = UInt64(limit.rlim_max)
    soft = softAtStart
    open = try DescriptorLimits.openCount()
    backlogs = DescriptorLimits.slowReaderCount()
  }

  var isRaised: Bool { soft != softAtStart }

  private var reserved: Int {
    open + DescriptorLimits.always + uses.count + backlogs
      + (isFrugal ? 0 : DescriptorLimits.forSpeed)
      + (hasControlGroup ? DescriptorLimits.forControlGroup : 0)
      + (isDatabaseOpen ? 0 : DescriptorLimits.ofDatabase)
  }

  /// The number of commands that can run at the same time with the current limit.
  var commandCount: Int { max(0, Int(clamping: soft) - reserved) / DescriptorLimits.perCommand }

  /// The number of descriptors that are not needed while as many of these commands run as can.
  func spareCount(besides commands: Int) -> Int {
    spare(besides: commands) - outsideCount(besides: commands)
  }

  /// The number of directories beside the workspace that stay open: a part of the spare descriptors.
  func outsideCount(besides commands: Int) -> Int {
    uses.confines && !isFrugal ? min(spare(besides: commands) / 4, 256) : 0
  }

  private func spare(besides commands: Int) -> Int {
    let needed = min(commands, commandCount) * DescriptorLimits.perCommand
    return max(0, Int(clamping: soft) - reserved - needed)
  }

  /// Raises the soft limit, as far as the hard one allows, for as many simultaneous commands as could run;
  /// throws if there is not even room for those that must.
  mutating func makeRoom(forCommands counts: ClosedRange<Int>) throws(SystemError) {
    raise(forCommands: counts.upperBound)
    let few = max(counts.lowerBound, min(counts.upperBound, 2))
    if commandCount < few { hasControlGroup = false }
    if commandCount < few { isFrugal = true }
    guard commandCount < counts.lowerBound else { return }
    let needed = reserved + counts.lowerBound * DescriptorLimits.perCommand
    throw SystemError(
      "a run needs at least \(needed) open files, and the limit is \(soft) (ulimit -n)",
      errno: EMFILE)
  }

  private mutating func raise(forCommands count: Int) {
    let (product, overflow) = count.multipliedReportingOverflow(by: DescriptorLimits.perCommand)
    let wanted = overflow ? UInt64.max : UInt64(product + reserved + DescriptorLimits.reserve)
    guard wanted > soft, hard > soft else { return }
    var limit = rlimit(rlim_cur: rlim_t(min(wanted, hard)), rlim_max: rlim_t(hard))
    if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      soft = UInt64(limit.rlim_cur)
    }
  }

  private static func openCount() throws(SystemError) -> Int {
    // Since Linux 6.2 the size of the directory is the number of descriptors.
    var status = stat()
    if stat("/proc/self/fd", &status) == 0, status.st_size > 0 { return Int(status.st_size) }
    guard let folder = opendir("/proc/self/fd") else {
      // Without /proc a run could not find the processes that its commands leave behind.
      if errno == ENOENT { throw .last("a run needs '/proc'") }
      return errno == EMFILE ? 16 : 3
    }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    // `.`, `..` and the directory itself.
    return max(0, count - 3)
  }

  /// The number of slow readers of standard output and standard error, counting the same file once.
  private static func slowReaderCount() -> Int {
    let places = [STDOUT_FILENO, STDERR_FILENO].compactMap { stream -> [UInt64]? in
      var status = stat()
      guard fstat(stream, &status) == 0 else { return nil }
      let isPipe = [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
      guard isPipe || isatty(stream) == 1 else { return nil }
      return [UInt64(status.st_dev), UInt64(status.st_ino)]
    }
    return Set(places).count
  }
}
