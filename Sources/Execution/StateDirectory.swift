// `.oprun/`: where runs keep their files. Each directory on the way is opened once, below the one
// before it, and only the user may have access: anybody who can write there could forge the outputs
// of steps.

import Diagnostics
import Glibc
import Plans
package import RunFiles

/// The state directory of a project.
package struct StateDirectory: Sendable {
  /// The path, without a slash at the end: with one, the kernel would follow a link.
  package let path: String

  package init(path: String) { self.path = withoutSlashes(path) }

  /// Opens the directory, and makes it if there is none.
  package func make() throws(StateFailure) -> StateFolder {
    let callersMask = umask(0o077)
    defer { umask(callersMask) }
    openStandardStreams()
    return StateFolder(owning: try stateFolder(path, in: AT_FDCWD).release(), path: path)
  }

  /// Makes the directory of a new run, named by the time in UTC and two characters that distinguish
  /// runs that started in the same second: `20260402-101502-k3`.
  package func makeRun() throws(StateFailure) -> (id: String, directory: RunDirectory) {
    // Whatever the caller's mask, directories that are made here are fully accessible to their
    // owner.
    let callersMask = umask(0o077)
    defer { umask(callersMask) }
    return try makeRun(callersMask: callersMask)
  }

  /// Makes the directory of a new run when the mask is already set: all threads share it.
  package func makeRun(
    callersMask: UInt32
  ) throws(StateFailure) -> (id: String, directory: RunDirectory) {
    openStandardStreams()
    let state = StateFolder(owning: try stateFolder(path, in: AT_FDCWD).release(), path: path)
    let runs = try folder("runs", in: state.descriptor)
    while true {
      let id = "\(StateDirectory.timeStamp())-\(StateDirectory.suffix())"
      let name = shown("runs/\(id)")
      if mkdirat(runs.number, id, 0o700) == 0 {
        let run = try open(id, in: runs.number, shownAs: name)
        let directory = RunDirectory(
          owning: run.release(), path: name, umask: callersMask, state: state)
        directory.lock()
        // On a local file system, the lock of the directory is enough. Where there never are locks,
        // the recorder of the run refuses, and says what to do about it.
        if let failure = directory.lockFailure, state.fileSystem.network != nil,
          state.lockFault == nil
        {
          directory.removeAll()
          throw StateFailure(failure)
        }
        return (id, directory)
      }
      guard errno == EEXIST else { throw StateFailure.notMade(name) }
    }
  }

  /// Opens the directory as it is; nil if there is none.
  package func open() throws(StateFailure) -> StateFolder? {
    var status = stat()
    guard stat(path, &status) == 0 else {
      if errno == ENOENT { return nil }
      throw StateFailure(.last("cannot open \(quoted(path))"))
    }
    openStandardStreams()
    return StateFolder(owning: try stateFolder(path, in: AT_FDCWD).release(), path: path)
  }

  /// Opens the state directory. Links above it are followed, and one in its place if it belongs to
  /// us or to root.
  private func stateFolder(
    _ place: String, in parent: Int32, linksLeft: Int = 8
  ) throws(StateFailure) -> Descriptor {
    let isNew = mkdirat(parent, place, 0o700) == 0
    guard isNew || errno == EEXIST else { throw StateFailure.notMade(path) }
    do throws(StateFailure) {
      let state = try open(place, in: parent, shownAs: path, isNew: isNew)
      guard isNew else { return state }
      do throws(StateFailure) {
        try writeIgnoreFile(in: state.number)
      } catch {
        // The next run makes both directories.
        unlinkat(parent, place, AT_REMOVEDIR)
        throw error
      }
      return state
    } catch {
      guard !isNew, linksLeft > 0, let link = Link(place, in: parent) else { throw error }
      guard [geteuid(), 0].contains(link.owner) else {
        throw .foreignLink(path, owner: link.owner)
      }
      let folder = try folderOfLink(place, in: parent)
      return try stateFolder(
        withoutSlashes(link.target), in: folder.number, linksLeft: linksLeft - 1)
    }
  }

  private func folderOfLink(_ place: String, in parent: Int32) throws(StateFailure) -> Descriptor {
    let end = place.utf8.lastIndex(of: UInt8(ascii: "/"))
    let folder = openat(
      parent, end.map { String(place[...$0]) } ?? ".", onlyAPlace | O_CLOEXEC | O_DIRECTORY)
    guard folder >= 0 else { throw StateFailure(.last("cannot open \(quoted(path))")) }
    return Descriptor(owning: folder)
  }

  private func shown(_ name: String) -> String {
    path == "/" ? "/\(name)" : "\(path)/\(name)"
  }

  /// Opens a directory within the state directory.
  private func folder(_ name: String, in parent: Int32) throws(StateFailure) -> Descriptor {
    let isNew = mkdirat(parent, name, 0o700) == 0
    guard isNew || errno == EEXIST else {
      throw StateFailure.notMade(shown(name))
    }
    return try open(name, in: parent, shownAs: shown(name), isNew: isNew)
  }

  private func open(
    _ name: String, in parent: Int32, shownAs path: String, isNew: Bool = true
  ) throws(StateFailure) -> Descriptor {
    let number = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard number >= 0 else {
      let error = SystemError.last("cannot open \(quoted(path))")
      var status = stat()
      let isThere = fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0
      throw isThere ? .unusable(path, status, error) : StateFailure(error)
    }
    let folder = Descriptor(owning: number)
    var status = stat()
    guard fstat(number, &status) == 0 else {
      throw StateFailure(.last("cannot open \(quoted(path))"))
    }
    if status.st_uid != geteuid() { throw .foreignFolder(path, owner: status.st_uid) }
    if status.st_mode & (S_IWGRP | S_IWOTH) != 0 {
      throw .openToOthers(path, mode: status.st_mode, isNew: isNew)
    }
    return folder
  }

  /// Keeps a directory that oprun made out of version control.
  private func writeIgnoreFile(in folder: Int32) throws(StateFailure) {
    let file = openat(
      folder, ".gitignore", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    if file >= 0, writeFully(Array("*\n".utf8), to: file) {
      close(file)
      return
    }
    let error = SystemError.last("cannot write \(quoted(shown(".gitignore")))")
    if file >= 0 {
      close(file)
      unlinkat(folder, ".gitignore", 0)
    }
    throw StateFailure(error)
  }

  private static func timeStamp() -> String { UTCTime(secondsSince1970: time(nil)).compact }

  private static func suffix() -> String {
    let letters = Array("abcdefghijkmnpqrstuvwxyz23456789")
    return String((0..<2).map { _ in letters[Int.random(in: 0..<letters.count)] })
  }
}

/// A symbolic link: its owner and its target, both of the same link even if it is replaced
/// meanwhile.
private struct Link {
  let owner: uid_t
  let target: String

  init?(_ name: String, in folder: Int32) {
    let number = openat(folder, name, onlyAPlace | O_CLOEXEC | O_NOFOLLOW)
    guard number >= 0 else { return nil }
    let link = Descriptor(owning: number)
    var status = stat()
    guard fstat(link.number, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return nil }
    owner = status.st_uid
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlinkat(link.number, "", &bytes, bytes.count)
    guard count > 0, count < bytes.count else { return nil }
    let text = bytes[..<count].map { UInt8(bitPattern: $0) }
    guard let target = String(validating: text, as: UTF8.self) else { return nil }
    self.target = target
  }
}

private func withoutSlashes(_ path: String) -> String {
  path.utf8.lastIndex { $0 != UInt8(ascii: "/") }.map { String(path[...$0]) } ?? path
}
