// The kind and the content of a file, to find out later whether it has changed.

import Glibc

/// Everything about a file on which a step may depend.
package struct FileContent: Hashable {
  private var kind = FileEntry.Kind.absent
  private var isExecutable = false
  private var target = ""
  private var digest = CacheDigest.none

  /// Nil if it cannot be read, or has more bytes than `longest`. The path is absolute.
  package init?(of path: String, longest: Int) {
    switch FileEntry.status(of: path, in: AT_FDCWD) {
    case .success(let status): kind = FileEntry.Kind(status.st_mode)
    case .failure(let error):
      if error.meansAbsent { return }
      return nil
    }
    if kind == .link {
      guard let target = FileInspector.target(of: path, in: AT_FDCWD) else { return nil }
      self.target = target
    }
    var status = stat()
    // The file behind a link counts, too; a link may lead to nothing.
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    isExecutable = status.st_mode & S_IXUSR != 0
    guard Int(status.st_size) <= longest else { return nil }
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    guard let digest = try? FileCopy.digest(of: file, path) else { return nil }
    self.digest = digest
  }
}
