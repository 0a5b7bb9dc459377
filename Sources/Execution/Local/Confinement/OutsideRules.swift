// Rules that allow everything outside the workspace. Landlock can only allow, and a rule for a
// directory holds for all that is in it. So the directories that lead to the workspace have no rule, and
// everything in them that leads elsewhere has one. docs/confined-steps.md, “Siblings of the workspace”.

import CLinux
import Diagnostics
import Glibc

struct OutsideRules {
  /// The directories from `/` to the one that contains the workspace, and in each the name of the next one.
  private let folders: [(path: String, next: String)]
  /// The last listing of each of the directories.
  private var listings: [Listing?]
  private var rules: RuleList?
  private var openCount = 0
  private let mounts = MountChanges()

  /// The entries of one of the directories, without the next one.
  private struct Listing {
    let stamp: Stamp
    /// True if an entry that came a moment later would have changed the stamp.
    let isSettled: Bool
    let entries: [Entry]
  }

  private struct Entry {
    /// The name, which ends with NUL and need not be text.
    let name: [CChar]
    let number: ino_t
    let kind: Int
    var file: RuleList.OpenFolder?
  }

  /// The times of a directory: an entry that comes or goes changes both.
  private struct Stamp: Hashable {
    let modified: Int64
    let changed: Int64
  }

  /// The clock of a file system may move in steps this long, in nanoseconds.
  private static let granularity: Int64 = 2_000_000_000

  private let openLimit: Int

  /// Keeps at most `openLimit` directories open, because commands need descriptors, too.
  init(workspace: String, openLimit: Int) {
    self.openLimit = openLimit
    var path = "/"
    var folders: [(path: String, next: String)] = []
    for name in workspace.split(separator: "/") {
      folders.append((path, String(name)))
      path += path == "/" ? String(name) : "/\(name)"
    }
    self.folders = folders
    listings = Array(repeating: nil, count: folders.count)
  }

  /// The rules for the entries that exist now. `now` is in nanoseconds since 1970.
  mutating func current(at now: Int64 = wallTime()) throws(SystemError) -> RuleList {
    var stamps: [Stamp] = []
    for folder in folders { stamps.append(try OutsideRules.stamp(of: folder.path)) }
    // A mount hides what was opened before.
    if mounts.happened() {
      listings = Array(repeating: nil, count: folders.count)
      openCount = 0
    }
    var isChanged = rules == nil
    for (index, stamp) in stamps.enumerated() {
      let known = listings[index]
      if let known, known.isSettled, known.stamp == stamp { continue }
      let isSettled = max(stamp.modified, stamp.changed) < now - OutsideRules.granularity
      let entries = try entries(of: index, known: known?.entries ?? [], isSettled: isSettled)
      listings[index] = Listing(stamp: stamp, isSettled: isSettled, entries: entries)
      isChanged = true
    }
    if let rules, !isChanged { return rules }
    var all: [(path: [CChar], access: RuleList.Access, file: RuleList.OpenFolder?)] = []
    for (folder, listing) in zip(folders, listings) {
      let prefix = OutsideRules.prefix(of: folder.path)
      for entry in listing?.entries ?? [] {
        // An unknown kind gets the rights of a directory, which the new process reduces for a file.
        let access = entry.kind == Int(DT_REG) ? RuleList.Access.wholeFile : .everything
        all.append((prefix + entry.name, access, entry.file))
      }
    }
    let list = RuleList(all)
    rules = list
    return list
  }

  private static func prefix(of folder: String) -> [CChar] {
    Array((folder == "/" ? "/" : "\(folder)/").utf8CString.dropLast())
  }

  /// The present entries of a directory. Entries that are still there stay open: while they are,
  /// their numbers are not reused. Only directories are opened: a file that somebody removes takes
  /// up disk space as long as it is open.
  private mutating func entries(
    of index: Int, known: [Entry], isSettled: Bool
  ) throws(SystemError) -> [Entry] {
    let folder = folders[index]
    let prefix = OutsideRules.prefix(of: folder.path)
    let next = Array(folder.next.utf8CString)
    let before = Dictionary(known.map { ($0.name, $0.file) }) { first, _ in first }
    openCount -= known.count { $0.file != nil }
    let (found, mount) = try OutsideRules.entries(of: folder.path)
    var entries = found.filter { $0.name != next }
    for index in entries.indices {
      let entry = entries[index]
      if let file = before[entry.name] ?? nil, file.number == entry.number {
        entries[index].file = file
        openCount += 1
      }
    }
    guard mounts.areKnown else { return entries }
    for index in entries.indices
    where entries[index].kind == Int(DT_DIR) && entries[index].file == nil && openCount < openLimit
    {
      let file = RuleList.OpenFolder(prefix + entries[index].name, in: mount)
      // Some file systems list other numbers, by which no entry can be recognised the next time.
      guard let file, isSettled || file.number == entries[index].number else { continue }
      entries[index].file = file
      openCount += 1
    }
    return entries
  }

  private static func stamp(of path: String) throws(SystemError) -> Stamp {
    var status = stat()
    guard stat(path, &status) == 0 else { throw .last("cannot look at \(quoted(path))") }
    return Stamp(modified: time(status.st_mtim), changed: time(status.st_ctim))
  }

  private static func time(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// All entries of a directory except links, which lead to places with rules of their own, and the
  /// number of the mount. The names need not be text; they end with NUL.
  private static func entries(
    of path: String
  ) throws(SystemError) -> (entries: [Entry], mount: UInt64) {
    guard let folder = opendir(path) else { throw .last("cannot list \(quoted(path))") }
    defer { closedir(folder) }
    var found: [Entry] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
        field.withMemoryRebound(to: CChar.self, capacity: 256) { text in
          Array(UnsafeBufferPointer(start: text, count: strlen(text) + 1))
        }
      }
      if name == [0x2e, 0] || name == [0x2e, 0x2e, 0] { continue }
      var kind = Int(entry.pointee.d_type)
      if kind == Int(DT_UNKNOWN) { kind = self.kind(of: name, in: dirfd(folder)) }
      if kind == Int(DT_LNK) { continue }
      found.append(Entry(name: name, number: entry.pointee.d_ino, kind: kind, file: nil))
    }
    return (found, clinux_mount_id(dirfd(folder)))
  }

  /// The kind of an entry for which the listing does not tell it.
  private static func kind(of name: [CChar], in folder: Int32) -> Int {
    var status = stat()
    guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return Int(DT_UNKNOWN) }
    // IFTODT of <dirent.h>.
    return Int(status.st_mode & S_IFMT) >> 12
  }
}

/// Detects mounts and unmounts, which leave the times of directories as they are.
private final class MountChanges {
  private let list = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)

  var areKnown: Bool { list >= 0 }

  /// True if something was mounted or unmounted since the last call.
  func happened() -> Bool {
    var ready = pollfd(fd: list, events: Int16(POLLPRI), revents: 0)
    return list >= 0 && poll(&ready, 1, 0) > 0
  }

  deinit { if list >= 0 { close(list) } }
}
