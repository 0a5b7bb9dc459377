// The files through which oprun and the nodes of a cluster know of each other: `@node` in the
// directory of the run, on a file system that all of them share. docs/design-execution.md, “Nodes”.

import CLinux
import Diagnostics
import Glibc
import RunFiles

/// The open folder. Every file in it appears whole: it is written under a name that nobody reads, and
/// then gets its own. Only its owner can read it, because tasks contain secrets.
final class NodeFiles {
  static let folderName = "@node"

  enum Folder: String, CaseIterable {
    /// What is to run, by number.
    case tasks
    /// The job that a task belongs to.
    case claims
    /// A start of a task has begun.
    case starts
    /// How a start of a task has ended.
    case results
    /// A start of a task was ended from outside, and nothing of it is left: it has no result.
    case stops
    /// What Slurm says of its jobs.
    case jobs
  }

  /// The path of the folder, for people and for Slurm.
  let path: String
  let descriptor: Int32
  /// The word by which jobs know the folder, whatever path leads to it; nil in a folder of an older oprun.
  let word: String?

  /// 64 MiB; larger files were not written by oprun.
  private static let largestFile = 64 << 20

  /// Makes what is missing of the folder, in the directory of a run.
  static func make(in run: String) throws(SystemError) -> NodeFiles {
    if let known = try find(in: run) { return known }
    let place = "\(run)/\(folderName)"
    try makeFolder(place)
    var status = stat()
    // Without it, the folder is taken for what it is.
    if lstat(place, &status) == 0 { symlink("\(status.st_ino):\(place)", "\(place)/\(placeName)") }
    let word = hexadecimal(UInt64.random(in: 0...UInt64.max), digits: 16)
    guard symlink(word, "\(run)/\(folderName)/\(wordName)") == 0 || errno == EEXIST else {
      throw .last("cannot create \(quoted("\(run)/\(folderName)/\(wordName)"))")
    }
    for part in Folder.allCases { try makeFolder("\(run)/\(folderName)/\(part.rawValue)") }
    return try open(in: run)
  }

  static func makeFolder(_ place: String) throws(SystemError) {
    guard mkdir(place, 0o700) == 0 || errno == EEXIST else {
      throw .last("cannot create \(quoted(place))")
    }
    // Whatever the mask, its owner can use it.
    if access(place, R_OK | W_OK | X_OK) != 0 { chmod(place, 0o700) }
  }

  /// The name of a symbolic link that leads nowhere: what it says is made, and read, as a whole.
  private static let wordName = "mark"

  /// The name of another one, which says where the folder was made: its number, which a new name does not change, and its
  /// path.
  private static let placeName = "place"

  /// Whether it is a copy of the folder that jobs know, or was moved to another file system: then they do not write here.
  /// Some file systems give other numbers now and then, so a folder that is where it was made is none.
  var isCopy: Bool {
    var own = stat()
    guard let made = target(of: NodeFiles.placeName), let colon = made.firstIndex(of: ":"),
      fstat(descriptor, &own) == 0, made[..<colon] != String(own.st_ino)
    else { return false }
    var there = stat()
    return stat(String(made[made.index(after: colon)...]), &there) != 0
      || FileIdentity(there) != FileIdentity(own)
  }

  /// The same as `open`, but nil if the folder is not there, or was never whole.
  static func find(in run: String) throws(SystemError) -> NodeFiles? {
    do throws(SystemError) {
      return try open(in: run)
    } catch {
      if error.errno == ENOENT || error.errno == ENOTDIR { return nil }
      throw error
    }
  }

  static func open(in run: String) throws(SystemError) -> NodeFiles {
    let path = "\(run)/\(folderName)"
    let folder = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard folder >= 0 else { throw .last("cannot open \(quoted(path))") }
    let files = NodeFiles(owning: folder, path: path)
    for part in Folder.allCases where faccessat(folder, part.rawValue, F_OK, 0) != 0 {
      throw .last("cannot open \(quoted(files.shown(part)))")
    }
    return files
  }

  private init(owning descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
    word = Self.target(of: NodeFiles.wordName, in: descriptor)
  }

  private func target(of name: String) -> String? { Self.target(of: name, in: descriptor) }

  /// What a symbolic link says.
  private static func target(of name: String, in folder: Int32) -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 64)
    let count = readlinkat(folder, name, &bytes, bytes.count)
    guard count > 0 else { return nil }
    return String(decoding: bytes[..<count].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { close(descriptor) }

  /// Removes everything that was written for nodes and by them; false, with `errno`, if it is still
  /// there.
  @discardableResult
  static func remove(from directory: RunDirectory) -> Bool { directory.removeFolder(folderName) }

  /// The same in the directory of another run.
  static func remove(in run: String) {
    let folder = Glibc.open(run, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard folder >= 0 else { return }
    _ = removeTree(folderName, in: folder)
    close(folder)
  }

  func shown(_ folder: Folder) -> String { "\(path)/\(folder.rawValue)" }

  func shown(_ folder: Folder, _ name: String) -> String { "\(shown(folder))/\(name)" }

  // MARK: Files

  /// The content of a file; nil if there is none.
  func content(of folder: Folder, _ name: String) throws(SystemError) -> [UInt8]? {
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
    let number = openat(descriptor, "\(folder.rawValue)/\(name)", flags)
    let action = "cannot read \(quoted(shown(folder, name)))"
    guard number >= 0 else {
      if errno == ENOENT { return nil }
      throw .last(action)
    }
    let file = Descriptor(owning: number)
    var status = stat()
    guard fstat(file.number, &status) == 0 else { throw .last(action) }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= NodeFiles.largestFile else {
      throw SystemError(action, errno: EINVAL)
    }
    guard let bytes = readFully(file.number, atMost: Int(status.st_size)) else {
      throw .last(action)
    }
    return bytes
  }

  func exists(_ folder: Folder, _ name: String) -> Bool {
    faccessat(descriptor, "\(folder.rawValue)/\(name)", F_OK, 0) == 0
  }

  func remove(_ folder: Folder, _ name: String) {
    unlinkat(descriptor, "\(folder.rawValue)/\(name)", 0)
  }

  /// Writes a file, in place of an older one.
  func write(
    _ bytes: [UInt8], to folder: Folder, _ name: String, isKept: Bool = true
  ) throws(SystemError) {
    var file = try AsideFile(for: name, in: folder, self)
    try file.write(bytes, isKept: isKept)
    try file.take(name)
  }

  /// Writes a file if there is none of that name; false if there is. Of several who try at the same
  /// time, on any machine, one succeeds.
  func publish(_ bytes: [UInt8], as folder: Folder, _ name: String) throws(SystemError) -> Bool {
    let file = try AsideFile(for: name, in: folder, self)
    try file.write(bytes)
    return try file.takeIfFree(name)
  }

  /// The names in a folder, in one pass and no order, without those of files that are being written.
  func names(in folder: Folder) throws(SystemError) -> [String] {
    let list = openat(
      descriptor, folder.rawValue, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard list >= 0, let names = namesOfFiles(owning: list) else {
      throw .last("cannot list \(quoted(shown(folder)))")
    }
    return names.filter { $0.utf8.first != UInt8(ascii: ".") }
  }

  /// What changes when a file is added to a folder, or taken away; nil if it is not known.
  func stamp(of folder: Folder) -> FolderStamp? {
    var status = stat()
    guard fstatat(descriptor, folder.rawValue, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      return nil
    }
    return FolderStamp(seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
  }

  fileprivate func makeAside(_ place: String) -> Int32 {
    let file = openat(
      descriptor, place, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    var status = stat()
    // A mask of 0777 would prevent even its owner from reading it.
    if file >= 0, fstat(file, &status) == 0, status.st_mode & 0o600 != 0o600 {
      fchmod(file, 0o600)
    }
    return file
  }
}

/// When the list of files in a folder was changed last.
struct FolderStamp: Hashable {
  let seconds: Int
  let nanoseconds: Int
}

/// A file that is written under a name which nobody reads, until it gets its own. It is removed if it
/// never does.
struct AsideFile: ~Copyable {
  private let files: NodeFiles
  private let folder: NodeFiles.Folder
  private let file: Descriptor
  private let place: String
  private let shown: String
  private var isNamed = false

  init(
    for name: String, in folder: NodeFiles.Folder, _ files: NodeFiles
  ) throws(SystemError) {
    let ending = String(UInt64.random(in: 0...UInt64.max), radix: 36)
    let place = "\(folder.rawValue)/.\(name).\(ending)"
    let shown = files.shown(folder, name)
    let number = files.makeAside(place)
    guard number >= 0 else { throw .last("cannot write \(quoted(shown))") }
    file = Descriptor(owning: number)
    self.files = files
    self.folder = folder
    self.place = place
    self.shown = shown
  }

  deinit { if !isNamed { unlinkat(files.descriptor, place, 0) } }

  /// Makes sure, as far as the file system can, that this many bytes can be written later.
  func reserve(_ count: Int) { posix_fallocate(file.number, 0, off_t(count)) }

  /// Writes the whole content, and waits until it is kept whatever becomes of this machine.
  func write(_ bytes: [UInt8], isKept: Bool = true) throws(SystemError) {
    guard writeFully(bytes, to: file.number, at: 0) else { throw failure }
    guard ftruncate(file.number, off_t(bytes.count)) == 0, !isKept || fsync(file.number) == 0
    else {
      throw failure
    }
  }

  /// Gets its name, in place of an older file.
  mutating func take(_ name: String) throws(SystemError) {
    let own = "\(folder.rawValue)/\(name)"
    guard renameat(files.descriptor, place, files.descriptor, own) == 0 || has(own) else {
      throw failure
    }
    isNamed = true
  }

  /// Whether the name leads to this file. Over NFS a repeated request to rename fails if the answer to
  /// the first one was lost.
  private func has(_ name: String) -> Bool {
    let reason = errno
    defer { errno = reason }
    var own = stat()
    var there = stat()
    return fstat(file.number, &own) == 0
      && fstatat(files.descriptor, name, &there, AT_SYMLINK_NOFOLLOW) == 0
      && own.st_ino == there.st_ino && own.st_dev == there.st_dev
  }

  /// Gets its name if nobody has it; false if somebody does.
  ///
  /// Over NFS the answer to a request may be lost, and the repeated one fails although the first was
  /// carried out: the number of links tells (open(2), `O_EXCL`).
  func takeIfFree(_ name: String) throws(SystemError) -> Bool {
    let own = "\(folder.rawValue)/\(name)"
    if linkat(files.descriptor, place, files.descriptor, own, 0) == 0 { return true }
    let reason = errno
    var status = stat()
    if fstatat(files.descriptor, place, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_nlink == 2 {
      return true
    }
    switch reason {
    case EEXIST: return false
    // File systems without hard links.
    case EPERM, EOPNOTSUPP, ENOSYS, EXDEV: return try copyIfFree(own)
    default: throw SystemError("cannot write \(quoted(shown))", errno: reason)
    }
  }

  private func copyIfFree(_ own: String) throws(SystemError) -> Bool {
    let number = files.makeAside(own)
    guard number >= 0 else {
      if errno == EEXIST { return false }
      throw failure
    }
    let copy = Descriptor(owning: number)
    var status = stat()
    guard fstat(file.number, &status) == 0 else { throw failure }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let read = bytes.withUnsafeMutableBytes { readFully(file.number, into: $0, at: 0) }
    if read != nil, read != bytes.count { errno = EIO }
    guard read == bytes.count, writeFully(bytes, to: copy.number), fsync(copy.number) == 0 else {
      throw failure
    }
    return true
  }

  private var failure: SystemError { .last("cannot write \(quoted(shown))") }
}
