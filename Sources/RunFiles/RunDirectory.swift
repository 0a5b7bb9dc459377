// The directory of one run. It is opened once, and every file in it is reached through that
// descriptor: whatever happens to the path during the run changes nothing.

package import Diagnostics
package import Glibc

/// The open directory of a run, `.oprun/runs/<run>`.
///
/// Only its owner can access it. A file in it that has a name used by oprun but was not created by
/// oprun was put there by a command of the run; it is neither followed, nor waited for, nor written
/// to.
package final class RunDirectory {
  /// The path for people and for the variables of commands: as given, or relative to where oprun
  /// was started.
  package let path: String
  /// The logs of the commands that are running.
  package let logs = RunLogs()
  /// True if files are created with a mode that prevents even their owner from using them: `umask
  /// 0777`.
  package let mendsModes: Bool
  /// The state directory that contains it; nil in tests that need none.
  package let state: StateFolder?
  /// Owned by the directory.
  package let descriptor: Int32
  /// The open file with the locks of this process; -1 if it has none.
  var lockFile: Int32 = -1
  /// Why the last attempt to lock failed, if not because another process has the lock: for the
  /// moment only, or for this process only.
  package internal(set) var lockFailure: SystemError?

  /// Takes ownership of the descriptor. `umask` is the mask with which files are created.
  package init(
    owning descriptor: Int32, path: String, umask: mode_t = 0, state: StateFolder? = nil
  ) {
    self.path = path
    self.descriptor = descriptor
    self.state = state
    mendsModes = umask & 0o600 != 0
  }

  deinit {
    close(descriptor)
    giveBackLocks()
  }

  package func path(of name: String) -> String { "\(path)/\(name)" }

  /// Creates a file to read and write, and returns its descriptor, which the caller owns. Anything
  /// in its place is removed.
  package func make(_ name: String, replacing: Bool = true) throws(SystemError) -> Int32 {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    var file = openat(descriptor, name, flags, 0o600)
    if file < 0, errno == EEXIST, replacing, remove(name) {
      file = openat(descriptor, name, flags, 0o600)
    }
    guard file >= 0 else {
      throw SystemError("cannot write \(quoted(path(of: name)))", errno: errno)
    }
    if mendsModes { fchmod(file, 0o600) }
    return file
  }

  /// Creates a named pipe.
  package func makePipe(_ name: String) throws(SystemError) {
    guard mkfifoat(descriptor, name, 0o600) == 0 else {
      throw SystemError("cannot create \(quoted(path(of: name)))", errno: errno)
    }
    if mendsModes { fchmodat(descriptor, name, 0o600, 0) }
  }

  /// Opens a file that a command may have made, without following a link or waiting for the other
  /// end of a FIFO. The caller owns the descriptor; the result is -1, with `errno`, if there is
  /// nothing to open.
  package func open(_ name: String) -> Int32 {
    openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
  }

  /// Removes a file of any kind, or an empty directory. Returns false, with `errno`, if it is still
  /// there.
  @discardableResult
  package func remove(_ name: String) -> Bool {
    if unlinkat(descriptor, name, 0) == 0 || errno == ENOENT { return true }
    return errno == EISDIR && unlinkat(descriptor, name, AT_REMOVEDIR) == 0
  }

  /// Creates a directory that only its owner can access; nothing may be there.
  package func makeFolder(_ name: String) throws(SystemError) {
    guard mkdirat(descriptor, name, 0o700) == 0 else {
      throw SystemError("cannot create \(quoted(path(of: name)))", errno: errno)
    }
    if mendsModes { fchmodat(descriptor, name, 0o700, 0) }
  }

  /// Removes a directory with everything in it, without following links. Returns false, with `errno`,
  /// if it is still there.
  @discardableResult
  package func removeFolder(_ name: String) -> Bool { removeTree(name, in: descriptor) }

  /// The log of a command that has ended, if it is the file that the command's output was written
  /// to.
  package func log(
    _ name: String, writtenTo identity: FileIdentity
  ) throws(LogReadFailure) -> LogFile {
    let file = open(name)
    guard file >= 0 else { throw LogReadFailure(errno: errno) }
    guard let log = LogFile(opened: file), log.identity == identity else { throw .replaced }
    return log
  }

  /// The log of a command of a finished run, which nothing but its name identifies any more; nil if
  /// there is none, or something else has its name.
  package func log(_ name: String) -> LogFile? {
    let file = open(name)
    guard file >= 0 else { return nil }
    return LogFile(opened: file)
  }

  /// True if the name still leads to the file, or if that cannot be determined.
  package func holds(_ log: LogFile, as name: String) -> Bool {
    var status = stat()
    guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      return errno != ENOENT
    }
    return FileIdentity(status) == log.identity
  }

  /// The last component of the path, which is the id of the run.
  package var name: String {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.index(after: $0)...]) }
      ?? path
  }

  /// The socket at which the run listens for requests, as a path for programs: it works however
  /// long the path of the directory is, and whatever leads there by now.
  package var controlPath: String { "/proc/self/fd/\(descriptor)/\(RunDirectory.controlName)" }

  /// The name of the socket; no step can have it.
  package static let controlName = "@control"

  /// The names of the files in the directory.
  package var names: [String] { state?.names(in: "runs/\(name)") ?? [] }

  /// When the last file was created or removed, and whether the directory itself was removed; nil
  /// if the kernel does not say.
  package var change: (at: timespec, isRemoved: Bool)? {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    return (status.st_mtim, status.st_nlink == 0)
  }

  /// True if the path still leads here, with no link in place of the directory or of the one around
  /// it, or if that cannot be determined.
  package var isInPlace: Bool {
    var own = stat()
    var there = stat()
    if fstat(descriptor, &own) != 0 { return errno != ESTALE }
    if lstat(path, &there) == 0 { return FileIdentity(there) == FileIdentity(own) && !isBelowLink }
    return ![ENOENT, ENOTDIR, ELOOP, ESTALE].contains(errno)
  }

  private var isBelowLink: Bool {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else {
      return false
    }
    var parent = stat()
    return lstat(String(path[..<slash]), &parent) == 0 && parent.st_mode & S_IFMT == S_IFLNK
  }
}

/// Why a log cannot be shown.
package struct LogReadFailure: Error, Hashable, Sendable {
  /// The reason in words: `it was removed or replaced`.
  package let reason: String

  package static let replaced = LogReadFailure(reason: "it was removed or replaced")
  package static let neverWritten = LogReadFailure(reason: "it could not be written")

  private init(reason: String) { self.reason = reason }

  init(errno: Int32) {
    // A link in place of the log gives ELOOP, a socket ENXIO.
    let isGone = [ENOENT, ELOOP, ENXIO].contains(errno)
    self = isGone ? .replaced : LogReadFailure(reason: SystemError.reason(errno))
  }
}
