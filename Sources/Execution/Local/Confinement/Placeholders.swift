// Placeholders for outputs, made before a confined command starts, because a rule can be given only
// to what exists.

import CLinux
import Caching
import Diagnostics
import Glibc

/// Empty files and directories in the places of outputs. Placeholders that the command does not
/// touch are removed afterwards, so that they do not look like outputs. Directories that only lead
/// to outputs stay: another step may have found one of them, and be about to make something in it.
struct Placeholders {
  private struct Placeholder {
    let path: String
    let isFolder: Bool
    /// The state when the placeholder was marked.
    var stamp: Stamp?
  }

  /// The times and the size of a placeholder. Writing to a file, or making something in a
  /// directory, changes both times. Nobody can set `changed`.
  private struct Stamp: Equatable {
    let number: ino_t
    let changed: Time
    let modified: Time
    let size: off_t?

    init?(of path: String, isFolder: Bool) {
      var status = stat()
      guard lstat(path, &status) == 0,
        status.st_mode & S_IFMT == (isFolder ? S_IFDIR : S_IFREG)
      else { return nil }
      self.init(status, isFolder: isFolder)
    }

    /// The size does not count for a directory.
    init(_ status: stat, isFolder: Bool) {
      number = status.st_ino
      changed = Time(status.st_ctim)
      modified = Time(status.st_mtim)
      size = isFolder ? nil : status.st_size
    }

    /// True if this is the stamp of an empty file, or of a directory, that nobody has touched since it was marked.
    var isMarked: Bool { modified == Time(markTime) && (size ?? 0) == 0 }
  }

  private struct Time: Equatable {
    let seconds: Int
    let nanoseconds: Int

    init(_ time: timespec) {
      seconds = time.tv_sec
      nanoseconds = time.tv_nsec
    }
  }

  private var made: [Placeholder] = []

  /// The time that identifies placeholders left by a killed run. Files of some package managers have a whole second.
  private static let markTime = timespec(tv_sec: 1, tv_nsec: 987_654_321)

  /// Makes an empty file with the directories that lead to it, unless something is there or it
  /// cannot be made. The file is marked at once, and by its descriptor: another file may come in
  /// its place at any time.
  mutating func addFile(_ path: String) {
    let common = O_WRONLY | O_NOFOLLOW | O_CLOEXEC
    var file = open(path, common | O_CREAT | O_EXCL, 0o666)
    if file < 0, errno == ENOENT {
      makeFolder(around: path)
      file = open(path, common | O_CREAT | O_EXCL, 0o666)
    }
    if file < 0, errno == EEXIST, Placeholders.wasLeft(path, isFolder: false) {
      file = open(path, common | O_NONBLOCK)
      if !Placeholders.isLeft(file) {
        if file >= 0 { close(file) }
        return
      }
    }
    if file < 0 { return }
    defer { close(file) }
    var status = stat()
    futimens(file, [Placeholders.markTime, Placeholders.markTime])
    guard fstat(file, &status) == 0 else { return }
    let stamp = Stamp(status, isFolder: false)
    made.append(Placeholder(path: path, isFolder: false, stamp: stamp))
  }

  /// Removes a placeholder that a killed run has left: a command that is not confined would find it.
  func removeLeft(_ path: String) {
    if Placeholders.wasLeft(path, isFolder: false) { unlink(path) }
  }

  /// Makes a directory that is an output, unless something is there or it cannot be made. A
  /// directory that a killed run left counts as made.
  mutating func addFolder(_ path: String) {
    if made.contains(where: { $0.path.hasSameBytes(as: path) }) { return }
    if makeFolder(path) || Placeholders.wasLeft(path, isFolder: true) {
      made.append(Placeholder(path: path, isFolder: true))
    }
  }

  /// Makes the directories that lead to a path.
  func makeFolder(around path: String) {
    if let slash = path.lastIndex(of: "/") { makeFolder(String(path[..<slash])) }
  }

  /// Makes a directory and those that lead to it, as far as they are missing and can be made; false if it was there.
  @discardableResult
  func makeFolder(_ path: String) -> Bool {
    // A longer path names nothing, and has too many directories to go through.
    if path.isEmpty || path.utf8.count >= Int(PATH_MAX) || access(path, F_OK) == 0 { return false }
    makeFolder(around: path)
    return mkdir(path, 0o777) == 0
  }

  /// Marks the directories. Must be called when everything is made: making something changes the directory around it.
  mutating func mark() {
    let times = [Placeholders.markTime, Placeholders.markTime]
    for index in made.indices where made[index].isFolder {
      utimensat(AT_FDCWD, made[index].path, times, AT_SYMLINK_NOFOLLOW)
      made[index].stamp = Stamp(of: made[index].path, isFolder: true)
    }
  }

  /// Removes placeholders that the command has not touched, and files that a failed command has
  /// left empty: without the placeholder there would be none, since linkers and shells open files
  /// that they cannot fill in the end. After a success, directories stay: a command that makes sure
  /// of a directory has made it, though it was there, and an empty directory may be its result.
  func removeUntouched(hasSucceeded: Bool) {
    // Removing a placeholder changes the directory around it.
    let isOver = { (placeholder: Placeholder) in
      Placeholders.isUntouched(placeholder)
        || !hasSucceeded && Placeholders.isEmptyFile(placeholder)
    }
    for placeholder in made.filter(isOver).reversed() {
      if hasSucceeded, placeholder.isFolder {
        utimensat(AT_FDCWD, placeholder.path, nil, AT_SYMLINK_NOFOLLOW)
      } else if !placeholder.isFolder {
        unlink(placeholder.path)
      } else if rmdir(placeholder.path) != 0 {
        // The directory holds files that are used.
        utimensat(AT_FDCWD, placeholder.path, nil, AT_SYMLINK_NOFOLLOW)
      }
    }
  }

  private static func isUntouched(_ placeholder: Placeholder) -> Bool {
    guard let stamp = placeholder.stamp else { return false }
    return Stamp(of: placeholder.path, isFolder: placeholder.isFolder) == stamp
  }

  private static func isEmptyFile(_ placeholder: Placeholder) -> Bool {
    guard !placeholder.isFolder, let stamp = placeholder.stamp else { return false }
    let now = Stamp(of: placeholder.path, isFolder: false)
    return now?.number == stamp.number && now?.size == 0
  }

  /// True if the path looks like a placeholder that nobody has touched since it was marked.
  private static func wasLeft(_ path: String, isFolder: Bool) -> Bool {
    Stamp(of: path, isFolder: isFolder)?.isMarked == true
  }

  private static func isLeft(_ file: Int32) -> Bool {
    var status = stat()
    return file >= 0 && fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      && isLeft(status)
  }

  /// True for the status of such a placeholder.
  static func isLeft(_ status: stat) -> Bool {
    Stamp(status, isFolder: status.st_mode & S_IFMT == S_IFDIR).isMarked
  }
}
