// A cgroup v2 for the run, where the kernel and oprun's permissions allow one: it is the only way
// to find a process that has left its group, its session, its parent and its environment.

import Diagnostics
import Glibc
import Processors
import RunFiles

/// The control group that commands are started in. oprun itself stays outside.
struct ControlGroup: ~Copyable {
  let path: String
  private let descriptor: Descriptor
  /// The kernel checks the permissions of these two files at every start; while they are open it
  /// need not recreate their inodes (4 µs).
  private let members: Descriptor
  private let parentMembers: Descriptor
  private var isRemoved = false

  /// Makes a group below oprun's own; nil if there is no writable cgroup v2.
  init?(name: String) {
    guard let parent = ownControlGroup?.path else { return nil }
    let path = "\(parent)/\(name)"
    guard mkdir(path, 0o700) == 0 else { return nil }
    // The lock tells others that the group is in use. cgroup.kill came with Linux 5.14; a group that cannot be killed
    // at once is useless here.
    guard case .success(let descriptor) = Descriptor.open(path, O_RDONLY | O_DIRECTORY),
      flock(descriptor.number, LOCK_SH | LOCK_NB) == 0,
      faccessat(descriptor.number, "cgroup.kill", W_OK, 0) == 0,
      case .success(let members) = Descriptor.open("\(path)/cgroup.procs", O_RDONLY),
      case .success(let parentMembers) = Descriptor.open("\(parent)/cgroup.procs", O_RDONLY)
    else {
      rmdir(path)
      return nil
    }
    self.path = path
    self.descriptor = descriptor
    self.members = members
    self.parentMembers = parentMembers
  }

  /// Removes the group if it is empty; tolerated orphans keep it until another run finds it without
  /// them (`removeUnused`).
  deinit { if !isRemoved { ControlGroup.remove(path) } }

  var folder: Int32 { descriptor.number }

  /// Kills every process in the group; none can escape by forking. An empty group is removed, which
  /// costs less than checking.
  mutating func endAll() {
    isRemoved = rmdir(path) == 0
    if !isRemoved { ControlGroup.endAll(at: path) }
  }

  static func endAll(at path: String) {
    guard case .success(let file) = Descriptor.open(killFile(of: path), O_WRONLY) else { return }
    write(file.number, "1", 1)
  }

  /// Removes a group in which no process is left, and groups within it that killed runs have left.
  /// False if there is a process.
  @discardableResult
  static func remove(_ path: String) -> Bool {
    if rmdir(path) == 0 || errno == ENOENT { return true }
    for name in names(in: path) {
      let inner = "\(path)/\(name)"
      if isFree(inner, age: 0) { remove(inner) }
    }
    return rmdir(path) == 0
  }

  /// Removes the groups of runs that are over, if the processes that they spared have ended. `age`
  /// is in seconds: a new group may not be locked yet.
  static func removeUnused(in parent: String, age: Int = 60) {
    for name in names(in: parent) where name.hasPrefix(Cookie.namePrefix) {
      let path = "\(parent)/\(name)"
      if isFree(path, age: age) { remove(path) }
    }
  }

  /// True if no run holds the group, and it has been there for some time.
  private static func isFree(_ path: String, age: Int) -> Bool {
    var status = stat()
    guard case .success(let folder) = Descriptor.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
      flock(folder.number, LOCK_EX | LOCK_NB) == 0, fstat(folder.number, &status) == 0
    else { return false }
    // Not time(2), which lags behind the time stamps of files by up to a tick.
    return Int(wallTime() / 1_000_000_000) - status.st_ctim.tv_sec >= age
  }

  private static func names(in path: String) -> [String] {
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    return folder >= 0 ? namesOfFiles(owning: folder) ?? [] : []
  }

  /// The file that kills all members of a group when 1 is written to it.
  static func killFile(of path: String) -> String { "\(path)/cgroup.kill" }
}
