// Keeps what a step made, and puts it back.

import Diagnostics
import Glibc
import RunFiles

/// The files of a result, below the directory of a step.
struct ResultFiles {
  let root: Int32
  let cache: CacheFolder
  /// True if files were put back or removed.
  private(set) var hasChanged = false
  /// The contents that were checked while they were copied, and the stamps of the copies.
  private(set) var copies: FileInspector.Known = [:]
  private var temporaryCount = 0

  init(_ root: Int32, _ cache: CacheFolder) {
    self.root = root
    self.cache = cache
  }

  // MARK: Keeping

  /// Keeps every file; throws if one changes meanwhile.
  func keep(_ files: [FileEntry]) throws(CacheFault) {
    for entry in files {
      switch entry.kind {
      case .file: if !cache.holds(entry.digest) { try keep(entry) }
      case .special:
        throw CacheFault("\(quoted(entry.path)) is neither a file, a link nor a directory")
      case .absent, .link, .directory: break
      }
    }
  }

  private func keep(_ entry: FileEntry) throws(CacheFault) {
    let file = openat(
      root, entry.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { throw .unreadable(entry.path, errno) }
    defer { close(file) }
    let digest = try cache.store(file, entry.path)
    guard digest == entry.digest else {
      throw CacheFault("\(quoted(entry.path)) changed while it was stored")
    }
  }

  // MARK: Putting back

  /// Makes the files what they were; returns them with their stamps of now, or nil if the cache does not
  /// have all of them. `now` is what there is.
  mutating func restore(
    _ files: [FileEntry], over now: [FileEntry]
  ) throws(CacheFault) -> Bool {
    let present = Dictionary(now.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    for entry in files where entry.kind == .file && !entry.isSame(as: present[entry.path]) {
      if !cache.holds(entry.digest) { return false }
    }
    let wanted = Set(files.map(\.path))
    let trees = Set(files.lazy.filter { $0.kind == .directory }.map(\.path))
    for entry in now.reversed() where !wanted.contains(entry.path) && entry.isWithin(trees) {
      try remove(entry.path)
    }
    for entry in files where !entry.isSame(as: present[entry.path]) {
      guard try put(entry, over: present[entry.path]) else { return false }
      hasChanged = true
    }
    // Last, because nothing can be put into a directory that is read-only.
    for entry in files.reversed()
    where entry.kind == .directory && present[entry.path]?.permissions != entry.permissions {
      fchmodat(root, entry.path, entry.permissions, 0)
      hasChanged = true
    }
    return true
  }

  private mutating func put(
    _ entry: FileEntry, over now: FileEntry?
  ) throws(CacheFault) -> Bool {
    if let now, now.kind == .directory, entry.kind != .directory { try remove(now.path) }
    switch entry.kind {
    case .absent, .special: return true
    case .directory:
      if now?.kind == .directory { return true }
      if now != nil { try remove(entry.path) }
      try makeFolders(for: entry.path)
      guard mkdirat(root, entry.path, 0o700) == 0 || errno == EEXIST else {
        throw unwritable(entry.path)
      }
      return true
    case .link:
      try makeFolders(for: entry.path)
      let name = temporaryName(beside: entry.path)
      guard symlinkat(entry.target, root, name) == 0 else { throw unwritable(entry.path) }
      return try rename(name, to: entry.path)
    case .file: return try putFile(entry)
    }
  }

  private mutating func putFile(_ entry: FileEntry) throws(CacheFault) -> Bool {
    let content = cache.open(entry.digest)
    guard content >= 0 else { return false }
    defer { close(content) }
    try makeFolders(for: entry.path)
    let name = temporaryName(beside: entry.path)
    let copy = openat(root, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard copy >= 0 else { throw unwritable(entry.path) }
    defer { close(copy) }
    do throws(CacheFault) {
      guard try FileCopy.copy(content, to: copy, entry.path) == entry.digest else {
        cache.drop(entry.digest)
        unlinkat(root, name, 0)
        return false
      }
    } catch {
      unlinkat(root, name, 0)
      throw error
    }
    fchmod(copy, entry.permissions)
    guard try rename(name, to: entry.path) else { return false }
    var status = stat()
    if fstat(copy, &status) == 0 { copies[entry.path] = (FileStamp(status), entry.digest) }
    return true
  }

  private func rename(_ name: String, to path: String) throws(CacheFault) -> Bool {
    if renameat(root, name, root, path) == 0 { return true }
    let failure = unwritable(path)
    unlinkat(root, name, 0)
    throw failure
  }

  private func makeFolders(for path: String) throws(CacheFault) {
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
    let folder = String(path[..<slash])
    if faccessat(root, folder, F_OK, 0) == 0 { return }
    try makeFolders(for: folder)
    guard mkdirat(root, folder, 0o777) == 0 || errno == EEXIST else { throw unwritable(folder) }
  }

  /// Removes a file, or a directory with everything in it.
  mutating func remove(_ path: String) throws(CacheFault) {
    if unlinkat(root, path, 0) == 0 {
      hasChanged = true
      return
    }
    if errno == ENOENT { return }
    guard errno == EISDIR || errno == EPERM else { throw unwritable(path) }
    for name in names(in: path) { try remove("\(path)/\(name)") }
    guard unlinkat(root, path, AT_REMOVEDIR) == 0 || errno == ENOENT else {
      throw unwritable(path)
    }
    hasChanged = true
  }

  private func names(in path: String) -> [String] {
    let folder = openat(root, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    return folder >= 0 ? namesOfFiles(owning: folder) ?? [] : []
  }

  private mutating func temporaryName(beside path: String) -> String {
    temporaryCount += 1
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    return "\(folder).oprun-\(getpid())-\(temporaryCount)"
  }

  private func unwritable(_ path: String) -> CacheFault {
    CacheFault("cannot restore \(quoted(path)): \(SystemError.reason(errno))")
  }
}

extension FileEntry {
  /// Whether it is the same as a part of a result.
  fileprivate func isSame(as other: FileEntry?) -> Bool {
    guard let other, kind == other.kind else { return kind == .absent && other == nil }
    switch kind {
    case .absent, .special: return true
    case .directory: return true
    case .link: return target == other.target
    case .file: return digest == other.digest && permissions == other.permissions
    }
  }

  /// Whether one of the directories holds it.
  fileprivate func isWithin(_ folders: Set<String>) -> Bool {
    var rest = path[...]
    while let slash = rest.lastIndex(of: "/") {
      rest = rest[..<slash]
      if folders.contains(String(rest)) { return true }
    }
    return folders.contains(".") && path != "."
  }
}
