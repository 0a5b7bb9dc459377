// Writes files that people edit, too.

import Diagnostics
import Glibc
import Reporting
import RunFiles

/// Replaces a file as a whole: other programs see the old one or the new one. Its mode stays, its
/// owner if the system allows it, and a link to it still leads to it. What is not a regular file is
/// written to.
func replaceFile(_ path: String, with bytes: [UInt8]) throws(SystemError) {
  let action = "cannot write \(quoted(path))"
  let target = resolvedPath(path) ?? path
  var status = stat()
  guard stat(target, &status) == 0 else {
    return try write(bytes, through: target, mode: 0o666, action)
  }
  // Somebody may have made it read-only, although its directory is not.
  guard access(target, W_OK) == 0 else { throw SystemError(action, errno: errno) }
  guard status.st_mode & S_IFMT == S_IFREG else {
    let file = openForWriting(target, 0)
    guard file >= 0 else { throw unwritable(path, errno) }
    defer { close(file) }
    let sink = ByteSink(report: file)
    bytes.withUnsafeBytes { sink.write($0) }
    sink.flush()
    if sink.hasFailed { throw unwritable(path, sink.errorNumber) }
    return
  }
  try write(bytes, through: target, mode: 0o600, action) { file in
    _ = fchown(file, status.st_uid, status.st_gid)
    _ = fchmod(file, status.st_mode & 0o7777)
  }
}

/// Makes a new file and gives it the name of the old one.
private func write(
  _ bytes: [UInt8], through target: String, mode: mode_t, _ action: String,
  prepare: (Int32) -> Void = { _ in }
) throws(SystemError) {
  let temporary = "\(target).oprun-\(getpid())"
  let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
  guard file >= 0 else { throw SystemError(action, errno: errno) }
  prepare(file)
  var isDone = writeFully(bytes, to: file)
  var reason = errno
  if close(file) != 0, isDone { (isDone, reason) = (false, errno) }
  if isDone, rename(temporary, target) == 0 { return }
  if isDone { reason = errno }
  unlink(temporary)
  throw SystemError(action, errno: reason)
}

private func resolvedPath(_ path: String) -> String? {
  guard let resolved = realpath(path, nil) else { return nil }
  defer { free(resolved) }
  return String(cString: resolved)
}
