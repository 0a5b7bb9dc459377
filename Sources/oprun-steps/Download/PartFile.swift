// A file that is still being received, next to its target, with a record that allows a later
// attempt to resume it. It knows no server.

import Diagnostics
import Glibc

/// The facts that must still match for a part to be resumed.
struct PartOrigin: Hashable, Sendable {
  /// The hash of the URL and the headers that were sent.
  let key: Digest
  /// A strong entity tag.
  let validator: String
  /// The total length; nil if the server did not say.
  let total: Int?
}

/// The record next to a part: its origin, and which of its bytes are certainly as received.
struct PartRecord: Hashable, Sendable {
  let origin: PartOrigin
  /// The permissions that the file will have.
  let mode: mode_t
  /// The number of bytes from the start that have the hash.
  let size: Int
  let digest: Digest

  /// The record as text, one line per field.
  var text: String {
    """
    oprun part 2
    \(origin.key.hexadecimal)
    \(origin.validator)
    \(origin.total.map(String.init) ?? "-")
    \(String(mode, radix: 8))
    \(size)
    \(digest.hexadecimal)

    """
  }

  init(_ origin: PartOrigin, mode: mode_t, size: Int, digest: Digest) {
    self.origin = origin
    self.mode = mode
    self.size = size
    self.digest = digest
  }

  /// Reads the record of a part; nil if there is none that is certainly ours.
  init?(beside part: String) {
    guard let text = Files.text(of: PartFile.recordName(beside: part)) else { return nil }
    self.init(text)
  }

  init?(_ text: String) {
    let lines = text.split(separator: "\n").map(String.init)
    guard lines.count == 7, lines[0] == "oprun part 2", let key = Digest(lines[1]),
      let mode = mode_t(lines[4], radix: 8), mode <= 0o777, let size = Int(lines[5]), size > 0,
      let digest = Digest(lines[6])
    else { return nil }
    let origin = PartOrigin(key: key, validator: lines[2], total: Int(lines[3]))
    self.init(origin, mode: mode, size: size, digest: digest)
  }
}

/// A part file, which belongs to one download at a time, which holds a lock on it. It is hidden until
/// there is something that a later attempt could resume.
final class PartFile: @unchecked Sendable {  // handed from thread to thread, never shared
  private enum Naming: Hashable {
    /// The file is hidden, and may get the name under which a later attempt would look for it.
    case hidden(wanted: String)
    case findable
    /// The file stays hidden: that name, or the one of its record, is somebody else's.
    case unfindable
  }

  private(set) var path: String
  private let file: OpenFile
  /// The mode that the file gets with its name. Until then, no other user may write to it.
  private let mode: mode_t
  private var naming: Naming
  private var hash = SHA256()
  private(set) var size = 0
  /// The number of bytes received while the file was open, including those that were dropped again.
  private(set) var receivedByteCount = 0
  /// The origin of the existing bytes; nil if they are useless.
  private(set) var origin: PartOrigin?
  /// The record next to the file.
  private var record: PartRecord?
  private var recorded: Int64 = 0

  /// The interval in nanoseconds. A process that is killed loses no more time than that.
  private static let recordInterval: Int64 = 1_000_000_000
  private static let othersMayWrite: mode_t = 0o022

  /// The names that may exist next to a target until it is complete: its part, and the record of
  /// that.
  static func names(beside target: String) -> [String] {
    [name(beside: target), recordName(beside: name(beside: target))]
  }

  static func name(beside target: String) -> String { target + ".part" }

  static func recordName(beside part: String) -> String { part + ".from" }

  /// Opens the part that an earlier attempt has left at `path`, or creates a file that gets this
  /// name when it can be resumed, unless something else has it.
  static func open(at path: String, mode: mode_t) throws(SystemError) -> PartFile {
    try Files.makeFolder(of: path)
    TemporaryFile.removeLeft(in: folder(ofPath: path))
    if let part = left(at: path) { return part }
    return PartFile(try TemporaryFile.make(beside: path, mode: mode), wanting: path)
  }

  /// The part that an earlier attempt has left; nil if there is none, if another process uses it,
  /// or if it is not certainly ours.
  private static func left(at path: String) -> PartFile? {
    guard let file = try? OpenFile.own(path, O_RDWR), file.tryLock(LOCK_EX),
      let record = PartRecord(beside: path), isStillNamed(file)
    else { return nil }
    let status = file.status
    if status.st_nlink == 1, status.st_mode & othersMayWrite == 0 { return PartFile(file, record) }
    // It is ours by its record, but its content is unknown, and other processes may have it open.
    Files.remove(recordName(beside: path))
    Files.remove(path)
    return nil
  }

  /// True if the file still has its name: another process may have published or removed it between
  /// opening and locking.
  private static func isStillNamed(_ file: OpenFile) -> Bool {
    var named = stat()
    let status = file.status
    return status.st_nlink > 0 && lstat(file.path, &named) == 0 && named.st_ino == status.st_ino
  }

  /// Makes a new part.
  private init(_ file: OpenFile, wanting path: String) {
    self.path = file.path
    self.file = file
    naming = .hidden(wanted: path)
    mode = file.status.st_mode & 0o777
    if mode & Self.othersMayWrite != 0 { fchmod(file.descriptor, mode & ~Self.othersMayWrite) }
  }

  /// Makes a part that an earlier attempt has left.
  private init(_ file: OpenFile, _ record: PartRecord) {
    path = file.path
    self.file = file
    self.record = record
    naming = .findable
    mode = record.mode
  }

  private var recordPath: String { PartFile.recordName(beside: path) }

  /// Looks for bytes that an earlier attempt left of the same content; empties the file if there
  /// are none, or if they are not those that were received.
  func prepare(key: Digest, mayResume: Bool) throws(SystemError) {
    guard mayResume, let record, record.origin.key == key, record.size <= file.size,
      record.origin.total.map({ record.size < $0 }) ?? true
    else { return try restart() }
    hash = SHA256()
    try file.readAll(upTo: record.size) { hash.update($0) }
    guard hash.finish() == record.digest else { return try restart() }
    try file.truncate(to: record.size)
    origin = record.origin
    size = record.size
  }

  /// Forgets all bytes.
  func restart() throws(SystemError) {
    removeRecord()
    origin = nil
    size = 0
    hash = SHA256()
    try file.truncate()
  }

  /// Sets the origin of the bytes to come.
  func begin(_ origin: PartOrigin) {
    self.origin = origin
    recorded = monotonicTime()
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    try file.write(bytes)
    hash.update(bytes)
    size += bytes.count
    receivedByteCount += bytes.count
    if origin != nil, monotonicTime() - recorded > Self.recordInterval { note() }
  }

  /// Replaces the bytes of the part by those of a file.
  func copyContent(of path: String) throws(SystemError) {
    try restart()
    var fault: SystemError?
    try OpenFile.regular(path).readAll { bytes in
      do throws(SystemError) { try append(bytes) } catch { fault = fault ?? error }
    }
    if let fault { throw fault }
  }

  /// Records the existing bytes. If that fails, a later attempt fetches them again.
  private func note() {
    recorded = monotonicTime()
    guard let origin, size > 0, takeName() else { return }
    let record = PartRecord(origin, mode: mode, size: size, digest: hash.finish())
    do throws(SystemError) {
      try Files.write(record.text, to: recordPath, mode: 0o600)
      self.record = record
    } catch {}
  }

  /// True if the part has the name under which a later attempt looks for it. It takes that name
  /// only if neither the name nor that of its record is somebody else's.
  private func takeName() -> Bool {
    guard case .hidden(let wanted) = naming else { return naming == .findable }
    naming = .unfindable
    // Unlike a file that is renamed, one that gets a second name replaces nothing. It is locked already.
    guard !Files.isTaken(PartFile.recordName(beside: wanted)) || PartRecord(beside: wanted) != nil,
      link(path, wanted) == 0
    else { return false }
    Files.remove(path)
    path = wanted
    naming = .findable
    return true
  }

  private func removeRecord() {
    if record != nil { Files.remove(recordPath) }
    record = nil
  }

  /// The hash of all bytes.
  func digest() -> Digest { hash.finish() }

  /// Synchronizes the file: all bytes are on disk when this returns.
  func synchronize() throws(SystemError) { try file.synchronize() }

  /// Gives the part its final name; from then on others may read it. It must be synchronized first.
  func publish(as target: String) throws(SystemError) {
    if file.status.st_mode & 0o777 != mode { fchmod(file.descriptor, mode) }
    try Files.rename(path, to: target)
    removeRecord()
    file.lock(LOCK_SH)
  }

  /// Synchronizes the part to disk and gives it its final name. If that fails, nothing is left of it.
  func finish(as target: String) throws(SystemError) {
    do throws(SystemError) {
      try synchronize()
      try Files.checkReplaceable(target)
      try publish(as: target)
    } catch {
      discard()
      throw error
    }
  }

  /// Leaves the part for a later attempt, if there is something to resume.
  func leave() {
    note()
    if origin == nil || record?.size != size { discard() }
  }

  func discard() {
    removeRecord()
    Files.remove(path)
  }
}
