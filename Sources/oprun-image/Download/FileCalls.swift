// The system calls on files that downloads and the cache make, with errors in words.

import Diagnostics
import Glibc

/// An open file, closed with its last owner.
final class OpenFile: Sendable {
  let descriptor: Int32
  let path: String

  init(_ path: String, _ flags: Int32, mode: mode_t = 0o666) throws(SystemError) {
    descriptor = open(path, flags | O_CLOEXEC, mode)
    self.path = path
    guard descriptor >= 0 else { throw SystemError("cannot open \(quoted(path))", errno: errno) }
  }

  deinit { close(descriptor) }

  var status: stat {
    var status = stat()
    fstat(descriptor, &status)
    return status
  }

  var size: Int { Int(status.st_size) }

  func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
      if count > 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if count < 0, errno != EINTR {
        throw SystemError("cannot write \(quoted(path))", errno: errno)
      }
    }
  }

  func truncate() throws(SystemError) {
    guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
      throw SystemError("cannot empty \(quoted(path))", errno: errno)
    }
  }

  /// The content is on the disk when this returns.
  func synchronize() throws(SystemError) {
    guard fsync(descriptor) == 0 else {
      throw SystemError("cannot write \(quoted(path))", errno: errno)
    }
  }

  /// Reads all from the start on, in pieces.
  func readAll(_ take: (UnsafeRawBufferPointer) -> Void) throws(SystemError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
    defer { buffer.deallocate() }
    var offset = 0
    while true {
      let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
      if count == 0 { return }
      if count > 0 {
        take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        offset += count
      } else if errno != EINTR {
        throw SystemError("cannot read \(quoted(path))", errno: errno)
      }
    }
  }

  func digest() throws(SystemError) -> Digest {
    let hash = SHA256()
    try readAll { hash.update($0) }
    return hash.finish()
  }

  /// False if somebody else holds it. The kernel gives it back when the file is closed.
  func tryLock(_ kind: Int32) -> Bool { flock(descriptor, kind | LOCK_NB) == 0 }

  func lock(_ kind: Int32) {
    while flock(descriptor, kind) != 0, errno == EINTR {}
  }
}

/// What files are done to by name.
enum Files {
  static func rename(_ old: String, to new: String) throws(SystemError) {
    guard Glibc.rename(old, new) == 0 else {
      throw SystemError("cannot write \(quoted(new))", errno: errno)
    }
  }

  static func makeFolder(_ path: String, mode: mode_t = 0o777) throws(SystemError) {
    if path.isEmpty || mkdir(path, mode) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
      throw SystemError("cannot make the folder \(quoted(path))", errno: errno)
    }
    try makeFolder(String(path[..<slash]), mode: mode)
    guard mkdir(path, mode) == 0 || errno == EEXIST else {
      throw SystemError("cannot make the folder \(quoted(path))", errno: errno)
    }
  }

  /// Makes the folder that a file is to be in.
  static func makeFolder(of path: String, mode: mode_t = 0o777) throws(SystemError) {
    if let slash = path.lastIndex(of: "/") { try makeFolder(String(path[..<slash]), mode: mode) }
  }

  static func remove(_ path: String) { unlink(path) }

  static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// The names in a folder but `.` and `..`; none if it cannot be read.
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

  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// The whole of a small file; nil if there is none, or it is no file, or longer.
  static func text(of path: String, upTo limit: Int = 1 << 20) -> String? {
    guard let file = try? OpenFile(path, O_RDONLY | O_NOFOLLOW), file.size <= limit else {
      return nil
    }
    var bytes: [UInt8] = []
    guard (try? file.readAll { bytes += $0 }) != nil else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The whole of a file that the user has named; it can be a link or a pipe.
  static func namedText(of path: String, upTo limit: Int) throws(SystemError) -> String {
    let file = try OpenFile(path, O_RDONLY)
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = read(file.descriptor, &buffer, buffer.count)
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      if count < 0 {
        if errno == EINTR { continue }
        throw SystemError("cannot read \(quoted(path))", errno: errno)
      }
      bytes += buffer[..<count]
      guard bytes.count <= limit else {
        throw SystemError("cannot read \(quoted(path))", errno: EFBIG)
      }
    }
  }

  /// Replaces a file in one step.
  static func write(_ text: String, to path: String, mode: mode_t = 0o666) throws(SystemError) {
    let temporary = TemporaryFile.path(beside: path)
    do throws(SystemError) {
      let file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
      guard TemporaryFile.claim(file.descriptor) else {
        return try write(text, to: path, mode: mode)
      }
      let bytes = Array(text.utf8)
      let result = bytes.withUnsafeBytes { bytes in
        Result { () throws(SystemError) in try file.write(bytes) }
      }
      try result.get()
      try rename(temporary, to: path)
    } catch {
      remove(temporary)
      throw SystemError("cannot write \(quoted(path))", errno: error.errno)
    }
  }
}
