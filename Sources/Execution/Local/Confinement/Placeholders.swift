// What is made before a confined command starts, because a rule can be given only to what exists.

import CLinux
import Glibc

/// Empty files and directories in the places of outputs. What the command does not touch is removed
/// afterwards: what was not made must not look as if it had been. Directories that only lead to outputs stay:
/// another step may have found one of them, and be about to make something in it.
struct Placeholders {
  private var made: [(path: String, isFolder: Bool)] = []

  /// A second after 1970 began. Whoever writes to a file, or makes something in a directory, changes
  /// this.
  private static let untouched = timespec(tv_sec: 1, tv_nsec: 0)

  /// Makes an empty file, unless there is something already or none can be made.
  mutating func addFile(_ path: String) {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let file = open(path, flags, 0o666)
    if file >= 0 { close(file) } else if !Placeholders.isUntouched((path, false)) { return }
    made.append((path, false))
  }

  /// Makes a directory that is an output, unless there is something already or none can be made. One that a
  /// killed run left counts as made.
  mutating func addFolder(_ path: String) {
    if made.contains(where: { $0.path == path }) { return }
    if makeFolder(path) || Placeholders.isUntouched((path, true)) { made.append((path, true)) }
  }

  /// Makes a directory and those that lead to it, as far as they are missing and can be made; false if it was
  /// there.
  @discardableResult
  func makeFolder(_ path: String) -> Bool {
    if path.isEmpty || access(path, F_OK) == 0 { return false }
    if let slash = path.lastIndex(of: "/") { makeFolder(String(path[..<slash])) }
    return mkdir(path, 0o777) == 0
  }

  /// Must be called when all of them are made: making one changes the directory that it is in.
  func mark() {
    let times = [Placeholders.untouched, Placeholders.untouched]
    for placeholder in made { utimensat(AT_FDCWD, placeholder.path, times, AT_SYMLINK_NOFOLLOW) }
  }

  func removeUntouched() {
    // Removing one changes the directory that it is in.
    for placeholder in made.filter(Placeholders.isUntouched).reversed() {
      if !placeholder.isFolder {
        unlink(placeholder.path)
      } else if rmdir(placeholder.path) != 0 {
        // It holds others that are used.
        utimensat(AT_FDCWD, placeholder.path, nil, AT_SYMLINK_NOFOLLOW)
      }
    }
  }

  private static func isUntouched(_ placeholder: (path: String, isFolder: Bool)) -> Bool {
    var status = stat()
    guard lstat(placeholder.path, &status) == 0,
      status.st_mtim.tv_sec == untouched.tv_sec, status.st_mtim.tv_nsec == untouched.tv_nsec
    else { return false }
    return placeholder.isFolder
      ? status.st_mode & S_IFMT == S_IFDIR
      : status.st_mode & S_IFMT == S_IFREG && status.st_size == 0
  }
}
