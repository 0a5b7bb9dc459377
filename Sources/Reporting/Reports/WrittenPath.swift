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

/// Opens a file to write, and makes the directories above it that are missing.
func openForWriting(_ path: String, _ flags: Int32) -> Int32 {
  let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0o666)
  guard file < 0, errno == ENOENT, makeDirectory(parent(of: path)) else { return file }
  return open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0o666)
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
