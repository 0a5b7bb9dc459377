// A file that is still coming, beside the one that it will be, and what is known of it so that a later
// try can go on. It knows no server.

import Diagnostics
import Glibc

/// What must still hold for a part to be gone on with.
struct PartOrigin: Hashable, Sendable {
  /// Of the URL and the headers that were sent.
  let key: Digest
  /// A strong entity tag.
  let validator: String
  /// Nil if the server did not say.
  let total: Int?

  /// A line each.
  var text: String {
    "oprun part 1\n\(key.hexadecimal)\n\(validator)\n\(total.map(String.init) ?? "-")\n"
  }

  init(key: Digest, validator: String, total: Int?) {
    self.key = key
    self.validator = validator
    self.total = total
  }

  init?(_ text: String) {
    let lines = text.split(separator: "\n")
    guard lines.count == 4, lines[0] == "oprun part 1", let key = Digest(String(lines[1])) else {
      return nil
    }
    self.init(key: key, validator: String(lines[2]), total: Int(lines[3]))
  }
}

/// Belongs to one download at a time, which holds a lock on it.
final class PartFile: @unchecked Sendable {  // handed from thread to thread, never shared
  let path: String
  private let file: OpenFile
  private var hash = SHA256()
  private(set) var size = 0
  /// Bytes that came while it was open; those that were dropped again count, too.
  private(set) var receivedByteCount = 0
  /// What the bytes that are there belong to; nil if they are of no use.
  private(set) var origin: PartOrigin?

  /// What there may be beside a target until it is whole: its part, and what is known of that.
  static func names(beside target: String) -> [String] {
    [name(beside: target), originName(beside: name(beside: target))]
  }

  static func name(beside target: String) -> String { target + ".part" }

  static func originName(beside part: String) -> String { part + ".from" }

  /// Opens or makes `path`; if another process is at it, one with a name of our own.
  static func open(at path: String, mode: mode_t) throws(SystemError) -> PartFile {
    try Files.makeFolder(of: path)
    TemporaryFile.removeLeft(in: TemporaryFile.folder(of: path))
    if let part = try PartFile(path, mode: mode) { return part }
    if let part = try PartFile(TemporaryFile.path(beside: path), mode: mode) { return part }
    throw SystemError("cannot lock \(quoted(path))", errno: EWOULDBLOCK)
  }

  private init?(_ path: String, mode: mode_t) throws(SystemError) {
    self.path = path
    file = try OpenFile(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: mode)
    guard file.tryLock(LOCK_EX) else { return nil }
    // Between opening and locking, another process may have published or removed it.
    guard file.status.st_nlink > 0, isStillNamed else { return nil }
  }

  private var isStillNamed: Bool {
    var named = stat()
    return lstat(path, &named) == 0 && named.st_ino == file.status.st_ino
  }

  private var originPath: String { PartFile.originName(beside: path) }

  /// Looks for what an earlier try left of the same thing; empties the file if there is nothing.
  func prepare(key: Digest, mayResume: Bool) throws(SystemError) {
    origin = mayResume ? Files.text(of: originPath).flatMap(PartOrigin.init) : nil
    size = file.size
    guard size > 0, let origin, origin.key == key, origin.total.map({ size < $0 }) ?? true else {
      return try restart()
    }
    hash = SHA256()
    try file.readAll { hash.update($0) }
    lseek(file.descriptor, 0, SEEK_END)
  }

  /// Forgets all bytes.
  func restart() throws(SystemError) {
    if origin != nil || size > 0 { Files.remove(originPath) }
    origin = nil
    size = 0
    hash = SHA256()
    try file.truncate()
  }

  /// Notes what the bytes to come belong to.
  func begin(_ origin: PartOrigin) throws(SystemError) {
    self.origin = origin
    try Files.write(origin.text, to: originPath, mode: 0o600)
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    try file.write(bytes)
    hash.update(bytes)
    size += bytes.count
    receivedByteCount += bytes.count
  }

  /// The hash of all bytes. Once.
  func digest() -> Digest { hash.finish() }

  /// All bytes are on the disk when this returns.
  func synchronize() throws(SystemError) { try file.synchronize() }

  /// Gives it its final name; from then on others may read it. To be synchronized first.
  func publish(as target: String) throws(SystemError) {
    try Files.rename(path, to: target)
    Files.remove(originPath)
    file.lock(LOCK_SH)
  }

  /// Brings it to the disk and gives it its final name. If that cannot be, nothing is left of it.
  func finish(as target: String) throws(SystemError) {
    do throws(SystemError) {
      try synchronize()
      try publish(as: target)
    } catch {
      discard()
      throw error
    }
  }

  /// Leaves it for a later try, if there is something to go on with.
  func leave() {
    if origin == nil || size == 0 { discard() }
  }

  func discard() {
    Files.remove(originPath)
    Files.remove(path)
  }
}
