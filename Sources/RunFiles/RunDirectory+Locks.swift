// Who has a run: the process that performs it, or one that resumes, ends or removes what is left of it. Two bytes of a
// file are locked for that, so that other machines see it, too. The run in progress also locks the directory itself,
// which nobody can do for it who has no file to lock, and which outlives the removal of the file.

import Glibc

extension RunDirectory {
  /// The name of the file; no step can have it.
  static let lockName = "@lock"

  private enum LockedByte: Int {
    case run = 0
    case claim = 1
  }

  /// Marks this new directory as that of a run in progress, until the object is gone, or by the kernel at the end of this
  /// process. The byte comes first and is what counts: to look at it disturbs nobody, while a look at the lock of the directory
  /// (`isLocked`) holds that for a moment, in which it cannot be taken.
  package func lock() {
    _ = take(.run)
    flock(descriptor, LOCK_EX | LOCK_NB)
  }

  /// Whether a process is running the run now.
  package var isInUse: Bool { isLocked || isHeld(.run) }

  /// Reserves a run that is over for this process, which resumes, ends or removes what is left of it, for as long as
  /// the object lasts. False if the run is in progress, or another process has reserved it.
  package func takeClaim() -> Bool { !isInUse && take(.claim) }

  /// Whether a process is running the run now, or has reserved it.
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

  /// True where nothing can be written or locked, too: then nobody else can run or resume it either.
  private func take(_ byte: LockedByte) -> Bool {
    if lockFile < 0 {
      let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
      lockFile = openat(descriptor, Self.lockName, flags, 0o600)
      guard lockFile >= 0 else { return true }
      if mendsModes { fchmod(lockFile, 0o600) }
    }
    return ByteLock.take(byte.rawValue, of: lockFile) != .heldByOther
  }

  private func isHeld(_ byte: LockedByte) -> Bool {
    let file = open(Self.lockName)
    guard file >= 0 else { return false }
    defer { close(file) }
    return ByteLock.isHeld(byte.rawValue, of: file)
  }

  /// Whether another process of this machine has locked the directory.
  private var isLocked: Bool {
    guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return errno == EWOULDBLOCK }
    flock(descriptor, LOCK_UN)
    return false
  }
}
