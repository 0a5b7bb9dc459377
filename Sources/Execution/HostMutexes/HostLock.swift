// A lock that runs of one user on one machine share. The kernel frees it, however oprun ends.

import Diagnostics
import Glibc
import RunFiles
import Scheduling

/// One lock made of two: whoever has the first one is the next to get the second one, so that a run
/// that gives the lock back and wants it again does not overtake those that wait.
final class HostLock {
  let name: String
  private let folder: Int32
  private let file: String
  private var turn: Int32 = -1
  private var held: Int32 = -1
  /// The time until which processes of a killed holder may run.
  private var freeAt: Nanoseconds = 0

  /// The time within which guardians end the processes of a killed oprun.
  static let aftermath: Nanoseconds = 1_000_000_000

  init(_ name: String, in folder: Int32) {
    self.name = name
    self.folder = folder
    file = sha256(of: Array(name.utf8)).prefix(16).map { hexadecimal(UInt64($0), digits: 2) }
      .joined()
  }

  deinit { release() }

  var isHeld: Bool { held >= 0 }

  private var nextFile: String { "\(file).next" }

  /// Takes the lock if it is free and nobody else is next, and writes the holder into its file.
  func take(for holder: String, at time: Nanoseconds) throws(SystemError) -> Bool {
    if isHeld { return true }
    if turn < 0 { turn = try locked(nextFile) ?? -1 }
    guard turn >= 0, time >= freeAt, let lock = try locked(file) else { return false }
    if lseek(lock, 0, SEEK_END) > 0 {
      // A holder that gives the lock back removes the file, so this one was killed.
      unlock(lock, file)
      freeAt = time + Self.aftermath
      return false
    }
    held = lock
    unlock(turn, nextFile)
    turn = -1
    let text = Array((holder + "\n" + name + "\n").utf8)
    _ = text.withUnsafeBytes { pwrite(held, $0.baseAddress, $0.count, 0) }
    return true
  }

  /// Gives the lock back, or stops waiting for it.
  func release() {
    if held >= 0 { unlock(held, file) }
    if turn >= 0 { unlock(turn, nextFile) }
    held = -1
    turn = -1
  }

  /// The holder of the lock, for people; nil if that is not known.
  var holder: String? {
    let descriptor = openat(folder, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1024)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count > 0, let end = bytes[..<count].firstIndex(of: UInt8(ascii: "\n")) else {
      return nil
    }
    return String(decoding: bytes[..<end], as: UTF8.self)
  }

  /// Opens a file and locks it; nil if another process has the lock. The process that had it may
  /// have removed the file meanwhile, so that others lock a new one.
  private func locked(_ name: String) throws(SystemError) -> Int32? {
    let descriptor = openat(
      folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else {
      throw SystemError("cannot open the lock of mutex \(quoted(self.name))", errno: errno)
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, isOpen(descriptor, name) else {
      close(descriptor)
      return nil
    }
    futimens(descriptor, nil)
    return descriptor
  }

  /// Closes the file, and removes it if it still has its name.
  private func unlock(_ descriptor: Int32, _ name: String) {
    if isOpen(descriptor, name) { unlinkat(folder, name, 0) }
    close(descriptor)
  }

  private func isOpen(_ descriptor: Int32, _ name: String) -> Bool {
    var own = stat()
    var found = stat()
    return fstat(descriptor, &own) == 0
      && fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && own.st_ino == found.st_ino
  }
}

/// The directory of the locks of a user.
enum HostLockFolder {
  /// Opens the directory, which is the same for all runs of the user, whatever their environment is.
  static func open(in places: [String] = ["/run/lock", "/tmp"]) throws(SystemError) -> Int32 {
    let parent = places.first { isForAll($0) } ?? "/tmp"
    let path = "\(parent)/oprun-\(geteuid())"
    if mkdir(path, 0o700) != 0, errno != EEXIST {
      throw SystemError(
        "cannot create \(quoted(path)), where mutexes of the host are", errno: errno)
    }
    let folder = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    var status = stat()
    guard folder >= 0, fstat(folder, &status) == 0 else {
      throw SystemError("cannot open \(quoted(path)), where mutexes of the host are", errno: errno)
    }
    guard status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
      close(folder)
      throw SystemError(
        "cannot use \(quoted(path)), where mutexes of the host are: others may write there",
        errno: EPERM)
    }
    return folder
  }

  /// True for a directory that everybody can write to, such as /tmp.
  private static func isForAll(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      && status.st_mode & 0o1777 == 0o1777
  }
}
