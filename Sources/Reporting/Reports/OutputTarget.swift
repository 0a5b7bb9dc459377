// Targets for what a run writes for programs, and whole files that others may read or edit at any
// time. It knows bytes, not their meaning.

package import Diagnostics
import Glibc

/// A path that is examined before a run and written at its end.
///
/// Other programs see a replaced file as it was, or complete; its mode stays, its owner and its group if the system
/// allows it, and a link to it still leads to it. A FIFO, a device or an open descriptor is written to.
package final class OutputTarget {
  private let path: String
  /// A descriptor that was open when oprun was started; negative for anything else. Descriptors
  /// that oprun opens itself can be told from it only before a command is started.
  private let descriptor: Int32

  /// Fails if the path cannot be written, as far as that can be known.
  package init(_ path: String) throws(SystemError) {
    self.path = path
    let target = try WrittenPath(path)
    guard case .descriptor(let number) = target.kind else {
      descriptor = -1
      try target.check(named: path)
      return
    }
    descriptor = reopened(number)
    guard descriptor >= 0 else { throw unwritable(path, errno) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// True if something can be written before the run is over. A missing directory may be made by a
  /// step, which would then find it.
  var acceptsDrafts: Bool {
    guard descriptor < 0, let target = try? WrittenPath(path), case .file = target.kind else {
      return false
    }
    var status = stat()
    return stat(parent(of: target.path), &status) == 0
  }

  /// Writes a draft that is replaced later, if its directory exists.
  func writeDraft(_ write: (ByteSink) -> Void) {
    try? replaceFile(path, makesDirectories: false, with: write)
  }

  /// Lets `write` write the contents, perhaps a second time if they did not reach their place.
  func replace(with write: (ByteSink) -> Void) throws(SystemError) {
    guard descriptor >= 0 else { return try replaceFile(path, with: write) }
    let error = pass(to: descriptor, write)
    if error != 0 { throw unwritable(path, error) }
  }

  /// Appends bytes to those of others; `bytes` is given their number, if the target is a file.
  func append(_ bytes: (Int) -> [UInt8]) throws(SystemError) {
    try append { (file: Int32) in bytes(size(of: file)) }
  }

  /// Appends lines to those of others, the last of which may lack its end.
  func append(lines: String) throws(SystemError) {
    try append { (file: Int32) in
      (lines.isEmpty || endsWithLine(file) ? [] : [UInt8(ascii: "\n")]) + Array(lines.utf8)
    }
  }

  private func append(_ bytes: (Int32) -> [UInt8]) throws(SystemError) {
    let file = descriptor >= 0 ? descriptor : openForWriting(path, O_APPEND)
    guard file >= 0 else { throw unwritable(path, errno) }
    defer { if file != descriptor { close(file) } }
    let added = bytes(file)
    let error = pass(to: file) { sink in added.withUnsafeBytes { sink.write($0) } }
    if error != 0 { throw unwritable(path, error) }
  }
}

/// Replaces a file as a whole.
package func replaceFile(_ path: String, with bytes: [UInt8]) throws(SystemError) {
  try replaceFile(path) { sink in bytes.withUnsafeBytes { sink.write($0) } }
}

/// Replaces a file by the output of `write`.
private func replaceFile(
  _ path: String, makesDirectories: Bool = true, with write: (ByteSink) -> Void
) throws(SystemError) {
  let target = try WrittenPath(path)
  let error: Int32
  switch target.kind {
  case .file:
    // Somebody may have made the file read-only, although its directory is not.
    if target.status != nil, access(target.path, W_OK) != 0 { throw unwritable(path, errno) }
    let refusal = replace(target, makesDirectories, with: write)
    // The file is a mount point, or its directory belongs to somebody else.
    let canOverwrite =
      target.status != nil && [EACCES, EPERM, EROFS, EBUSY, EXDEV].contains(refusal)
    error =
      canOverwrite
      ? passAndClose(to: open(target.path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NONBLOCK), write)
      : refusal
  case .descriptor(let number): error = passAndClose(to: reopened(number), write)
  case .other: error = passAndClose(to: openForWriting(target.path, O_APPEND), write)
  }
  if error != 0 { throw unwritable(path, error) }
}

/// Puts a new file in the place of another one; returns the error, or 0.
private func replace(
  _ target: WrittenPath, _ makesDirectories: Bool, with write: (ByteSink) -> Void
) -> Int32 {
  // The name of the file itself may be as long as a name can be.
  let number = hexadecimal(.random(in: .min ... .max), digits: 16)
  let temporary = "\(parent(of: target.path))/.oprun-\(number)"
  let mode: UInt32 = target.status == nil ? 0o666 : 0o600
  let file =
    makesDirectories
    ? openForWriting(temporary, O_EXCL | O_NOFOLLOW, mode: mode)
    : openWithoutWaiting(temporary, O_EXCL | O_NOFOLLOW, mode: mode)
  guard file >= 0 else { return errno }
  if let status = target.status { keepAccess(status, of: file) }
  var error = passAndClose(to: file, write)
  if error == 0, rename(temporary, target.path) != 0 { error = errno }
  if error != 0 { unlink(temporary) }
  return error
}

/// Keeps the owner, group and mode of a file. Only root can give a file to somebody else; to a
/// group, its members can, too. Another group does not get the rights of the old one.
private func keepAccess(_ status: stat, of file: Int32) {
  var mode = status.st_mode & 0o7777
  if fchown(file, status.st_uid, status.st_gid) != 0, fchown(file, .max, status.st_gid) != 0 {
    var own = stat()
    if fstat(file, &own) != 0 || own.st_gid != status.st_gid { mode &= ~0o2070 }
  }
  fchmod(file, mode)
}

/// Writes to a descriptor; returns the error, or 0.
private func pass(to descriptor: Int32, _ write: (ByteSink) -> Void) -> Int32 {
  let sink = ByteSink(report: descriptor)
  write(sink)
  sink.flush()
  return sink.errorNumber
}

/// Writes to a descriptor that was just opened, and closes it; negative if opening failed.
private func passAndClose(to descriptor: Int32, _ write: (ByteSink) -> Void) -> Int32 {
  guard descriptor >= 0 else { return errno }
  let error = pass(to: descriptor, write)
  let isClosed = close(descriptor) == 0
  return error != 0 || isClosed ? error : errno
}

/// Opens a descriptor again that somebody else has opened, so that writing does not wait. In a
/// file, each writer goes on where the last one has stopped. A socket, and what belongs to somebody
/// else, can only be used as it is.
private func reopened(_ number: Int32) -> Int32 {
  var status = stat()
  let isFile = fstat(number, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  let file = isFile ? -1 : openForWriting("/proc/self/fd/\(number)", O_APPEND)
  if file >= 0 { return file }
  let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
  guard copy >= 0, fcntl(copy, F_GETFL) & O_ACCMODE == O_RDONLY else { return copy }
  close(copy)
  errno = EBADF
  return -1
}

/// True if appended text begins a line, and for anything but a file that can be read.
private func endsWithLine(_ descriptor: Int32) -> Bool {
  let end = size(of: descriptor)
  if end == 0 { return true }
  let file = open("/proc/self/fd/\(descriptor)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
  if file < 0 { return true }
  defer { close(file) }
  var last: UInt8 = 0
  return pread(file, &last, 1, off_t(end - 1)) != 1 || last == UInt8(ascii: "\n")
}

/// The size of a file, in bytes; 0 for anything else.
private func size(of descriptor: Int32) -> Int {
  var status = stat()
  let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  return isFile ? Int(status.st_size) : 0
}
