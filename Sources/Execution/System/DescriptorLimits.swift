// How many descriptors a run may open, and so how many commands can run at once.

import Glibc

/// The limit on open files. Raised for oprun when a wide run needs it; commands get the old one.
struct DescriptorLimits {
  let softAtStart: UInt64
  let hard: UInt64
  private(set) var soft: UInt64
  /// Descriptors that oprun was started with.
  private let inherited: Int

  /// A pipe's two ends and a log.
  static let perCommand = 3
  /// epoll, signals, children, the guardian, the control group, a listing of /proc, the console and
  /// its backlogs.
  static let reserved = 21

  init() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    softAtStart = UInt64(limit.rlim_cur)
    hard = UInt64(limit.rlim_max)
    soft = softAtStart
    inherited = DescriptorLimits.openCount()
  }

  var isRaised: Bool { soft != softAtStart }

  /// Commands that can run at once with the limit as it is; at least one is tried.
  var commandCount: Int {
    let free = Int(clamping: soft) - inherited - DescriptorLimits.reserved
    return max(1, free / DescriptorLimits.perCommand)
  }

  /// Raises the soft limit, as far as the hard one allows, for this many commands at once.
  mutating func raise(forCommands count: Int) {
    let (product, overflow) = count.multipliedReportingOverflow(by: DescriptorLimits.perCommand)
    let wanted = overflow ? UInt64.max : UInt64(product + inherited + DescriptorLimits.reserved)
    guard wanted > soft, hard > soft else { return }
    var limit = rlimit(rlim_cur: rlim_t(min(wanted, hard)), rlim_max: rlim_t(hard))
    if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      soft = UInt64(limit.rlim_cur)
    }
  }

  private static func openCount() -> Int {
    guard let folder = opendir("/proc/self/fd") else { return 3 }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    // `.`, `..` and the folder itself.
    return max(0, count - 3)
  }
}
