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
}

/// What is noted beside a part: where it comes from, and what of it is surely as it came.
struct PartRecord: Hashable, Sendable {
  let origin: PartOrigin
  /// The permissions that the file will have.
  let mode: mode_t
  /// So many bytes from the start have the hash.
  let size: Int
  let digest: Digest

  /// A line each.
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

/// Belongs to one download at a time, which holds a lock on it.
final class PartFile: @unchecked Sendable {  // handed from thread to thread, never shared
  let path: String
  private let file: OpenFile
  /// That it gets with its name. Until then, nobody else may write to it.
  private let mode: mode_t
  /// Whether a later try would look for it here.
  private let isFindable: Bool
  private var hash = SHA256()
  private(set) var size = 0
  /// Bytes that came while it was open; those that were dropped again count, too.
  private(set) var receivedByteCount = 0
  /// What the bytes that are there belong to; nil if they are of no use.
  private(set) var origin: PartOrigin?
  /// What is noted beside it.
  private var record: PartRecord?
  private var recorded: Int64 = 0

  /// In nanoseconds. Who is killed loses no more time than that.
  private static let recordInterval: Int64 = 1_000_000_000
  private static let othersMayWrite: mode_t = 0o022

  /// What there may be beside a target until it is whole: its part, and what is known of that.
  static func names(beside target: String) -> [String] {
    [name(beside: target), recordName(beside: name(beside: target))]
  }

  static func name(beside target: String) -> String { target + ".part" }

  static func recordName(beside part: String) -> String { part + ".from" }

  /// Opens or makes `path`; if another process is at it, or it is not surely ours, one with a name of
  /// our own.
  static func open(at path: String, mode: mode_t) throws(SystemError) -> PartFile {
    try Files.makeFolder(of: path)
    TemporaryFile.removeLeft(in: TemporaryFile.folder(of: path))
    if let part = try named(path, mode: mode) { return part }
    return PartFile(try TemporaryFile.make(beside: path, mode: mode), isFindable: false)
  }

  private static func named(_ path: String, mode: mode_t) throws(SystemError) -> PartFile? {
    do throws(SystemError) {
      let file = try OpenFile(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
      return file.tryLock(LOCK_EX) && isStillNamed(file) ? PartFile(file) : nil
    } catch {
      guard error.errno == EEXIST else { throw error }
    }
    guard let file = try? OpenFile.own(path, O_RDWR), file.tryLock(LOCK_EX), isStillNamed(file)
    else { return nil }
    let status = file.status
    if status.st_nlink == 1, status.st_mode & othersMayWrite == 0,
      let record = Files.text(of: recordName(beside: path)).flatMap(PartRecord.init)
    {
      return PartFile(file, record)
    }
    // Nobody knows what is in it, and others may have it open.
    Files.remove(path)
    let new = try? OpenFile(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
    guard let new, new.tryLock(LOCK_EX), isStillNamed(new) else { return nil }
    return PartFile(new)
  }

  /// Between opening and locking, another process may have published or removed it.
  private static func isStillNamed(_ file: OpenFile) -> Bool {
    var named = stat()
    let status = file.status
    return status.st_nlink > 0 && lstat(file.path, &named) == 0 && named.st_ino == status.st_ino
  }

  /// One that is new.
  private init(_ file: OpenFile, isFindable: Bool = true) {
    path = file.path
    self.file = file
    self.isFindable = isFindable
    mode = file.status.st_mode & 0o777
    if mode & Self.othersMayWrite != 0 { fchmod(file.descriptor, mode & ~Self.othersMayWrite) }
    record = isFindable ? Files.text(of: recordPath).flatMap(PartRecord.init) : nil
  }

  /// One that an earlier try has left.
  private init(_ file: OpenFile, _ record: PartRecord) {
    path = file.path
    self.file = file
    self.record = record
    isFindable = true
    mode = record.mode
  }

  private var recordPath: String { PartFile.recordName(beside: path) }

  /// Looks for what an earlier try left of the same thing; empties the file if there is nothing, or if
  /// it is not what came.
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

  /// What the bytes to come belong to.
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

  /// Notes what is there. What cannot be noted is fetched again by a later try.
  private func note() {
    recorded = monotonicTime()
    guard let origin, isFindable, size > 0 else { return }
    let record = PartRecord(origin, mode: mode, size: size, digest: hash.finish())
    do throws(SystemError) {
      try Files.write(record.text, to: recordPath, mode: 0o600)
      self.record = record
    } catch {}
  }

  private func removeRecord() {
    if record != nil { Files.remove(recordPath) }
    record = nil
  }

  /// The hash of all bytes.
  func digest() -> Digest { hash.finish() }

  /// All bytes are on the disk when this returns.
  func synchronize() throws(SystemError) { try file.synchronize() }

  /// Gives it its final name; from then on others may read it. To be synchronized first.
  func publish(as target: String) throws(SystemError) {
    if file.status.st_mode & 0o777 != mode { fchmod(file.descriptor, mode) }
    try Files.rename(path, to: target)
    removeRecord()
    file.lock(LOCK_SH)
  }

  /// Brings it to the disk and gives it its final name. If that cannot be, nothing is left of it.
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

  /// Leaves it for a later try, if there is something to go on with.
  func leave() {
    note()
    if origin == nil || record?.size != size { discard() }
  }

  func discard() {
    removeRecord()
    Files.remove(path)
  }
}
