// Rules that allow everything outside the workspace. Landlock can only allow, and a rule for a
// directory holds for all that is in it. So the directories that lead to the workspace have no rule, and
// everything in them that leads elsewhere has one. docs/confined-steps.md, “What lies beside”.

import Diagnostics
import Glibc

struct OutsideRules {
  /// The directories from `/` to the one that contains the workspace, and in each the name that leads on.
  private let folders: [(path: String, next: String)]
  private var known: (rules: RuleList, stamps: [Stamp])?

  /// When a directory was changed; an entry that comes or goes changes both.
  private struct Stamp: Hashable {
    let modified: Int64
    let changed: Int64
  }

  /// The clock of a file system may move in steps this long, in nanoseconds.
  private static let granularity: Int64 = 2_000_000_000

  init(workspace: String) {
    var path = "/"
    var folders: [(path: String, next: String)] = []
    for name in workspace.split(separator: "/") {
      folders.append((path, String(name)))
      path += path == "/" ? String(name) : "/\(name)"
    }
    self.folders = folders
  }

  /// The rules for what exists now.
  mutating func current() throws(SystemError) -> RuleList {
    var stamps: [Stamp] = []
    for folder in folders { stamps.append(try OutsideRules.stamp(of: folder.path)) }
    if let known, known.stamps == stamps { return known.rules }
    var rules: [(path: [CChar], access: RuleList.Access)] = []
    let now = wallNow()
    for folder in folders {
      let prefix = (folder.path == "/" ? "/" : "\(folder.path)/").utf8CString.dropLast()
      let next = Array(folder.next.utf8CString)
      for (name, isFolder) in try OutsideRules.entries(of: folder.path) where name != next {
        rules.append((prefix + name, isFolder ? .everything : .wholeFile))
      }
    }
    let list = RuleList(rules)
    // An entry that comes a moment later may leave the stamps as they are.
    let isSettled = stamps.allSatisfy {
      max($0.modified, $0.changed) < now - OutsideRules.granularity
    }
    known = isSettled ? (list, stamps) : nil
    return list
  }

  private static func stamp(of path: String) throws(SystemError) -> Stamp {
    var status = stat()
    guard stat(path, &status) == 0 else { throw .last("cannot look at \(quoted(path))") }
    return Stamp(modified: time(status.st_mtim), changed: time(status.st_ctim))
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
