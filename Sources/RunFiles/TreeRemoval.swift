// Removes directories that others have filled, however deep: one descriptor is open at a time, and nothing recurs.

import Diagnostics
import Glibc

/// Removes a directory and what is in it, without following links; what cannot be removed stays, and so do the
/// directories that it is in. False, with `errno`, if the directory is still there: EAGAIN if `limit` files were removed
/// before it was empty.
package func removeTree(
  _ name: UnsafePointer<CChar>, in parent: Int32, atMost limit: Int = .max
) -> Bool {
  if unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT { return true }
  var removal = TreeRemoval(in: parent, atMost: limit)
  return removal.remove(FileName(name))
}

private struct TreeRemoval: ~Copyable {
  /// A directory that is being emptied.
  private struct Level {
    let name: FileName
    let device: dev_t
    let number: ino_t
    /// The directories in it that are still there.
    var folders: [FileName]
  }

  private let parent: Int32
  /// The innermost of the levels; the parent, if there are none.
  private var here: Int32
  private var levels: [Level] = []
  private var left: Int
  private var failure: Int32 = 0

  init(in parent: Int32, atMost limit: Int) {
    self.parent = parent
    here = parent
    left = limit
  }

  deinit { if here != parent { close(here) } }

  mutating func remove(_ name: FileName) -> Bool {
    enter(name)
    while left > 0, let level = levels.last {
      if let folder = level.folders.last {
        levels[levels.count - 1].folders.removeLast()
        if unlinkat(here, folder.bytes, AT_REMOVEDIR) != 0 { enter(folder) } else { left -= 1 }
      } else if !leave() {
        break
      }
    }
    if !levels.isEmpty, failure == 0 { failure = EAGAIN }
    errno = failure
    return failure == 0
  }

  /// Opens a directory of the current one, and removes the files in it.
  private mutating func enter(_ name: FileName) {
    let folder = TreeRemoval.open(name, in: here)
    var status = stat()
    guard folder >= 0, fstat(folder, &status) == 0 else {
      if errno != ENOENT { failure = errno }
      if folder >= 0 { close(folder) }
      return
    }
    // Programs protect what they keep, such as a store of modules, from themselves.
    if status.st_mode & 0o300 != 0o300 { fchmod(folder, 0o700) }
    // Nothing leads back from a directory that cannot be searched.
    let copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if copy < 0 {
      failure = errno
      close(folder)
      return
    }
    move(to: folder)
    levels.append(
      Level(name: name, device: status.st_dev, number: status.st_ino, folders: []))
    var folders: [FileName] = []
    var files: [FileName] = []
    _ = forEachEntry(owning: copy) { entry, kind in
      if kind == Int(DT_DIR) {
        folders.append(FileName(entry))
      } else {
        files.append(FileName(entry))
      }
    }
    for file in files {
      if left == 0 { break }
      left -= 1
      if unlinkat(folder, file.bytes, 0) == 0 || errno == ENOENT { continue }
      if errno == EISDIR { folders.append(file) } else { failure = errno }
    }
    levels[levels.count - 1].folders = folders
  }

  /// Goes back to the directory that the current one is in, and removes it. False if it is no longer there.
  private mutating func leave() -> Bool {
    let done = levels.removeLast()
    if let around = levels.last {
      let folder = openat(here, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      var status = stat()
      // Somebody who moves a directory away must not lead us out of the tree.
      guard folder >= 0, fstat(folder, &status) == 0, status.st_dev == around.device,
        status.st_ino == around.number
      else {
        if folder >= 0 { close(folder) }
        failure = EBUSY
        return false
      }
      move(to: folder)
    } else {
      move(to: parent)
    }
    left -= 1
    if unlinkat(here, done.name.bytes, AT_REMOVEDIR) != 0, errno != ENOENT, failure == 0 {
      failure = errno
    }
    return true
  }

  private mutating func move(to folder: Int32) {
    if here != parent { close(here) }
    here = folder
  }

  /// Opens a directory, and makes one that may not be read readable.
  private static func open(_ name: FileName, in folder: Int32) -> Int32 {
    let flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    let opened = openat(folder, name.bytes, O_RDONLY | flags)
    guard opened < 0, errno == EACCES else { return opened }
    let place = openat(folder, name.bytes, onlyAPlace | flags)
    guard place >= 0 else { return -1 }
    defer { close(place) }
    guard chmod("/proc/self/fd/\(place)", 0o700) == 0 else { return -1 }
    return openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  }
}
