// The lock of a pipeline, which runs that must not overlap take. The kernel frees it, however oprun
// ends.

package import Diagnostics
import Glibc

/// A lock that is held until the object is gone.
package final class StateLock {
  private let descriptor: Int32
  private let path: String

  /// Opens the lock of a pipeline file; it is not taken yet.
  package init(of pipeline: String, in folder: StateFolder) throws(SystemError) {
    let digest = sha256(of: Array(pipeline.utf8)).prefix(8).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    let name = "lock-\(digest.joined())"
    path = folder.shown(name)
    descriptor = openat(
      folder.descriptor, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    if descriptor < 0 {
      throw SystemError("cannot open \(quoted(path))", errno: errno)
    }
  }

  deinit { close(descriptor) }

  /// Takes the lock if nobody has it.
  package func take() -> Bool {
    guard ByteLock.take(0, of: descriptor) == .taken else { return false }
    rememberHolder()
    return true
  }

  /// Waits for the lock and takes it; false if that fails.
  package func waitAndTake() -> Bool {
    guard ByteLock.waitAndTake(0, of: descriptor) else { return false }
    rememberHolder()
    return true
  }

  /// True if other runs find the same file. If somebody has removed the state directory, they take
  /// another lock.
  package var isInPlace: Bool {
    guard let found = FileIdentity(at: path) else { return errno != ENOENT }
    return found == FileIdentity(of: descriptor)
  }

  /// The run that has the lock; nil if it has not written its id yet.
  package var holder: String? { text.flatMap { Self.isID($0) ? $0 : nil } }

  /// The last run that had the lock before this one, and may have left jobs that go on. Known to
  /// the holder of the lock that has not written its own id yet.
  package private(set) var lastHolder: String?

  /// Writes the id of the run that has the lock.
  package func say(holder id: String) { write(id) }

  /// Remembers the last holder. Until the new holder writes its id, the file says that there is
  /// none, and who the last one was.
  private func rememberHolder() {
    guard let text else { return }
    let id = text.hasPrefix(Self.past) ? String(text.dropFirst()) : text
    guard Self.isID(id) else { return write("") }
    lastHolder = id
    if text == id { write(Self.past + id) }
  }

  /// The mark of a last holder, with which no id of a run begins.
  private static let past = "-"

  private func write(_ text: String) {
    _ = Array(text.utf8).withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    _ = ftruncate(descriptor, off_t(text.utf8.count))
  }

  private var text: String? {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count > 0, count < bytes.count else { return nil }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  private static func isID(_ text: String) -> Bool {
    !text.isEmpty && !text.hasPrefix(past)
      && text.utf8.allSatisfy { byte in
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
          || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || byte == UInt8(ascii: "-")
      }
  }
}
