// A result while it is written: it gets its name when it is complete and on disk. So a partial
// result is never visible.

import CConfinement
import Diagnostics
import Glibc
import OperationKit

final class ResultFile: Sendable {
  let path: String
  let descriptor: Int32
  /// The hidden name that it has next to the final one; nil if it has none, or the final one.
  private let temporary: Guarded<String?>

  /// Creates the file and its directory. The file is unnamed if the file system allows that: then
  /// nothing is left of it, however this process ends. The leftovers of a named one are removed by
  /// the next run.
  init(_ path: String) throws(SystemError) {
    try Files.checkReplaceable(path)
    try Files.makeFolder(of: path)
    let folder = folder(ofPath: path)
    TemporaryFile.removeLeft(in: folder)
    var temporary: String?
    var descriptor = confinement_unnamed_file(folder.isEmpty ? "." : folder)
    if descriptor < 0 {
      (descriptor, temporary) = ResultFile.named(beside: path)
    } else {
      // The file has a temporary name for a moment.
      flock(descriptor, LOCK_EX | LOCK_NB)
    }
    guard descriptor >= 0 else { throw SystemError("cannot write \(quoted(path))", errno: errno) }
    self.path = path
    self.descriptor = descriptor
    self.temporary = Guarded(temporary)
  }

  /// Creates a file with a name that no other process has taken. Processes of other machines and
  /// containers can have our number.
  private static func named(beside path: String) -> (Int32, String?) {
    while true {
      let temporary = TemporaryFile.path(beside: path)
      let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
      let descriptor = Glibc.open(temporary, flags, 0o666)
      if descriptor >= 0, TemporaryFile.claim(descriptor) { return (descriptor, temporary) }
      if descriptor >= 0 {
        close(descriptor)
      } else if errno != EEXIST {
        return (-1, nil)
      }
    }
  }

  deinit {
    discard()
    close(descriptor)
  }

  /// Publishes the file. Its content is on disk when it gets its name.
  func publish() throws(SystemError) {
    let error: Int32 = temporary.withLock { temporary in
      guard fsync(descriptor) == 0, let name = temporary ?? nameGiven() else { return errno }
      temporary = name
      guard rename(name, path) == 0 else { return errno }
      temporary = nil
      return 0
    }
    if error != 0 { throw SystemError("cannot write \(quoted(path))", errno: error) }
  }

  /// Gives the file a temporary name; nil if that failed. An unnamed file is linked through the name
  /// of its descriptor: open(2), O_TMPFILE. Unlike renaming, that cannot replace another file in one
  /// step.
  private func nameGiven() -> String? {
    while true {
      let name = TemporaryFile.path(beside: path)
      let source = "/proc/self/fd/\(descriptor)"
      if linkat(AT_FDCWD, source, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 { return name }
      guard errno == EEXIST else { return nil }
    }
  }

  /// Removes the file, unless it is published.
  func discard() {
    let name = temporary.withLock { temporary in
      defer { temporary = nil }
      return temporary
    }
    if let name { Files.remove(name) }
  }
}
