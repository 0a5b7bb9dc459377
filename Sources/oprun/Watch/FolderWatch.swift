// Notices changes in directories, through inotify.

import Diagnostics
import Glibc

/// Something that has changed below a watched directory.
struct NotedChange: Hashable {
  /// Absolute.
  let path: String
  /// It was there before.
  let existed: Bool
  /// It is a directory that was removed or moved away, with all that was in it.
  var isFolder = false
}

/// Watches directories one by one: the kernel does not watch those below them by itself.
final class FolderWatch {
  private struct Folder {
    let path: String
    /// What is known to be in it.
    var names: Set<String>
  }

  private let descriptor: Int32
  private var folders: [Int32: Folder] = [:]
  private var numbers: [String: Int32] = [:]
  private var roots: Set<String> = []
  private var isWanted: (String) -> Bool = { _ in false }
  /// True if the kernel has lost changes.
  private(set) var hasLostChanges = false
  /// True if a directory that all began with is not there any more.
  private(set) var hasLostRoot = false

  private static let mask = UInt32(
    IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB
      | IN_DELETE_SELF
      | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK)

  init() throws(SystemError) {
    descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    guard descriptor >= 0 else {
      let help = errno == EMFILE ? " (fs.inotify.max_user_instances)" : ""
      throw SystemError("cannot watch directories\(help)", errno: errno)
    }
  }

  deinit { close(descriptor) }

  var number: Int32 { descriptor }

  var count: Int { folders.count }

  /// Watches these directories, and those below them that are wanted, and no others.
  func watch(
    _ roots: [String], isWanted: @escaping (String) -> Bool
  ) throws(SystemError) {
    self.isWanted = isWanted
    self.roots = Set(roots)
    hasLostChanges = false
    hasLostRoot = false
    var kept: Set<Int32> = []
    var open = roots
    var seen: Set<String> = []
    while let path = open.popLast() {
      guard seen.insert(path).inserted, let number = try add(path, kept: &kept) else { continue }
      guard let folder = folders[number] else { continue }
      for name in folder.names where isFolder(joined(path, name)) && isWanted(joined(path, name)) {
        open.append(joined(path, name))
      }
    }
    for number in folders.keys where !kept.contains(number) { remove(number) }
  }

  private func joined(_ path: String, _ name: String) -> String {
    path == "/" ? "/" + name : "\(path)/\(name)"
  }

  private func isFolder(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// The number of the watch of a directory; nil if there is no such directory.
  private func add(_ path: String, kept: inout Set<Int32>) throws(SystemError) -> Int32? {
    let number = inotify_add_watch(descriptor, path, Self.mask)
    guard number >= 0 else {
      switch errno {
      case ENOENT, ENOTDIR, EACCES, ELOOP: return nil
      case ENOSPC:
        throw SystemError(
          "cannot watch \(quoted(path)): more than \(count) directories are not allowed "
            + "(fs.inotify.max_user_watches)", errno: errno)
      default: throw SystemError("cannot watch \(quoted(path))", errno: errno)
      }
    }
    // The same directory by another path keeps the first one.
    if kept.contains(number) { return nil }
    kept.insert(number)
    if let known = folders[number], known.path != path { numbers[known.path] = nil }
    folders[number] = Folder(path: path, names: Self.names(in: path))
    numbers[path] = number
    return number
  }

  private static func names(in path: String) -> Set<String> {
    guard let list = opendir(path) else { return [] }
    defer { closedir(list) }
    var names: Set<String> = []
    while let entry = readdir(list) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
        field.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.insert(name) }
    }
    return names
  }

  private func remove(_ number: Int32) {
    if let folder = folders.removeValue(forKey: number), numbers[folder.path] == number {
      numbers[folder.path] = nil
    }
    inotify_rm_watch(descriptor, number)
  }

  /// What has changed since the last call.
  func take() throws(SystemError) -> [NotedChange] {
    var changes: [NotedChange] = []
    let size = 1 << 16
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
    defer { buffer.deallocate() }
    while true {
      let count = read(descriptor, buffer.baseAddress, size)
      guard count > 0 else { return changes }
      var offset = 0
      while offset < count {
        let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
        let start = offset + MemoryLayout<inotify_event>.size
        let name = String(
          decoding: buffer[start..<start + Int(event.len)].prefix { $0 != 0 }, as: UTF8.self)
        try note(event.wd, event.mask, name, in: &changes)
        offset = start + Int(event.len)
      }
    }
  }

  private func note(
    _ number: Int32, _ mask: UInt32, _ name: String, in changes: inout [NotedChange]
  ) throws(SystemError) {
    let isOneOf = { (bits: Int32) in mask & UInt32(bits) != 0 }
    if isOneOf(IN_Q_OVERFLOW) { hasLostChanges = true }
    guard let folder = folders[number] else { return }
    if isOneOf(IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF) {
      if isOneOf(IN_MOVE_SELF), !roots.contains(folder.path) { return }
      if roots.contains(folder.path) { hasLostRoot = true }
      return remove(number)
    }
    guard !name.isEmpty else { return }
    let path = joined(folder.path, name)
    let existed = folder.names.contains(name)
    let hasCome = isOneOf(IN_CREATE | IN_MOVED_TO)
    let hasGone = isOneOf(IN_DELETE | IN_MOVED_FROM)
    if hasCome { folders[number]?.names.insert(name) }
    if hasGone { folders[number]?.names.remove(name) }
    guard isOneOf(IN_ISDIR) else {
      changes.append(NotedChange(path: path, existed: existed))
      return
    }
    guard isWanted(path) else { return }
    if hasCome { try addTree(path, to: &changes) }
    if hasGone {
      changes.append(NotedChange(path: path, existed: true, isFolder: true))
      if isOneOf(IN_MOVED_FROM) { forget(path) }
    }
  }

  /// A directory has moved away, with those in it.
  private func forget(_ path: String) {
    for (number, folder) in folders where folder.path == path || folder.path.hasPrefix(path + "/") {
      remove(number)
    }
  }

  /// A directory that has appeared: what is in it may have been made before it was watched.
  private func addTree(_ path: String, to changes: inout [NotedChange]) throws(SystemError) {
    var open = [path]
    while let path = open.popLast() {
      var kept: Set<Int32> = []
      guard let number = try add(path, kept: &kept), let folder = folders[number] else { continue }
      for name in folder.names {
        let inner = joined(path, name)
        if !isFolder(inner) {
          changes.append(NotedChange(path: inner, existed: false))
        } else if isWanted(inner) {
          open.append(inner)
        }
      }
    }
  }
}
