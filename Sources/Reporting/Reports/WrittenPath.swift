// The path of a report as somebody has named it. Missing directories are made when it is written: a
// step may have made them by then.

package import Diagnostics
import Glibc

/// The target of a path, after all links. It need not exist.
struct WrittenPath {
  enum Kind {
    /// A file, or none so far: it can be replaced.
    case file
    /// A descriptor that was open when oprun was started.
    case descriptor(Int32)
    /// A FIFO or a device, or a file that another process has open.
    case other
  }

  let path: String
  let kind: Kind
  /// The status of the target; nil if it does not exist.
  let status: stat?

  /// The number of links that are followed, which is the kernel's.
  private static let mostLinks = 40

  init(_ path: String) throws(SystemError) {
    var target = path
    var status = stat()
    for _ in 0..<Self.mostLinks {
      // Only a directory can have that name, whether it exists or not.
      if target.hasSuffix("/") { throw unwritable(path, EISDIR) }
      guard lstat(target, &status) == 0 else {
        guard errno == ENOENT, !isInProc(parent(of: target)) else {
          throw unwritable(path, errno)
        }
        (self.path, kind, self.status) = (target, .file, nil)
        return
      }
      if isInProc(parent(of: target)) {
        (self.path, self.kind) = (target, try Self.kindInProc(target, named: path))
        self.status = stat(target, &status) == 0 ? status : nil
        return
      }
      switch status.st_mode & S_IFMT {
      case S_IFLNK:
        guard let next = linkTarget(target) else { throw unwritable(path, errno) }
        target = next
      case S_IFDIR: throw unwritable(path, EISDIR)
      case let kind:
        (self.path, self.kind, self.status) = (target, kind == S_IFREG ? .file : .other, status)
        return
      }
    }
    throw unwritable(path, ELOOP)
  }

  /// Fails if the target cannot be written, as far as that can be known before. The directory
  /// counts only if nothing exists yet: otherwise the file can be written to.
  func check(named name: String) throws(SystemError) {
    guard status == nil else {
      if access(path, W_OK) != 0 { throw unwritable(name, errno) }
      return
    }
    var folder = parent(of: path)
    var status = stat()
    while stat(folder, &status) != 0 {
      guard errno == ENOENT, folder != "/", folder != "." else { throw unwritable(name, errno) }
      folder = parent(of: folder)
    }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw unwritable(name, ENOTDIR) }
    if access(folder, W_OK | X_OK) != 0 { throw unwritable(name, errno) }
  }

  /// The kind of a link in `/proc/self/fd`: these lead to open files, whatever has their names by now.
  private static func kindInProc(_ path: String, named name: String) throws(SystemError) -> Kind {
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      throw unwritable(name, EISDIR)
    }
    guard let own = realPath("/proc/self/fd"), realPath(parent(of: path)) == own else {
      return .other
    }
    // What oprun has opened for itself, such as its database, is closed in other programs.
    guard let number = Int32(lastName(of: path)), case let flags = fcntl(number, F_GETFD),
      flags >= 0,
      flags & FD_CLOEXEC == 0
    else { throw unwritable(name, EBADF) }
    return .descriptor(number)
  }
}

/// An identity that is equal for two paths only if they lead to the same file, which need not
/// exist; nil for anything that several can write to.
package func identityOfFile(at path: String) -> String? {
  guard let target = try? WrittenPath(path), case .file = target.kind else { return nil }
  if let status = target.status { return "\(status.st_dev):\(status.st_ino)" }
  var folder = parent(of: target.path)
  var names = [lastName(of: target.path)]
  while realPath(folder) == nil, folder != "/", folder != "." {
    names.append(lastName(of: folder))
    folder = parent(of: folder)
  }
  return ([realPath(folder) ?? folder] + names.reversed()).joined(separator: "/")
}

/// Opens a file for writing, and makes the missing directories above it. Writes to it do not wait.
package func openForWriting(_ path: String, _ flags: Int32, mode: UInt32 = 0o666) -> Int32 {
  var file = openWithoutWaiting(path, flags, mode: mode)
  if file < 0, errno == ENOENT, makeDirectory(parent(of: path)) {
    file = openWithoutWaiting(path, flags, mode: mode)
  }
  return file
}

/// Opens a file for writing, so that writes to it do not wait. A plain open would wait without end
/// for the reader of a FIFO, deaf to signals; this waits a moment, because its reader may be about
/// to start.
package func openWithoutWaiting(_ path: String, _ flags: Int32, mode: UInt32 = 0o666) -> Int32 {
  let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags
  for _ in 0..<longestWait / pause {
    let file = open(path, flags, mode)
    guard file < 0, isUnread(path, errno) else { return file }
    usleep(useconds_t(pause * 1000))
  }
  errno = ENXIO
  return -1
}

/// True if an error reports a FIFO without a reader; for a socket in `/dev/fd` it is the same.
private func isUnread(_ path: String, _ error: Int32) -> Bool {
  guard error == ENXIO else { return false }
  defer { errno = error }
  return kind(of: path) == S_IFIFO
}

private func kind(of path: String) -> mode_t? {
  var status = stat()
  return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
}

/// The milliseconds for which the reader of a report may stop reading.
let longestPause: Int32 = 10_000
private let longestWait = 2000
private let pause = 10

/// The failure of these functions, from `errno`.
package func unwritable(_ path: String, _ error: Int32, what: String = "") -> SystemError {
  let reader =
    isUnread(path, error)
    ? ", which nobody reads"
    : error == EAGAIN ? ", which has accepted nothing for \(longestPause / 1000) s" : ""
  return SystemError("cannot write \(what)\(quoted(path))\(reader)", errno: error)
}

private func makeDirectory(_ path: String) -> Bool {
  if mkdir(path, 0o777) == 0 || errno == EEXIST { return true }
  guard errno == ENOENT, path != "/", path != ".", makeDirectory(parent(of: path)) else {
    return false
  }
  return mkdir(path, 0o777) == 0 || errno == EEXIST
}

func parent(of path: String) -> String {
  var end = path.endIndex
  func skip(while isSkipped: (Character) -> Bool) {
    while end > path.startIndex, isSkipped(path[path.index(before: end)]) {
      end = path.index(before: end)
    }
  }
  skip { $0 == "/" }
  skip { $0 != "/" }
  skip { $0 == "/" }
  if end > path.startIndex { return String(path[..<end]) }
  return path.hasPrefix("/") ? "/" : "."
}

private func lastName(of path: String) -> String {
  path.split(separator: "/").last.map(String.init) ?? ""
}

private func linkTarget(_ path: String) -> String? {
  let target = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
    guard let start = buffer.baseAddress else { return String?.none }
    let count = readlink(path, start, buffer.count)
    return count < 0
      ? nil : String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
  return target.map { $0.hasPrefix("/") ? $0 : "\(parent(of: path))/\($0)" }
}

/// True if a directory is in procfs, whose links are not names of files.
private func isInProc(_ folder: String) -> Bool {
  var (own, there) = (stat(), stat())
  return stat("/proc/self/fd", &own) == 0 && stat(folder, &there) == 0 && own.st_dev == there.st_dev
}
