// A result while it is written: it gets its name when it is whole and on the disk. So nobody ever sees a
// part of it.

import CConfinement
import Diagnostics
import Glibc
import Synchronization

final class ResultFile: Sendable {
  let path: String
  let descriptor: Int32
  /// Beside the final name, hidden.
  private let temporary: String
  /// Whether there is such a name now.
  private let isNamed: Atomic<Bool>

  /// Makes the folder, too. The file has no name if the file system allows that: then nothing is left
  /// of it, however this process ends.
  init(_ path: String) throws(SystemError) {
    try Files.makeFolder(of: path)
    let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    let number = resultNumber.wrappingAdd(1, ordering: .relaxed).newValue
    let folder = String(path[..<slash])
    let temporary = "\(folder).oprun-\(getpid())-\(number).part"
    var descriptor = confinement_unnamed_file(folder.isEmpty ? "." : folder)
    let isNamed = descriptor < 0
    if isNamed {
      descriptor = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
    }
    guard descriptor >= 0 else { throw SystemError("cannot write \(quoted(path))", errno: errno) }
    self.path = path
    self.descriptor = descriptor
    self.temporary = temporary
    self.isNamed = Atomic(isNamed)
  }

  deinit {
    discard()
    close(descriptor)
  }

  /// The content is on the disk when it gets its name.
  func publish() throws(SystemError) {
    let isNamed = isNamed.load(ordering: .relaxed)
    guard fsync(descriptor) == 0, isNamed || giveName(), rename(temporary, path) == 0 else {
      throw SystemError("cannot write \(quoted(path))", errno: errno)
    }
    self.isNamed.store(false, ordering: .relaxed)
  }

  /// A file without a name is linked through the name of its descriptor: open(2), O_TMPFILE. It cannot
  /// take the place of another file in one step, as renaming does.
  private func giveName() -> Bool {
    let source = "/proc/self/fd/\(descriptor)"
    guard linkat(AT_FDCWD, source, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) == 0 else {
      return false
    }
    isNamed.store(true, ordering: .relaxed)
    return true
  }

  /// Leaves nothing, unless it is published.
  func discard() {
    if isNamed.exchange(false, ordering: .relaxed) { Files.remove(temporary) }
  }
}

/// Makes temporary names of this process different.
private let resultNumber = Atomic<Int>(0)
