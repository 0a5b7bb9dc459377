// The lock of a pipeline, which runs that must not overlap take. The kernel frees it, however oprun
// ends.

package import Diagnostics
import Glibc

/// A lock that is held until the object is gone.
package final class StateLock {
  private let descriptor: Int32

  /// Opens the lock of a pipeline file; it is not taken yet.
  package init(of pipeline: String, in folder: StateFolder) throws(SystemError) {
    let digest = sha256(of: Array(pipeline.utf8)).prefix(8).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    let name = "lock-\(digest.joined())"
    descriptor = openat(
      folder.descriptor, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    if descriptor < 0 {
      throw SystemError("cannot open \(quoted(folder.shown(name)))", errno: errno)
    }
  }

  deinit { close(descriptor) }

  /// Takes the lock if nobody has it.
  package func take() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

  /// Waits for the lock and takes it; false if that fails.
  package func waitAndTake() -> Bool {
    while flock(descriptor, LOCK_EX) != 0 { if errno != EINTR { return false } }
    return true
  }
}
