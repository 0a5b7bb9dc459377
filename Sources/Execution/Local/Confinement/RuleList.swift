// Rules of a confinement as the new process reads them: an array of C structures.

import CLinux
import Glibc
import RunFiles

/// Rules that never change. They must live as long as a process that is being started uses them.
final class RuleList {
  let rules: UnsafeMutablePointer<clinux_rule>
  let count: Int

  /// The paths end with NUL: they need not be text.
  init(_ rules: [(path: [CChar], access: Access)]) {
    count = rules.count
    self.rules = .allocate(capacity: count)
    for (index, rule) in rules.enumerated() {
      (self.rules + index).initialize(
        to: clinux_rule(path: strdup(rule.path), access: rule.access.bits))
    }
  }

  convenience init(
    _ rules: [(path: String, access: Access)], odd: [(path: FileName, access: Access)]
  ) {
    self.init(
      rules.map { (path: Array($0.path.utf8CString), access: $0.access) }
        + odd.map { (path: $0.path.bytes, access: $0.access) })
  }

  deinit {
    for index in 0..<count { free(UnsafeMutablePointer(mutating: rules[index].path)) }
    rules.deallocate()
  }

  /// What a rule allows beneath its path.
  enum Access {
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
