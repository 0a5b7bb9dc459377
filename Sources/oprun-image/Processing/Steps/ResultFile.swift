// A result while it is written: a hidden file beside its final name, which it gets when it is whole and
// on the disk. So nobody ever sees a part of it.

import Diagnostics
import Glibc
import Synchronization

final class ResultFile: Sendable {
  let path: String
  private let temporary: OpenFile
  private let isPublished = Atomic<Bool>(false)

  /// Makes the folder, too.
  init(_ path: String) throws(SystemError) {
    self.path = path
    try Files.makeFolder(of: path)
    let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    let number = resultNumber.wrappingAdd(1, ordering: .relaxed).newValue
    temporary = try OpenFile(
      path[..<slash] + ".oprun-\(getpid())-\(number).part",
      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
  }

  deinit {
    if !isPublished.load(ordering: .relaxed) { Files.remove(temporary.path) }
  }

  var descriptor: Int32 { temporary.descriptor }

  /// The content is on the disk when it gets its name.
  func publish() throws(SystemError) {
    try temporary.synchronize()
    try Files.rename(temporary.path, to: path)
    isPublished.store(true, ordering: .relaxed)
  }
}

/// Makes temporary names of this process different.
private let resultNumber = Atomic<Int>(0)
