// Notices changes in directories, through inotify.

import Caching
import Diagnostics
import Glibc
import RunFiles

/// Something that has changed below a watched directory.
struct NotedChange: Hashable {
  enum Kind: Hashable {
    case file
    /// A directory that has come. What is in it is noted for itself.
    case newFolder
    /// A directory in which anything may have changed: it was removed or moved away, or something in it has a name that
    /// is no text.
    case folder
  }

  /// Absolute.
  let path: String
  /// It was there before.
  let existed: Bool
  var kind = Kind.file
}

/// Watches directories one by one: the kernel does not watch those below them by itself.
final class FolderWatch {
  private struct Folder {
    let path: String
    /// What is known to be in it, as far as it is text.
    var names: Set<PathName>
  }

  private let descriptor: Int32
  private var folders: [Int32: Folder] = [:]
  private var numbers: [PathName: Int32] = [:]
  private var roots: Set<PathName> = []
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
      let isLimit = errno == EMFILE
      throw SystemError(
        isLimit
          ? "cannot watch directories: too many programs of this user do"
          : "cannot watch directories",
        errno: errno)
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
    self.roots = Set(roots.map { PathName($0) })
    hasLostChanges = false
    hasLostRoot = false
    var kept: Set<Int32> = []
    var open = roots
    var seen: Set<PathName> = []
    while let path = open.popLast() {
      guard seen.insert(PathName(path)).inserted, let number = try add(path, kept: &kept) else {
        continue
      }
      guard let folder = folders[number] else { continue }
      for name in folder.names {
        let inner = joined(path, name.text)
        if isFolder(inner), isWanted(inner) { open.append(inner) }
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
          "cannot watch \(quoted(path)): the limit of watched directories is reached, with \(count) here",
          errno: ENOSPC)
      default: throw SystemError("cannot watch \(quoted(path))", errno: errno)
      }
    }
    // The same directory by another path keeps the first one.
    if kept.contains(number) { return nil }
    kept.insert(number)
    if let known = folders[number] { numbers[PathName(known.path)] = nil }
    folders[number] = Folder(path: path, names: Self.names(in: path))
    numbers[PathName(path)] = number
    return number
  }

  private static func names(in path: String) -> Set<PathName> {
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    return Set((folder >= 0 ? namesOfFiles(owning: folder) ?? [] : []).map { PathName($0) })
  }

  private func remove(_ number: Int32) {
    if let path = folders.removeValue(forKey: number).map({ PathName($0.path) }),
      numbers[path] == number
    {
      numbers[path] = nil
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
        let name = buffer[start..<start + Int(event.len)].prefix { $0 != 0 }
        try note(event.wd, event.mask, String(validating: name, as: UTF8.self), in: &changes)
        offset = start + Int(event.len)
      }
    }
  }

  /// The name is nil if it is no text.
  private func note(
    _ number: Int32, _ mask: UInt32, _ name: String?, in changes: inout [NotedChange]
  ) throws(SystemError) {
    let isOneOf = { (bits: Int32) in mask & UInt32(bits) != 0 }
    if isOneOf(IN_Q_OVERFLOW) { hasLostChanges = true }
    guard let folder = folders[number] else { return }
    if isOneOf(IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF) {
      let isRoot = roots.contains(PathName(folder.path))
      if isOneOf(IN_MOVE_SELF), !isRoot { return }
      if isRoot { hasLostRoot = true }
      return remove(number)
    }
    guard let name else {
      return changes.append(NotedChange(path: folder.path, existed: true, kind: .folder))
    }
    guard !name.isEmpty else { return }
    let path = joined(folder.path, name)
    let existed = folder.names.contains(PathName(name))
    let hasCome = isOneOf(IN_CREATE | IN_MOVED_TO)
    let hasGone = isOneOf(IN_DELETE | IN_MOVED_FROM)
    if hasCome { folders[number]?.names.insert(PathName(name)) }
    if hasGone { folders[number]?.names.remove(PathName(name)) }
    guard isOneOf(IN_ISDIR) else {
      changes.append(NotedChange(path: path, existed: existed))
      return
    }
    guard isWanted(path) else { return }
    if hasCome {
      changes.append(NotedChange(path: path, existed: existed, kind: .newFolder))
      try addTree(path, to: &changes)
    }
    if hasGone {
      changes.append(NotedChange(path: path, existed: existed, kind: .folder))
      if isOneOf(IN_MOVED_FROM) { forget(path) }
    }
  }

  /// A directory has moved away, with those in it.
  private func forget(_ path: String) {
    for (number, folder) in folders
    where folder.path.hasSameBytes(as: path) || folder.path.isBelow(path) {
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
        let inner = joined(path, name.text)
        if !isFolder(inner) {
          changes.append(NotedChange(path: inner, existed: false))
        } else if isWanted(inner) {
          changes.append(NotedChange(path: inner, existed: false, kind: .newFolder))
          open.append(inner)
        }
      }
    }
  }
}
