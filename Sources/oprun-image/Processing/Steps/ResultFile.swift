// A result while it is written: a hidden file beside its final name, which it gets when it is whole and
// on the disk. So nobody ever sees a part of it.

import Diagnostics
import Glibc
import Synchronization

final class ResultFile: Sendable {
  let path: String
  let descriptor: Int32
  private let temporary: String
  private let isPublished = Atomic<Bool>(false)

  /// Makes the folder, too.
  init(_ path: String) throws(SystemError) {
    self.path = path
    try ResultFile.makeFolder(of: path)
    let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    let number = resultNumber.wrappingAdd(1, ordering: .relaxed).newValue
    temporary = path[..<slash] + ".oprun-\(getpid())-\(number).part"
    descriptor = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw SystemError("cannot write \(quoted(path))", errno: errno) }
  }

  deinit {
    if !isPublished.load(ordering: .relaxed) { unlink(temporary) }
    close(descriptor)
  }

  /// The content is on the disk when it gets its name.
  func publish() throws(SystemError) {
    guard fsync(descriptor) == 0, rename(temporary, path) == 0 else {
      throw SystemError("cannot write \(quoted(path))", errno: errno)
    }
    isPublished.store(true, ordering: .relaxed)
  }

  private static func makeFolder(of path: String) throws(SystemError) {
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
    let folder = String(path[..<slash])
    if mkdir(folder, 0o777) == 0 || errno == EEXIST { return }
    let error = errno
    if error == ENOENT {
      try makeFolder(of: folder)
      if mkdir(folder, 0o777) == 0 || errno == EEXIST { return }
    }
    throw SystemError("cannot make the folder \(quoted(folder))", errno: error)
  }
}

/// Makes temporary names of this process different.
private let resultNumber = Atomic<Int>(0)
