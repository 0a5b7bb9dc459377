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
  /// The path of the first file whose content in the cache was damaged.
  private(set) var damaged: String?
  /// True in a process that restores a part of the files. What it finds damaged is found once more by the one that
  /// started it, which can tell of it.
  private var isHelper = false
  /// The contents that were checked while they were copied, and the stamps of the copies.
  private(set) var copies: FileInspector.Known = [:]
  private let folders: OutputFolders
  /// The directories of the result that is being put back.
  private var trees: Set<PathName> = []
  /// Directories that were read-only, and are not until everything is there.
  private var opened: Set<PathName> = []
  /// False where the file system makes no files without names.
  private var hasUnnamedFiles = true

  init(_ root: Int32, _ cache: CacheFolder) {
    self.root = root
    self.cache = cache
    folders = OutputFolders(root)
  }

  // MARK: Keeping

  /// Keeps every file; throws if one changes meanwhile.
  func keep(_ files: [FileEntry]) throws(CacheFailure) {
    for entry in files {
      _ = try folders.enter(OutputFolders.split(entry.path).folder)
      switch entry.kind {
      case .file:
        try checkAttributes(of: entry)
        if !cache.holdsWhole(entry.digest) { try keep(entry) }
      case .special:
        throw CacheFailure("\(quoted(entry.path)) is neither a file, a link nor a directory")
      case .directory: try checkAttributes(of: entry)
      case .absent, .link: break
      }
    }
  }

  private func keep(_ entry: FileEntry) throws(CacheFailure) {
    let (folder, name) = try place(of: entry.path)
    let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { throw .unreadable(entry.path, errno) }
    defer { close(file) }
    let digest = try cache.store(file, entry.path)
    guard digest == entry.digest else {
      throw CacheFailure("\(quoted(entry.path)) changed while it was being stored")
    }
  }

  /// Throws if a file or directory has an attribute that the cache would lose.
  private func checkAttributes(of entry: FileEntry) throws(CacheFailure) {
    let (folder, name) = try place(of: entry.path)
    let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { throw .unreadable(entry.path, errno) }
    defer { close(file) }
    var status = stat()
    if entry.kind == .file, fstat(file, &status) == 0, FileAttributes.rightsAreLost(status) {
      throw CacheFailure(
        "output \(quoted(entry.path)) runs with the rights of its owner or its group, which are not kept"
      )
    }
    let names = FileAttributes.names(of: file)
    if FileAttributes.hasOwnAccessList(names, in: folder) {
      throw CacheFailure(
        "output \(quoted(entry.path)) has an access list of its own, which is not kept")
    }
    guard let attribute = names.first(where: FileAttributes.isLost) else {
      return
    }
    throw CacheFailure(
      "output \(quoted(entry.path)) has the attribute \(quoted(attribute)), which is not kept")
  }

  // MARK: Putting back

  /// Makes the files what they were; false if the cache does not have all of them, undamaged. `now` is what there is.
  mutating func restore(
    _ files: [FileEntry], over now: [FileEntry]
  ) throws(CacheFailure) -> Bool {
    let present = Dictionary(
      now.map { (PathName($0.path), $0) }, uniquingKeysWith: { first, _ in first })
    let different = files.filter { !$0.isSame(as: present[PathName($0.path)]) }
    var contents: [(entry: FileEntry, size: Int)] = []
    for entry in different where entry.kind == .file {
      let size = cache.size(of: entry.digest)
      if size < 0 { return false }
      contents.append((entry, size))
    }
    let wanted = Set(files.map { PathName($0.path) })
    trees = Set(files.lazy.filter { $0.kind == .directory }.map { PathName($0.path) })
    try check(files, over: present)
    if !different.isEmpty || now.contains(where: { !wanted.contains(PathName($0.path)) }) {
      openFolders(among: now)
    }
    for entry in now.reversed()
    where !wanted.contains(PathName(entry.path)) && entry.isWithin(trees) {
      try remove(entry.path)
    }
    if !different.isEmpty { hasChanged = true }
    var isWhole = false
    defer { setPermissions(of: files, over: present, isWhole: isWhole) }
    for entry in different where entry.kind != .file {
      guard try put(entry, over: present[PathName(entry.path)]) else { return false }
    }
    guard try putFiles(contents, over: present) else { return false }
    isWhole = true
    return true
  }

  /// Programs protect what they keep, such as a store of modules, from themselves; directories come before what is in them.
  private mutating func openFolders(among now: [FileEntry]) {
    for entry in now
    where entry.kind == .directory && entry.permissions & S_IRWXU != S_IRWXU
      && (entry.isWithin(trees) || trees.contains(PathName(entry.path)))
    {
      guard let (folder, name) = try? place(of: entry.path) else { continue }
      if fchmodat(folder, name, entry.permissions | S_IRWXU, 0) == 0 {
        opened.insert(PathName(entry.path))
      }
    }
  }

  /// Called last, because nothing can be put into a directory that is read-only. If something was missing, the step
  /// will write there.
  private mutating func setPermissions(
    of files: [FileEntry], over present: [PathName: FileEntry], isWhole: Bool
  ) {
    for entry in files.reversed()
    where entry.kind == .directory
      && (present[PathName(entry.path)]?.permissions != entry.permissions
        || opened.contains(PathName(entry.path)))
    {
      guard let (folder, name) = try? place(of: entry.path) else { continue }
      fchmodat(folder, name, entry.permissions | (isWhole ? 0 : S_IRWXU), AT_SYMLINK_NOFOLLOW)
      hasChanged = true
    }
  }

  /// Much is divided among processes. What another process could not put back is done here, so that the reason is
  /// known.
  private mutating func putFiles(
    _ files: [(entry: FileEntry, size: Int)], over present: [PathName: FileEntry]
  ) throws(CacheFailure) -> Bool {
    var helpers = RestoreHelpers(files.map(\.size))
    helpers.start { place in
      isHelper = true
      let entry = files[place].entry
      guard (try? put(entry, over: present[PathName(entry.path)])) == true else { return nil }
      return copies.removeValue(forKey: PathName(entry.path))?.stamp
    }
    defer { helpers.end() }
    for place in files.indices where helpers.owner(of: place) == nil {
      let entry = files[place].entry
      guard try put(entry, over: present[PathName(entry.path)]) else { return false }
    }
    helpers.wait()
    for place in files.indices where helpers.owner(of: place) != nil {
      let entry = files[place].entry
      if let stamp = helpers.stamp(of: place) {
        copies[PathName(entry.path)] = (stamp, entry.digest)
      } else {
        guard try put(entry, over: present[PathName(entry.path)]) else { return false }
      }
    }
    return true
  }

  /// The path of something that is not part of a result, or is missing, in the place of it; nil if what was found is
  /// the result.
  static func difference(of found: [FileEntry], from files: [FileEntry]) -> String? {
    let found = found.filter { !$0.isOnlyListed }
    let present = Dictionary(
      found.map { (PathName($0.path), $0) }, uniquingKeysWith: { first, _ in first })
    let different = files.first { entry in
      let now = present[PathName(entry.path)]
      return !entry.isSame(as: now)
        || entry.kind == .directory && entry.permissions != now?.permissions
    }
    if let different { return different.path }
    let wanted = Set(files.map { PathName($0.path) })
    let trees = Set(files.lazy.filter { $0.kind == .directory }.map { PathName($0.path) })
    return found.first { entry in
      entry.kind != .absent && !wanted.contains(PathName(entry.path)) && entry.isWithin(trees)
    }?.path
  }

  /// Finds out before anything is changed that no link is in the way.
  private func check(
    _ files: [FileEntry], over present: [PathName: FileEntry]
  ) throws(CacheFailure) {
    let trees = Set(files.lazy.filter { $0.kind == .directory }.map { PathName($0.path) })
    for entry in files
    where !entry.isSame(as: present[PathName(entry.path)]) && !entry.isWithin(trees) {
      _ = try folders.enter(OutputFolders.split(entry.path).folder)
    }
  }

  /// The directory that a path is in, which must be there, and the name in it.
  private func place(
    of path: String, making: Bool = false
  ) throws(CacheFailure) -> (folder: Int32, name: String) {
    let (folder, name) = OutputFolders.split(path)
    if let number = try folders.enter(folder, making: making) { return (number, name) }
    throw CacheFailure("\(quoted(folder)) does not exist")
  }

  private mutating func put(
    _ entry: FileEntry, over now: FileEntry?
  ) throws(CacheFailure) -> Bool {
    if let now, now.kind == .directory, entry.kind != .directory { try removeFolder(now.path) }
    switch entry.kind {
    case .absent, .special: return true
    case .directory:
      if now?.kind == .directory { return true }
      if now != nil { try remove(entry.path) }
      let (folder, name) = try place(of: entry.path, making: true)
      guard mkdirat(folder, name, 0o700) == 0 || errno == EEXIST else {
        throw unwritable(entry.path)
      }
      return true
    case .link:
      let (folder, last) = try place(of: entry.path, making: true)
      let name = PartFile.newName
      guard symlinkat(entry.target, folder, name) == 0 else { throw unwritable(entry.path) }
      return try rename(name, to: last, in: folder, entry.path)
    case .file: return try putFile(entry)
    }
  }

  private mutating func putFile(_ entry: FileEntry) throws(CacheFailure) -> Bool {
    let content = cache.open(entry.digest)
    guard content >= 0 else { return false }
    defer { close(content) }
    let (folder, last) = try place(of: entry.path, making: true)
    var copy = hasUnnamedFiles ? PartFile.makeUnnamed(in: folder) : -1
    var name: String?
    if copy < 0 {
      hasUnnamedFiles = false
      let (file, partName) = PartFile.make(in: folder)
      guard file >= 0 else { throw unwritable(entry.path) }
      (copy, name) = (file, partName)
    }
    defer { close(copy) }
    do throws(CacheFailure) {
      guard try cache.copy(entry.digest, from: content, to: copy, entry.path) else {
        if !isHelper {
          cache.drop(entry.digest)
          damaged = damaged ?? entry.path
        }
        if let name { unlinkat(folder, name, 0) }
        return false
      }
    } catch {
      if let name { unlinkat(folder, name, 0) }
      throw error
    }
    fchmod(copy, entry.permissions)
    if name == nil, !PartFile.link(copy, as: last, in: folder) {
      guard errno == EEXIST else {
        // There is no /proc, or the file system has files without names but cannot name them.
        hasUnnamedFiles = false
        return try putFile(entry)
      }
      // Parts that nobody has locked are removed.
      while flock(copy, LOCK_EX) != 0, errno == EINTR {}
      let partName = PartFile.newName
      guard PartFile.link(copy, as: partName, in: folder) else { throw unwritable(entry.path) }
      name = partName
    }
    if let name, try !rename(name, to: last, in: folder, entry.path) { return false }
    var status = stat()
    if fstat(copy, &status) == 0 {
      copies[PathName(entry.path)] = (FileStamp(status), entry.digest)
    }
    return true
  }

  private func rename(
    _ name: String, to last: String, in folder: Int32, _ path: String
  ) throws(CacheFailure) -> Bool {
    if renameat(folder, name, folder, last) == 0 { return true }
    let failure = unwritable(path)
    unlinkat(folder, name, 0)
    throw failure
  }

  /// Removes a file, or a directory with everything in it.
  mutating func remove(_ path: String) throws(CacheFailure) {
    let (around, name) = OutputFolders.split(path)
    guard let folder = try folders.enter(around) else { return }
    if unlinkat(folder, name, 0) == 0 {
      hasChanged = true
      return
    }
    if errno == ENOENT { return }
    guard errno == EISDIR || errno == EPERM, removeTree(name, in: folder) else {
      throw unwritable(path)
    }
    hasChanged = true
  }

  /// Removes a directory in the place of something else. Within a directory of the result everything is the step's;
  /// elsewhere the result says nothing of what is in it.
  private mutating func removeFolder(_ path: String) throws(CacheFailure) {
    if trees.contains(where: { path.isBelow($0.text) || $0.text == "." }) {
      return try remove(path)
    }
    let (around, name) = OutputFolders.split(path)
    guard let folder = try folders.enter(around) else { return }
    if unlinkat(folder, name, AT_REMOVEDIR) == 0 || errno == ENOENT { return }
    guard errno == ENOTEMPTY || errno == EEXIST else { throw unwritable(path) }
    throw CacheFailure("\(quoted(path)) is a directory, and not empty")
  }

  private func unwritable(_ path: String) -> CacheFailure {
    CacheFailure("cannot restore \(quoted(path)): \(SystemError.reason(errno))")
  }
}

extension FileEntry {
  /// Whether it is the same as a part of a result.
  fileprivate func isSame(as other: FileEntry?) -> Bool {
    guard let other, kind == other.kind else { return kind == .absent && other == nil }
    switch kind {
    case .absent, .special: return true
    case .directory: return true
    case .link: return target.hasSameBytes(as: other.target)
    case .file: return digest == other.digest && permissions == other.permissions
    }
  }

  /// Whether one of the directories holds it.
  func isWithin(_ folders: Set<PathName>) -> Bool {
    var rest = path[...]
    while let slash = rest.utf8.lastIndex(of: UInt8(ascii: "/")) {
      rest = rest[..<slash]
      if folders.contains(PathName(rest)) { return true }
    }
    return folders.contains(PathName(".")) && !path.hasSameBytes(as: ".")
  }
}
