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
    /// The commands to run, by number.
    case tasks
    /// The job that a task belongs to.
    case claims
    /// Notes that a start of a task has begun.
    case starts
    /// The results of starts.
    case results
    /// Notes that a start was ended from outside, and none of its processes is left: it has no result.
    case stops
    /// The output of Slurm about its jobs.
    case jobs
  }

  /// The path of the folder, for people and for Slurm.
  let path: String
  let descriptor: Int32
  /// The word by which jobs know the folder, whatever path leads to it; nil in a folder of an older oprun.
  let word: String?

  /// The largest size of a file: 64 MiB. Larger ones were not written by oprun.
  private static let largestFile = 64 << 20

  /// Makes the missing parts of the folder, in the directory of a run.
  static func make(in run: String) throws(SystemError) -> NodeFiles {
    if let known = try find(in: run) { return known }
    let place = "\(run)/\(folderName)"
    try makeFolder(place)
    var status = stat()
    // Without the link, the folder counts as the original.
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
    // The owner can use the folder, whatever the mask.
    if access(place, R_OK | W_OK | X_OK) != 0 { chmod(place, 0o700) }
  }

  /// The name of a symbolic link that leads nowhere: its text is written, and read, as a whole.
  private static let wordName = "mark"

  /// The name of another such link, with the inode number of the folder, which a new name does not
  /// change, and the path where it was made.
  private static let placeName = "place"

  /// True if this is a copy of the folder that jobs know, or was moved to another file system: then
  /// they do not write here. Some file systems give other inode numbers now and then, so a folder
  /// that is where it was made is not a copy.
  var isCopy: Bool {
    var own = stat()
    guard let made = target(of: NodeFiles.placeName), let colon = made.firstIndex(of: ":"),
      fstat(descriptor, &own) == 0, made[..<colon] != String(own.st_ino)
    else { return false }
    var there = stat()
    return stat(String(made[made.index(after: colon)...]), &there) != 0
      || FileIdentity(there) != FileIdentity(own)
  }

  /// Like `open`, but nil if the folder does not exist, or was never complete.
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

  /// The text of a symbolic link.
  private static func target(of name: String, in folder: Int32) -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 64)
    let count = readlinkat(folder, name, &bytes, bytes.count)
    guard count > 0 else { return nil }
    return String(decoding: bytes[..<count].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { close(descriptor) }

  /// Removes everything that was written for nodes and by them; false, with `errno`, if it still exists.
  @discardableResult
  static func remove(from directory: RunDirectory) -> Bool { directory.removeFolder(folderName) }

  /// The same, in the directory of another run.
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

  /// Writes a file if there is none of that name; false if there is. Of several writers at the same
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

  /// A stamp that changes when a file is added to a folder, or removed; nil if it is not known.
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
    // A mask of 0777 would prevent even the owner from reading the file.
    if file >= 0, fstat(file, &status) == 0, status.st_mode & 0o600 != 0o600 {
      fchmod(file, 0o600)
    }
    return file
  }
}

/// The time of the last change of the list of files in a folder.
struct FolderStamp: Hashable {
  let seconds: Int
  let nanoseconds: Int
}

/// A file that is written under a name that nobody reads, until it gets its own. It is removed if it never does.
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

  /// Reserves room for this many bytes, as far as the file system can.
  func reserve(_ count: Int) { posix_fallocate(file.number, 0, off_t(count)) }

  /// Writes the whole content, and waits until it survives a failure of this machine.
  func write(_ bytes: [UInt8], isKept: Bool = true) throws(SystemError) {
    guard writeFully(bytes, to: file.number, at: 0) else { throw failure }
    guard ftruncate(file.number, off_t(bytes.count)) == 0, !isKept || fsync(file.number) == 0
    else {
      throw failure
    }
  }

  /// Gives the file its name, in place of an older file.
  mutating func take(_ name: String) throws(SystemError) {
    let own = "\(folder.rawValue)/\(name)"
    guard renameat(files.descriptor, place, files.descriptor, own) == 0 || has(own) else {
      throw failure
    }
    isNamed = true
  }

  /// True if the name leads to this file. Over NFS a repeated request to rename fails if the answer
  /// to the first one was lost.
  private func has(_ name: String) -> Bool {
    let reason = errno
    defer { errno = reason }
    var own = stat()
    var there = stat()
    return fstat(file.number, &own) == 0
      && fstatat(files.descriptor, name, &there, AT_SYMLINK_NOFOLLOW) == 0
      && own.st_ino == there.st_ino && own.st_dev == there.st_dev
  }

  /// Gives the file its name if that is free; false if it is not.
  ///
  /// Over NFS the answer to a request may be lost, and the repeated one fails although the first
  /// was carried out: the number of links tells (open(2), `O_EXCL`).
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
    // The file system has no hard links.
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
