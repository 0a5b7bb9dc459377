// Rules of a confinement as the new process reads them: an array of C structures.

import Diagnostics
import CLinux
import Glibc
import RunFiles

/// Rules that never change. They must live as long as a process that is being started uses them.
final class RuleList {
  let rules: UnsafeMutablePointer<clinux_rule>
  let count: Int
  private let opened: [OpenFolder?]

  /// The paths end with NUL: they need not be text. A directory that is open for all processes need
  /// not be opened by each.
  init(_ rules: [(path: [CChar], access: Access, file: OpenFolder?)]) {
    count = rules.count
    opened = rules.map(\.file)
    self.rules = .allocate(capacity: count)
    for (index, rule) in rules.enumerated() {
      (self.rules + index).initialize(
        to: clinux_rule(
          path: strdup(rule.path), access: rule.access.bits, file: rule.file?.descriptor ?? -1))
    }
  }

  convenience init(
    _ rules: [(path: String, access: Access)], odd: [(path: FileName, access: Access)]
  ) {
    self.init(
      rules.map { (path: Array($0.path.utf8CString), access: $0.access, file: nil) }
        + odd.map { (path: $0.path.bytes, access: $0.access, file: nil) })
  }

  deinit {
    for index in 0..<count { free(UnsafeMutablePointer(mutating: rules[index].path)) }
    rules.deallocate()
  }

  /// A directory that a rule is for, opened only for that.
  final class OpenFolder {
    let descriptor: Int32
    let number: ino_t

    /// Nil if the directory cannot be opened, or is on another mount than the one with this number:
    /// an open mount cannot be unmounted.
    init?(_ path: [CChar], in mount: UInt64) {
      // Where something is mounted on demand, O_DIRECTORY would mount it, and wait for its server.
      descriptor = open(path, onlyAPlace | O_NOFOLLOW | O_CLOEXEC)
      var status = stat()
      let isKnown =
        descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      number = status.st_ino
      guard isKnown, mount != 0, clinux_mount_id(descriptor) == mount else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
  }

  /// The access that a rule allows beneath its path, from the narrowest to the widest.
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
