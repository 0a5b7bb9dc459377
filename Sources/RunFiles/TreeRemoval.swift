// Removes directories that other programs have filled, however deep.

import Diagnostics
import Glibc

/// Removes a directory and what is in it, without following links; what cannot be removed stays, and so do the
/// directories that it is in. False, with `errno`, if the directory is still there.
package func removeTree(_ name: UnsafePointer<CChar>, in parent: Int32) -> Bool {
  var removal = TreeRemoval(in: parent)
  return removal.remove(FileName(name))
}

private struct TreeRemoval: ~Copyable {
  private var walk: TreeWalk
  private var failure: Int32 = 0

  init(in parent: Int32) { walk = TreeWalk(from: parent) }

  mutating func remove(_ name: FileName) -> Bool {
    removeFolder(name)
    while !walk.isAtStart {
      if let folder = walk.nextFolder() {
        removeFolder(folder)
      } else if let done = walk.leave() {
        if unlinkat(walk.here, done.bytes, AT_REMOVEDIR) != 0, errno != ENOENT, failure == 0 {
          failure = errno
        }
      } else {
        failure = EBUSY
        break
      }
    }
    errno = failure
    return failure == 0
  }

  /// Removes a directory in the current one if it is empty; otherwise enters it, and removes the files in it.
  private mutating func removeFolder(_ name: FileName) {
    if unlinkat(walk.here, name.bytes, AT_REMOVEDIR) == 0 || errno == ENOENT { return }
    let reason = errno
    // A directory that can never be removed, such as a mount point, keeps its contents.
    guard [ENOTEMPTY, EEXIST, EPERM, EACCES].contains(reason) else { return failure = reason }
    let folder = TreeRemoval.open(name, in: walk.here)
    var status = stat()
    guard folder >= 0, fstat(folder, &status) == 0 else {
      if errno != ENOENT { failure = errno }
      if folder >= 0 { close(folder) }
      return
    }
    // Some file systems give these errors for a directory that is not empty; the kernel gives them
    // before it looks at mounts.
    if [EPERM, EACCES].contains(reason), !isOnSameDevice(status) {
      close(folder)
      return failure = reason
    }
    enter(name, owning: folder, status)
  }

  private func isOnSameDevice(_ status: stat) -> Bool {
    var around = stat()
    return fstat(walk.here, &around) == 0 && around.st_dev == status.st_dev
  }

  private mutating func enter(_ name: FileName, owning folder: Int32, _ status: stat) {
    // Programs protect what they keep, such as a store of modules, from themselves.
    if status.st_mode & 0o300 != 0o300 { fchmod(folder, 0o700) }
    // From a directory that cannot be searched, nothing leads back.
    let copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if copy < 0 {
      failure = errno
      close(folder)
      return
    }
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
      if unlinkat(folder, file.bytes, 0) == 0 || errno == ENOENT { continue }
      if errno == EISDIR { folders.append(file) } else { failure = errno }
    }
    walk.enter(name, owning: folder, status, folders)
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
