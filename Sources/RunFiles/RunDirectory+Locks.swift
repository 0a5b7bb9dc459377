// The locks of a run: one is held by the process that performs it, the other by one that resumes,
// ends or removes it. They are two bytes of a file, so that other machines see them, too. The run
// in progress also locks the directory itself; a process that has no file to lock cannot do that
// for it, and the lock outlives the removal of the file.

import Diagnostics
import Glibc

extension RunDirectory {
  /// The name of the file; no step can have it.
  static let lockName = "@lock"

  private enum LockedByte: Int {
    case run = 0
    case claim = 1
  }

  /// Marks this new directory as that of a run in progress, until the object is gone, or by the
  /// kernel at the end of this process. The byte is locked first and counts: to look at it disturbs
  /// nobody, while a look at the lock of the directory (`isLocked`) takes that lock for a moment,
  /// in which nobody else can.
  package func lock() {
    _ = take(.run)
    flock(descriptor, LOCK_EX | LOCK_NB)
  }

  /// True if a process is running the run now.
  package var isInUse: Bool { isLocked || isHeld(.run) }

  /// Reserves a finished run for this process, which resumes, ends or removes it, for as long as
  /// the object lasts. False if the run is in progress, if another process has reserved it, or if
  /// locking fails now (`lockFailure`).
  package func takeClaim() -> Bool {
    lockFailure = nil
    return !isInUse && take(.claim)
  }

  /// True if a process is running the run now, or has reserved it.
  package var isTaken: Bool { isInUse || isHeld(.claim) }

  /// Removes the directory of this run, with all that is in it; false, with `errno`, if something of it is still there.
  /// NFS keeps a directory in which a file is open, so the locks go first.
  @discardableResult
  package func removeAll() -> Bool {
    giveBackLocks()
    return state?.removeRun(name) ?? false
  }

  func giveBackLocks() {
    if lockFile >= 0 { close(lockFile) }
    lockFile = -1
  }

  /// Locks a byte; true if that succeeds, or where nothing can be written or locked: then nobody
  /// else can run or resume the run either.
  private func take(_ byte: LockedByte) -> Bool {
    lockFailure = nil
    if lockFile < 0 {
      let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
      lockFile = openat(descriptor, Self.lockName, flags, 0o600)
      guard lockFile >= 0 else { return Self.isAlikeForAll(errno) || fail(errno) }
      if mendsModes { fchmod(lockFile, 0o600) }
    }
    switch ByteLock.take(byte.rawValue, of: lockFile) {
    case .taken: return true
    case .heldByOther: return false
    // A network file system that never has locks is refused elsewhere: this one may have none at
    // the moment.
    case .impossible(let number): return state?.fileSystem.network == nil || fail(number)
    }
  }

  private func fail(_ number: Int32) -> Bool {
    lockFailure = SystemError("cannot lock \(quoted(path(of: Self.lockName)))", errno: number)
    return false
  }

  /// True if the file cannot be opened for a reason that is permanent and the same for everybody:
  /// the directory cannot be written, is gone, or has something else of that name. False for a lack
  /// of space or of descriptors.
  private static func isAlikeForAll(_ number: Int32) -> Bool {
    [EROFS, EACCES, EPERM, ENOENT, ESTALE, ELOOP, ENXIO, EISDIR].contains(number)
  }

  private func isHeld(_ byte: LockedByte) -> Bool {
    let file = open(Self.lockName)
    guard file >= 0 else { return false }
    defer { close(file) }
    return ByteLock.isHeld(byte.rawValue, of: file)
  }

  /// True if another process of this machine has locked the directory.
  private var isLocked: Bool {
    guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return errno == EWOULDBLOCK }
    flock(descriptor, LOCK_UN)
    return false
  }
}
