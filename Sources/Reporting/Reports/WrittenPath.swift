// The path of a file that somebody has named for a report. Directories that are missing are made when it
// is written: a step may have made them by then.

package import Diagnostics
import Glibc

/// Fails if a file cannot be written, as far as that can be known before.
package func checkWritable(_ path: String) throws(SystemError) {
  var status = stat()
  if stat(path, &status) == 0 {
    let kind = status.st_mode & S_IFMT
    if kind == S_IFDIR { throw SystemError("cannot write \(quoted(path))", errno: EISDIR) }
    if kind != S_IFREG { return }
  }
  var folder = parent(of: path)
  while stat(folder, &status) != 0, errno == ENOENT, folder != "/", folder != "." {
    folder = parent(of: folder)
  }
  let isFolder = status.st_mode & S_IFMT == S_IFDIR
  if isFolder, access(folder, W_OK | X_OK) == 0 { return }
  throw SystemError("cannot write \(quoted(path))", errno: isFolder ? errno : ENOTDIR)
}

/// Opens a file to write, and makes the directories above it that are missing. Writes to it do not wait.
package func openForWriting(_ path: String, _ flags: Int32) -> Int32 {
  var file = openWithoutWaiting(path, flags)
  if file < 0, errno == ENOENT, makeDirectory(parent(of: path)) {
    file = openWithoutWaiting(path, flags)
  }
  return file
}

/// Opens a file to write, so that writes to it do not wait. A FIFO without a reader would be waited for without
/// an end, deaf to signals; this waits a moment, because its reader may be about to start.
package func openWithoutWaiting(_ path: String, _ flags: Int32) -> Int32 {
  let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags
  for _ in 0..<longestWait / pause {
    let file = open(path, flags, 0o666)
    guard file < 0, isUnread(path, errno) else { return file }
    usleep(useconds_t(pause * 1000))
  }
  errno = ENXIO
  return -1
}

/// Whether an error tells of a FIFO without a reader; for a socket in `/dev/fd` it is the same.
private func isUnread(_ path: String, _ error: Int32) -> Bool {
  guard error == ENXIO else { return false }
  defer { errno = error }
  return kind(of: path) == S_IFIFO
}

private func kind(of path: String) -> mode_t? {
  var status = stat()
  return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
}

/// Milliseconds for which somebody who reads a report may stop reading.
let longestPause: Int32 = 10_000
private let longestWait = 2000
private let pause = 10

/// The failure of these, from `errno`.
package func unwritable(_ path: String, _ error: Int32, what: String = "") -> SystemError {
  let reader =
    isUnread(path, error)
    ? ", which nobody reads"
    : error == EAGAIN ? ", which has accepted nothing for \(longestPause / 1000) s" : ""
  return SystemError("cannot write \(what)\(quoted(path))\(reader)", errno: error)
}

/// Whether a file gets its name when it is complete; anything else (a FIFO, `/dev/stdout`) is written directly.
func isReplaced(_ path: String) -> Bool {
  let kind = kind(of: path)
  return kind == nil || kind == S_IFREG
}

private func makeDirectory(_ path: String) -> Bool {
  if mkdir(path, 0o777) == 0 || errno == EEXIST { return true }
  guard errno == ENOENT, path != "/", path != ".", makeDirectory(parent(of: path)) else {
    return false
  }
  return mkdir(path, 0o777) == 0 || errno == EEXIST
}

private func parent(of path: String) -> String {
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
