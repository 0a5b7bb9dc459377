// The file system calls that downloads and the cache make, with errors in words.

import Diagnostics
import Glibc

/// An open file, closed with its last owner.
final class OpenFile: Sendable {
  let descriptor: Int32
  let path: String
  /// The name in messages.
  private let shown: String

  /// Opens a file. Messages name `shown` if it has only a name of our own for now.
  init(
    _ path: String, _ flags: Int32, mode: mode_t = 0o666, shownAs shown: String? = nil
  ) throws(SystemError) {
    descriptor = open(path, flags | O_CLOEXEC, mode)
    self.path = path
    self.shown = shown ?? path
    guard descriptor >= 0 else {
      throw SystemError("cannot open \(quoted(self.shown))", errno: errno)
    }
  }

  /// Opens a file that no other user can have put there: it belongs to this user, has one name, and
  /// is not a link, FIFO, device or directory. It never waits.
  static func own(
    _ path: String, _ flags: Int32, mode: mode_t = 0o600
  ) throws(SystemError) -> OpenFile {
    let file = try OpenFile(path, flags | O_NOFOLLOW | O_NONBLOCK, mode: mode)
    try file.checkKind()
    guard file.status.st_uid == geteuid() else {
      throw SystemError("cannot use \(quoted(path)), which belongs to another user", errno: EACCES)
    }
    return file
  }

  /// Opens a file for reading, following links. It never waits, as opening a FIFO would.
  static func regular(_ path: String) throws(SystemError) -> OpenFile {
    let file = try OpenFile(path, O_RDONLY | O_NONBLOCK)
    try file.checkKind()
    return file
  }

  private func checkKind() throws(SystemError) {
    guard let words = Files.words(ofKind: status.st_mode) else { return }
    throw SystemError("cannot use the \(words) \(quoted(path))", errno: ENOTSUP)
  }

  deinit { close(descriptor) }

  var status: stat {
    var status = stat()
    fstat(descriptor, &status)
    return status
  }

  var size: Int { Int(status.st_size) }

  func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    guard writeAll(bytes, to: descriptor) else {
      throw SystemError("cannot write \(quoted(shown))", errno: errno)
    }
  }

  func write(_ bytes: [UInt8]) throws(SystemError) {
    let result = bytes.withUnsafeBytes { bytes in
      Result { () throws(SystemError) in try write(bytes) }
    }
    try result.get()
  }

  /// Truncates the file; further writes go to its end.
  func truncate(to size: Int = 0) throws(SystemError) {
    guard ftruncate(descriptor, off_t(size)) == 0, lseek(descriptor, off_t(size), SEEK_SET) >= 0
    else { throw SystemError("cannot empty \(quoted(shown))", errno: errno) }
  }

  /// Synchronizes the file: its content is on disk when this returns.
  func synchronize() throws(SystemError) {
    guard fsync(descriptor) == 0 else {
      throw SystemError("cannot write \(quoted(shown))", errno: errno)
    }
  }

  /// Reads from the start, in pieces: everything, or only the first bytes up to a limit.
  func readAll(
    upTo limit: Int = .max, _ take: (UnsafeRawBufferPointer) -> Void
  ) throws(SystemError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
    defer { buffer.deallocate() }
    var offset = 0
    while offset < limit {
      let wanted = min(buffer.count, limit - offset)
      let count = pread(descriptor, buffer.baseAddress, wanted, off_t(offset))
      if count == 0 { return }
      if count > 0 {
        take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        offset += count
      } else if errno != EINTR {
        throw SystemError("cannot read \(quoted(shown))", errno: errno)
      }
    }
  }

  func digest() throws(SystemError) -> Digest {
    let hash = SHA256()
    try readAll { hash.update($0) }
    return hash.finish()
  }

  /// Takes a lock; false if another process holds it. The kernel releases it when the file is
  /// closed.
  func tryLock(_ kind: Int32) -> Bool { flock(descriptor, kind | LOCK_NB) == 0 }

  func lock(_ kind: Int32) {
    while flock(descriptor, kind) != 0, errno == EINTR {}
  }
}

/// Operations on files by name.
enum Files {
  static func rename(_ old: String, to new: String) throws(SystemError) {
    guard Glibc.rename(old, new) == 0 else {
      throw SystemError("cannot write \(quoted(new))", errno: errno)
    }
  }

  static func makeFolder(_ path: String, mode: mode_t = 0o777) throws(SystemError) {
    if path.isEmpty || mkdir(path, mode) == 0 || errno == EEXIST { return }
    let parent = String(folder(ofPath: path).dropLast())
    guard errno == ENOENT, !parent.isEmpty else {
      throw SystemError("cannot create the directory \(quoted(path))", errno: errno)
    }
    try makeFolder(parent, mode: mode)
    guard mkdir(path, mode) == 0 || errno == EEXIST else {
      throw SystemError("cannot create the directory \(quoted(path))", errno: errno)
    }
  }

  /// Creates the directory for a file.
  static func makeFolder(of path: String, mode: mode_t = 0o777) throws(SystemError) {
    try makeFolder(String(folder(ofPath: path).dropLast()), mode: mode)
  }

  static func remove(_ path: String) { unlink(path) }

  static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// The names in a directory except `.` and `..`; none if it cannot be read.
  static func names(in folder: String) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// True if anything has this name, even a link that leads nowhere.
  static func isTaken(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// What exists in place of a file, in words; nil if it is a file.
  static func words(ofKind mode: mode_t) -> String? {
    switch mode & S_IFMT {
    case S_IFREG: nil
    case S_IFDIR: "directory"
    case S_IFIFO: "FIFO"
    case S_IFSOCK: "socket"
    case S_IFLNK: "link"
    default: "device"
    }
  }

  /// Throws if a file of this name would replace something other than a file. A link is replaced,
  /// unless it leads to such a thing.
  static func checkReplaceable(_ path: String) throws(SystemError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    let isLink = status.st_mode & S_IFMT == S_IFLNK
    if isLink {
      // A name such as /dev/stdout, for something that a process has open.
      if linkText(path).hasPrefix("/proc/") {
        throw SystemError("cannot replace \(quoted(path)), a link to an open file", errno: ENOTSUP)
      }
      guard stat(path, &status) == 0 else { return }
    }
    guard let words = words(ofKind: status.st_mode) else { return }
    if words == "directory" { throw SystemError("cannot write \(quoted(path))", errno: EISDIR) }
    throw SystemError(
      "cannot replace "
        + (isLink ? "\(quoted(path)), a link to a \(words)" : "the \(words) \(quoted(path))"),
      errno: ENOTSUP)
  }

  private static func linkText(_ path: String) -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(path, &buffer, buffer.count)
    return String(
      decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// The whole of a small file that no other user can have written; nil if there is none, or it is
  /// not a file, or is longer.
  static func text(of path: String, upTo limit: Int = 1 << 20) -> String? {
    guard let file = try? OpenFile.own(path, O_RDONLY), file.size <= limit,
      file.status.st_mode & (S_IWGRP | S_IWOTH) == 0
    else { return nil }
    var bytes: [UInt8] = []
    guard (try? file.readAll { bytes += $0 }) != nil else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The whole of a file that the user has named; it can be a link or a pipe. If no process begins
  /// to write to a FIFO within the patience, in milliseconds, this fails.
  static func namedText(
    of path: String, upTo limit: Int, patience: Int32 = 30_000
  ) throws(SystemError) -> String {
    let file = try OpenFile(path, O_RDONLY | O_NONBLOCK)
    let link = linkText("/proc/self/fd/\(file.descriptor)")
    // A pipe without a name has had a writer from its beginning, which may take its time.
    if file.status.st_mode & S_IFMT == S_IFIFO, !link.hasPrefix("pipe:") {
      // Before there has been a writer, poll(2) does not report the lack of one as the end.
      var waiting = pollfd(fd: file.descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, patience) != 0 else {
        throw SystemError("no program writes to the FIFO \(quoted(path))", errno: ETIMEDOUT)
      }
    }
    return try text(read: file.descriptor, named: quoted(path), upTo: limit)
  }

  /// The rest of standard input.
  static func inputText(upTo limit: Int) throws(SystemError) -> String {
    try text(read: STDIN_FILENO, named: "standard input", upTo: limit)
  }

  /// Everything that can still be read, however long that takes. Bytes that are not UTF-8 are
  /// represented as in file names.
  private static func text(
    read descriptor: Int32, named name: String, upTo limit: Int
  ) throws(SystemError) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count == 0 { return String(validating: bytes, as: UTF8.self) ?? ByteText.text(of: bytes) }
      if count < 0 {
        // Standard input shares its flags with other processes, so it may be non-blocking, too.
        if errno == EAGAIN {
          var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
          poll(&waiting, 1, -1)
          continue
        }
        if errno == EINTR { continue }
        throw SystemError("cannot read \(name)", errno: errno)
      }
      bytes += buffer[..<count]
      guard bytes.count <= limit else { throw SystemError("cannot read \(name)", errno: EFBIG) }
    }
  }

  /// Replaces a file in one step.
  static func write(_ text: String, to path: String, mode: mode_t = 0o666) throws(SystemError) {
    var temporary: String?
    do throws(SystemError) {
      let file = try TemporaryFile.make(beside: path, mode: mode)
      temporary = file.path
      try file.write(Array(text.utf8))
      try rename(file.path, to: path)
    } catch {
      if let temporary { remove(temporary) }
      throw SystemError("cannot write \(quoted(path))", errno: error.errno)
    }
  }
}
