// A result while it is written: it gets its name when it is complete and on disk. So a partial
// result is never visible.

import CConfinement
import Diagnostics
import Glibc
import Synchronization

final class ResultFile: Sendable {
  let path: String
  let descriptor: Int32
  /// The hidden name next to the final one.
  private let temporary: String
  /// Whether it currently has that name.
  private let isNamed: Atomic<Bool>

  /// Creates the file and its folder. The file is unnamed if the file system allows that: then
  /// nothing is left of it, however this process ends. The leftovers of a named one are removed by
  /// the next run.
  init(_ path: String) throws(SystemError) {
    try Files.checkReplaceable(path)
    try Files.makeFolder(of: path)
    let folder = TemporaryFile.folder(of: path)
    TemporaryFile.removeLeft(in: folder)
    var temporary = TemporaryFile.path(beside: path)
    var descriptor = confinement_unnamed_file(folder.isEmpty ? "." : folder)
    let isNamed = descriptor < 0
    if isNamed {
      descriptor = ResultFile.open(temporary)
      while descriptor >= 0, !TemporaryFile.claim(descriptor) {
        close(descriptor)
        temporary = TemporaryFile.path(beside: path)
        descriptor = ResultFile.open(temporary)
      }
    } else {
      // It has a temporary name for a moment.
      flock(descriptor, LOCK_EX | LOCK_NB)
    }
    guard descriptor >= 0 else { throw SystemError("cannot write \(quoted(path))", errno: errno) }
    self.path = path
    self.descriptor = descriptor
    self.temporary = temporary
    self.isNamed = Atomic(isNamed)
  }

  private static func open(_ path: String) -> Int32 {
    Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
  }

  deinit {
    discard()
    close(descriptor)
  }

  /// Publishes the file. Its content is on disk when it gets its name.
  func publish() throws(SystemError) {
    let isNamed = isNamed.load(ordering: .relaxed)
    guard fsync(descriptor) == 0, isNamed || giveName(), rename(temporary, path) == 0 else {
      throw SystemError("cannot write \(quoted(path))", errno: errno)
    }
    self.isNamed.store(false, ordering: .relaxed)
  }

  /// Gives the file its temporary name. An unnamed file is linked through the name of its
  /// descriptor: open(2), O_TMPFILE. Unlike renaming, that cannot replace another file in one step.
  private func giveName() -> Bool {
    let source = "/proc/self/fd/\(descriptor)"
    guard linkat(AT_FDCWD, source, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) == 0 else {
      return false
    }
    isNamed.store(true, ordering: .relaxed)
    return true
  }

  /// Removes the file, unless it is published.
  func discard() {
    if isNamed.exchange(false, ordering: .relaxed) { Files.remove(temporary) }
  }
}
