// Rules that allow everything outside the workspace. Landlock can only allow, and a rule for a
// directory holds for all that is in it. So the directories that lead to the workspace have no rule, and
// everything in them that leads elsewhere has one. docs/confined-steps.md, “Siblings of the workspace”.

import CLinux
import Diagnostics
import Glibc

struct OutsideRules {
  /// The directories from `/` to the one that contains the workspace, and in each the name that leads on.
  private let folders: [(path: String, next: String)]
  private var known: (rules: RuleList, stamps: [Stamp])?
  private let mounts = MountChanges()

  /// When a directory was changed; an entry that comes or goes changes both.
  private struct Stamp: Hashable {
    let modified: Int64
    let changed: Int64
    let device: dev_t
  }

  /// The clock of a file system may move in steps this long, in nanoseconds.
  private static let granularity: Int64 = 2_000_000_000

  private let openLimit: Int

  init(workspace: String, openLimit: Int = OutsideRules.usualOpenLimit) {
    self.openLimit = openLimit
    var path = "/"
    var folders: [(path: String, next: String)] = []
    for name in workspace.split(separator: "/") {
      folders.append((path, String(name)))
      path += path == "/" ? String(name) : "/\(name)"
    }
    self.folders = folders
  }

  /// The rules for what exists now, in nanoseconds since 1970.
  mutating func current(at now: Int64 = wallNow()) throws(SystemError) -> RuleList {
    var stamps: [Stamp] = []
    for folder in folders { stamps.append(try OutsideRules.stamp(of: folder.path)) }
    // What was opened before is not what is mounted over it.
    let isMountedOver = mounts.happened()
    if let known, known.stamps == stamps, !isMountedOver { return known.rules }
    var rules: [(path: [CChar], access: RuleList.Access)] = []
    for folder in folders {
      let prefix = (folder.path == "/" ? "/" : "\(folder.path)/").utf8CString.dropLast()
      let next = Array(folder.next.utf8CString)
      for (name, isFolder) in try OutsideRules.entries(of: folder.path) where name != next {
        rules.append((prefix + name, isFolder ? .everything : .wholeFile))
      }
    }
    // An entry that comes a moment later may leave the stamps as they are.
    let isSettled = stamps.allSatisfy {
      max($0.modified, $0.changed) < now - OutsideRules.granularity
    }
    let list = RuleList(
      rules, openLimit: isSettled && mounts.areKnown ? openLimit : 0,
      devices: Set(stamps.map(\.device)))
    known = isSettled ? (list, stamps) : nil
    return list
  }

  private static func stamp(of path: String) throws(SystemError) -> Stamp {
    var status = stat()
    guard stat(path, &status) == 0 else { throw .last("cannot look at \(quoted(path))") }
    return Stamp(
      modified: time(status.st_mtim), changed: time(status.st_ctim), device: status.st_dev)
  }

  /// How many entries may stay open: a small part of all descriptors, because commands need the others.
  static var usualOpenLimit: Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
    return Int(min(limit.rlim_cur, 4096) / 16)
  }

  private static func time(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Everything in a directory but links, which lead to places with rules of their own. The names need
  /// not be text; they end with NUL.
  private static func entries(
    of path: String
  ) throws(SystemError) -> [(name: [CChar], isFolder: Bool)] {
    guard let folder = opendir(path) else { throw .last("cannot list \(quoted(path))") }
    defer { closedir(folder) }
    var found: [(name: [CChar], isFolder: Bool)] = []
    while let entry = readdir(folder) {
      let kind = Int(entry.pointee.d_type)
      if kind == Int(DT_LNK) { continue }
      let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
        field.withMemoryRebound(to: CChar.self, capacity: 256) { text in
          Array(UnsafeBufferPointer(start: text, count: strlen(text) + 1))
        }
      }
      // An unknown kind gets the rights of a directory, which the new process reduces for a file.
      if name != [0x2e, 0], name != [0x2e, 0x2e, 0] { found.append((name, kind != Int(DT_REG))) }
    }
    return found
  }
}

/// Tells whether something was mounted or unmounted, which leaves the stamps of directories as they are.
private final class MountChanges {
  private let list = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)

  var areKnown: Bool { list >= 0 }

  /// Whether it has happened since the last call.
  func happened() -> Bool {
    var ready = pollfd(fd: list, events: Int16(POLLPRI), revents: 0)
    return list >= 0 && poll(&ready, 1, 0) > 0
  }

  deinit { if list >= 0 { close(list) } }
}
