// Files that are being put back. They have no names until they are complete, so a killed run leaves nothing. Where the
// file system can only make files with names, they have some that nothing else has, and are locked: what a killed run has
// left is told from what another one still writes, also where processes of both have the same numbers.

import Diagnostics
import Glibc
import RunFiles

enum PartFile {
  private static let mark = ".oprun-"
  private static let digitCount = 16
  /// The age of an abandoned link, in nanoseconds. A link gets its name at once and cannot be locked.
  private static let linkAge = 60_000_000_000

  static func isPart(_ name: String) -> Bool {
    guard name.hasPrefix(mark) else { return false }
    let digits = name.utf8.dropFirst(mark.utf8.count)
    return digits.count == digitCount && digits.allSatisfy("0123456789abcdef".utf8.contains)
  }

  static var newName: String { mark + randomName() }

  /// Makes a file without a name. -1, with `errno`, if that cannot be done.
  static func makeUnnamed(in folder: Int32) -> Int32 {
    // `O_TMPFILE` of <fcntl.h>.
    openat(folder, ".", 0o20_000_000 | O_DIRECTORY | O_RDWR | O_CLOEXEC, 0o600)
  }

  /// Gives such a file a name that is not taken; false, with `errno`, if that cannot be done.
  static func link(_ file: Int32, as name: String, in folder: Int32) -> Bool {
    linkat(AT_FDCWD, "/proc/self/fd/\(file)", folder, name, AT_SYMLINK_FOLLOW) == 0
  }

  /// Makes a file, which is locked until it is closed. -1, with `errno`, if that cannot be done.
  static func make(in folder: Int32) -> (file: Int32, name: String) {
    while true {
      let name = newName
      let file = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard file >= 0 else { return (-1, name) }
      // Somebody may have taken it for left over before it was locked.
      while flock(file, LOCK_EX) != 0, errno == EINTR {}
      var status = stat()
      if fstat(file, &status) != 0 || status.st_nlink > 0 { return (file, name) }
      close(file)
    }
  }

  /// Removes a part that nobody writes any more.
  static func removeLeftover(_ path: String, in root: Int32) {
    guard case .success(let status) = FileEntry.status(of: path, in: root) else { return }
    switch FileEntry.Kind(status.st_mode) {
    case .file:
      let file = openat(root, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      guard file >= 0 else { return }
      defer { close(file) }
      if flock(file, LOCK_SH | LOCK_NB) == 0 { unlinkat(root, path, 0) }
    case .link:
      if FileStamp(status).modified < FileStamp.now - linkAge { unlinkat(root, path, 0) }
    case .absent, .directory, .special: break
    }
  }
}
