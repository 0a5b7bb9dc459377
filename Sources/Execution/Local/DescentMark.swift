// The mark that every descendant of a run carries, whatever else it gives up: its environment, its
// group and session, its parent.

import Glibc

/// The soft limit on resident memory (RLIMIT_RSS). Linux has ignored it since 2.4.30, fork, exec
/// and setuid preserve it, and `/proc/<id>/stat` shows it for every process. So an enormous number
/// there, which limits nothing in a program that does read it, shows whose descendant a process is:
/// a random number for the run, and in its last bits the number of the command. oprun itself has 0 there, and each command sets its
/// own before it loads its program.
struct DescentMark: Hashable {
  /// The soft limit of oprun itself.
  let value: UInt64
  /// The hard limit of all processes, which stays as it is.
  let hardLimit: UInt64

  private static let possible: Range<UInt64> = 1 << 62..<1 << 63
  /// A number of commands that no run reaches.
  private static let commandNumbers: UInt64 = 1 << 28

  /// Marks this process and everything that it starts from now on. Nil if the limit at the start is
  /// lower than any mark, or if there is already a mark: a run inside a step of another run leaves
  /// it, so that the other one finds its processes, unless it needs its own.
  init?(isNeeded: Bool) {
    var limit = rlimit()
    let resource = __rlimit_resource_t(__RLIMIT_RSS.rawValue)
    guard getrlimit(resource, &limit) == 0 else { return nil }
    guard isNeeded || !DescentMark.possible.contains(UInt64(limit.rlim_cur)) else { return nil }
    self.init(value: UInt64.random(in: DescentMark.possible), hardLimit: UInt64(limit.rlim_max))
    limit.rlim_cur = rlim_t(value)
    guard limit.rlim_max >= rlim_t(self.value(of: -1)), setrlimit(resource, &limit) == 0 else {
      return nil
    }
  }

  /// Removes the mark of another run from this process, on whose behalf it was started elsewhere:
  /// Slurm passes the limits of `sbatch` on to the job.
  static func giveUp() {
    var limit = rlimit()
    let resource = __rlimit_resource_t(__RLIMIT_RSS.rawValue)
    guard getrlimit(resource, &limit) == 0,
      DescentMark.possible.contains(UInt64(limit.rlim_cur))
    else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(resource, &limit)
  }

  /// Makes a mark that has already been set.
  init(value: UInt64, hardLimit: UInt64 = .max) {
    self.value = value - value % DescentMark.commandNumbers
    self.hardLimit = hardLimit
  }

  /// The soft limit of a command.
  func value(of command: Int) -> UInt64 {
    value + UInt64(truncatingIfNeeded: command) % DescentMark.commandNumbers
  }

  func isCarried(by process: ProcessStatus) -> Bool {
    process.memoryLimit ^ value < DescentMark.commandNumbers
  }

  /// The number of the command that a process descends from; nil if it does not show one.
  func command(of process: ProcessStatus) -> Int? {
    guard isCarried(by: process), process.memoryLimit != value else { return nil }
    return Int(process.memoryLimit - value)
  }
}
