// Rules of a confinement as the new process reads them: an array of C structures.

import CLinux
import Glibc
import RunFiles

/// Rules that never change. They must live as long as a process that is being started uses them.
final class RuleList {
  let rules: UnsafeMutablePointer<clinux_rule>
  let count: Int

  /// The paths end with NUL: they need not be text. Up to `openLimit` of them are opened once, for all processes; not
  /// those on other devices than `devices`, because what is open cannot be unmounted.
  init(
    _ rules: [(path: [CChar], access: Access)], openLimit: Int = 0, devices: Set<dev_t> = []
  ) {
    count = rules.count
    self.rules = .allocate(capacity: count)
    var openCount = 0
    for (index, rule) in rules.enumerated() {
      let file = openCount < openLimit ? Self.open(rule.path, devices) : -1
      if file >= 0 { openCount += 1 }
      (self.rules + index).initialize(
        to: clinux_rule(path: strdup(rule.path), access: rule.access.bits, file: file))
    }
  }

  private static func open(_ path: [CChar], _ devices: Set<dev_t>) -> Int32 {
    let file = Glibc.open(path, byPath | O_NOFOLLOW | O_CLOEXEC)
    var status = stat()
    guard file >= 0, fstat(file, &status) == 0, devices.contains(status.st_dev) else {
      if file >= 0 { close(file) }
      return -1
    }
    return file
  }

  convenience init(
    _ rules: [(path: String, access: Access)], odd: [(path: FileName, access: Access)]
  ) {
    self.init(
      rules.map { (path: Array($0.path.utf8CString), access: $0.access) }
        + odd.map { (path: $0.path.bytes, access: $0.access) })
  }

  deinit {
    for index in 0..<count {
      free(UnsafeMutablePointer(mutating: rules[index].path))
      if rules[index].file >= 0 { close(rules[index].file) }
    }
    rules.deallocate()
  }

  /// What a rule allows beneath its path, from the narrowest to the widest.
  enum Access: Comparable {
    /// Reading and executing files.
    case reading
    /// Everything that can be done to the content of one file.
    case wholeFile
    /// Everything, for a directory with all that is and will be in it.
    case everything

    fileprivate var bits: UInt64 {
      switch self {
      case .reading: UInt64(clinux_access_read.rawValue)
      case .wholeFile: UInt64(clinux_access_write_file.rawValue)
      case .everything: UInt64(clinux_access_all.rawValue)
      }
    }
  }
}

/// `O_PATH`, which <fcntl.h> defines only with _GNU_SOURCE.
private let byPath: Int32 = 0o10_000_000
