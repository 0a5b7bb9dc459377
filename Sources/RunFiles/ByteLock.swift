// The only kind of lock that several processes which share a directory have: bytes of a file that
// one open file has locked. docs/design-state.md, "Locks".

import Glibc

/// Locks of bytes of files, whether or not the file is that long.
///
/// The locks belong to the open file and to its copies in children, and the kernel frees them with
/// the last of these. A network file system passes them on to the other machines, but not the locks
/// of flock(2): the lock of a directory on NFS, or of anything on GPFS, stays on this machine.
package enum ByteLock {
  package enum Result: Hashable, Sendable {
    case taken
    case heldByOther
    /// The file system has no locks: an errno.
    case impossible(Int32)
  }

  /// Locks a byte, if no other open file has locked it. Shared ones do not exclude each other; the file must be open
  /// for reading then, and otherwise for writing.
  package static func take(_ byte: Int, of file: Int32, isShared: Bool = false) -> Result {
    var range = lockOf(byte, isShared ? F_RDLCK : F_WRLCK)
    while fcntl(file, setLock, &range) != 0 {
      switch errno {
      case EINTR: continue
      case EAGAIN, EACCES: return .heldByOther
      default: return .impossible(errno)
      }
    }
    return .taken
  }

  /// Waits until no other open file has locked the byte, and locks it; false, with `errno`, if that fails.
  package static func waitAndTake(_ byte: Int, of file: Int32) -> Bool {
    var range = lockOf(byte, F_WRLCK)
    while fcntl(file, setLockAndWait, &range) != 0 { if errno != EINTR { return false } }
    return true
  }

  package static func giveBack(_ byte: Int, of file: Int32) {
    var range = lockOf(byte, F_UNLCK)
    _ = fcntl(file, setLock, &range)
  }

  /// True if another open file has locked the byte. This locks nothing.
  package static func isHeld(_ byte: Int, of file: Int32) -> Bool {
    var range = lockOf(byte, F_WRLCK)
    return fcntl(file, getLock, &range) == 0 && range.l_type != Int16(F_UNLCK)
  }

  /// Tries to lock a byte, and returns the errno if the file system has no locks; nil if it has.
  static func fault(of file: Int32) -> Int32? {
    guard case .impossible(let number) = take(0, of: file) else {
      giveBack(0, of: file)
      return nil
    }
    return [ENOLCK, ENOSYS, EOPNOTSUPP].contains(number) ? number : nil
  }

  private static func lockOf(_ byte: Int, _ kind: Int32) -> flock {
    var range = flock()
    range.l_type = Int16(kind)
    range.l_whence = Int16(SEEK_SET)
    range.l_start = off_t(byte)
    range.l_len = 1
    return range
  }

  /// `F_OFD_GETLK`, `F_OFD_SETLK` and `F_OFD_SETLKW` of <fcntl.h>.
  private static let getLock: Int32 = 36
  private static let setLock: Int32 = 37
  private static let setLockAndWait: Int32 = 38
}
