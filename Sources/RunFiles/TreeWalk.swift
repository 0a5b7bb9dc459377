// A walk through a tree of directories that others have made, however deep: one of them is open at
// a time, and nothing recurs.

import Diagnostics
import Glibc

/// A position in a tree, which begins at a directory that its owner keeps open. Links are not followed.
struct TreeWalk: ~Copyable {
  private struct Level {
    let name: FileName
    let device: dev_t
    let number: ino_t
    /// The subdirectories that have not been visited.
    var folders: [FileName]
  }

  private let start: Int32
  /// The innermost directory that was entered; the first one, if none was.
  private(set) var here: Int32
  private var levels: [Level] = []

  init(from start: Int32) {
    self.start = start
    here = start
  }

  deinit { if here != start { close(here) } }

  var isAtStart: Bool { levels.isEmpty }

  /// Enters a subdirectory of the current directory, which is open as `folder`, and takes ownership
  /// of it; `folders` are its own subdirectories to visit.
  mutating func enter(_ name: FileName, owning folder: Int32, _ status: stat, _ folders: [FileName])
  {
    move(to: folder)
    levels.append(
      Level(name: name, device: status.st_dev, number: status.st_ino, folders: folders))
  }

  /// The next directory to visit; nil if none is left in the current one.
  mutating func nextFolder() -> FileName? {
    levels.isEmpty ? nil : levels[levels.count - 1].folders.popLast()
  }

  /// Goes back to the parent directory, and returns the name of the directory that was left. Nil if
  /// the parent is no longer there: somebody who moves a directory away must not lead us out of the
  /// tree.
  mutating func leave() -> FileName? {
    guard let done = levels.popLast() else { return nil }
    guard let around = levels.last else {
      move(to: start)
      return done.name
    }
    let folder = openat(here, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    var status = stat()
    guard folder >= 0, fstat(folder, &status) == 0, status.st_dev == around.device,
      status.st_ino == around.number
    else {
      if folder >= 0 { close(folder) }
      return nil
    }
    move(to: folder)
    return done.name
  }

  private mutating func move(to folder: Int32) {
    if here != start { close(here) }
    here = folder
  }
}

/// The total size in bytes of the files in a directory and in those within it.
func sizeOfFiles(in start: Int32) -> Int {
  var walk = TreeWalk(from: start)
  var (size, folders) = contents(of: start)
  while true {
    guard let name = walk.isAtStart ? folders.popLast() : walk.nextFolder() else {
      if walk.isAtStart || walk.leave() == nil { return size }
      continue
    }
    let inner = openat(walk.here, name.bytes, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    var status = stat()
    guard inner >= 0, fstat(inner, &status) == 0 else {
      if inner >= 0 { close(inner) }
      continue
    }
    let found = contents(of: inner)
    size += found.size
    // From a directory that cannot be searched nothing leads back, and nothing is found in it.
    if found.folders.isEmpty {
      close(inner)
    } else {
      walk.enter(name, owning: inner, status, found.folders)
    }
  }
}

/// The total size in bytes of the files directly in a directory, and its subdirectories.
private func contents(of folder: Int32) -> (size: Int, folders: [FileName]) {
  let list = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  if list < 0 { return (0, []) }
  var size = 0
  var folders: [FileName] = []
  _ = forEachName(owning: list) { name in
    var status = stat()
    guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return }
    if status.st_mode & S_IFMT == S_IFDIR {
      folders.append(FileName(name))
    } else {
      size += Int(status.st_size)
    }
  }
  return (size, folders)
}
