// The cache of earlier downloads and results: records in memory, then on disk, and contents by
// their hash. Processes share it; it knows neither servers nor images.

import Diagnostics
import Glibc
import OperationKit

/// The limits of the cache: how much is kept, and for how long.
struct DownloadCacheLimits: Hashable, Sendable {
  var size = 2 << 30
  /// The maximum time without use, in seconds.
  var age = 30 * 86_400
}

/// A content of the cache, which stays there as long as this object exists.
final class CachedDownload: Sendable {
  let digest: Digest
  let path: String
  fileprivate let file: OpenFile

  fileprivate init(_ digest: Digest, _ file: OpenFile) {
    self.digest = digest
    self.file = file
    path = file.path
  }

  var size: Int { file.size }
}

final class DownloadCache: Sendable {
  /// Identifies a file that was hashed before in this run.
  struct Fingerprint: Hashable, Sendable {
    let size: Int
    let inode: UInt
    let seconds: Int
    let nanoseconds: Int

    init(_ status: stat) {
      size = Int(status.st_size)
      inode = UInt(status.st_ino)
      seconds = status.st_mtim.tv_sec
      nanoseconds = status.st_mtim.tv_nsec
    }
  }

  struct Memory: Sendable {
    var records: [Digest: CacheRecord] = [:]
    var verified: [Digest: Fingerprint] = [:]
    var hasWarned = false
  }

  /// The maximum number of records in memory; then they are all dropped.
  static let memoryLimit = 20_000

  let folder: DownloadCacheFolder
  let limits: DownloadCacheLimits
  let memory = Guarded(Memory())
  let changes: Guarded<OpenFile>
  private let warn: @Sendable (String) -> Void

  init(
    _ folder: DownloadCacheFolder, _ limits: DownloadCacheLimits,
    warn: @escaping @Sendable (String) -> Void
  ) throws(SystemError) {
    self.folder = folder
    self.limits = limits
    self.warn = warn
    changes = Guarded(
      try OpenFile.own(folder.lock, O_RDWR | O_CREAT))
  }

  /// Waits until no other thread or process fetches the same content. If that takes seconds, it is
  /// reported; `name` is what is wanted. Nil if it takes longer than the limit, in nanoseconds.
  func turn(
    _ key: Digest, named name: String, limit: Int64
  ) throws(SystemError) -> CacheTurn? {
    try CacheTurn(folder.turn(key), limit: limit) { owner in
      self.warn("waiting for \(printable(name)): \(owner) has its turn in the cache")
    }
  }

  /// The record of a key, which then counts as used.
  func record(_ key: Digest) -> CacheRecord? {
    let path = folder.record(key)
    if let record = memory.withLock({ $0.records[key] }) {
      // Another process may have removed it.
      if utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW) == 0 { return record }
      memory.withLock { $0.records[key] = nil }
      return nil
    }
    guard let text = Files.text(of: path) else { return nil }
    guard let record = CacheRecord(text) else {
      dropBroken(path, "a record")
      return nil
    }
    utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW)
    remember(record, for: key)
    return record
  }

  /// The content of a record, checked against its hash; nil if it does not exist.
  func object(of record: CacheRecord) -> CachedDownload? {
    uncheckedObject(of: record).flatMap { isIntact($0, record) ? $0 : nil }
  }

  /// Like `object`, for callers that may not read it at all; they must call `isIntact` before
  /// reading it.
  func uncheckedObject(of record: CacheRecord) -> CachedDownload? {
    guard record.isKept,
      let file = try? OpenFile.own(folder.object(record.digest), O_RDONLY)
    else { return nil }
    file.lock(LOCK_SH)
    // It may have been evicted between opening and locking.
    return file.status.st_nlink > 0 ? CachedDownload(record.digest, file) : nil
  }

  /// True if a content has the hash under which it is kept; it is read once per run. If not, it is removed.
  func isIntact(_ object: CachedDownload, _ record: CacheRecord) -> Bool {
    let fingerprint = Fingerprint(object.file.status)
    if memory.withLock({ $0.verified[record.digest] == fingerprint }) { return true }
    guard fingerprint.size == record.size, (try? object.file.digest()) == record.digest else {
      dropBroken(object.path, "a content")
      return false
    }
    memory.withLock { $0.verified[record.digest] = fingerprint }
    return true
  }

  /// Writes a record without a content, or with one that already exists.
  func note(_ record: CacheRecord, for key: Digest) throws(SystemError) {
    let path = folder.record(key)
    try Files.makeFolder(of: path, mode: 0o700)
    rmdir(path)  // something that does not belong there, and that no file could replace
    try Files.write(record.text, to: path, mode: 0o600)
    remember(record, for: key)
  }

  func remember(_ record: CacheRecord, for key: Digest) {
    memory.withLock { memory in
      if memory.records.count >= Self.memoryLimit { memory.records = [:] }
      memory.records[key] = record
    }
  }

  func forget(_ key: Digest) {
    memory.withLock { $0.records[key] = nil }
    Files.remove(folder.record(key))
  }

  private func dropBroken(_ path: String, _ what: String) {
    Files.remove(path)
    let isFirst = memory.withLock { memory in
      defer { memory.hasWarned = true }
      return !memory.hasWarned
    }
    if isFirst { warn("\(what) of the cache was damaged and is recreated: \(quoted(path))") }
  }
}

extension DownloadCache {
  /// Adds a content and returns it; nil if there is no room, in which case the part file is
  /// unchanged. The limit is never exceeded, because room is made first.
  func keep(
    _ part: PartFile, as record: CacheRecord, for key: Digest
  ) throws(SystemError) -> CachedDownload? {
    try part.synchronize()
    let path = folder.object(record.digest)
    try Files.makeFolder(of: path, mode: 0o700)
    let object = try changing { () throws(SystemError) -> CachedDownload? in
      if let object = self.object(of: record) {
        part.discard()
        try note(record, for: key)
        return object
      }
      guard makeRoom(for: record.size) else { return nil }
      // This comes first, so that a process that dies between the two leaves a recorded usage that
      // is too high, not too low.
      setUsage(usage + record.size)
      rmdir(path)
      try part.publish(as: path)
      try note(record, for: key)
      let file = try OpenFile.own(path, O_RDONLY)
      file.lock(LOCK_SH)
      memory.withLock { $0.verified[record.digest] = Fingerprint(file.status) }
      return CachedDownload(record.digest, file)
    }
    return object
  }

  /// Runs the body while no other thread or process adds or removes contents.
  func changing<Value: Sendable>(
    _ body: () throws(SystemError) -> Value
  ) throws(SystemError) -> Value {
    let result = changes.withLock { lock in
      lock.lock(LOCK_EX)
      defer { lock.lock(LOCK_UN) }
      return Result { () throws(SystemError) in try body() }
    }
    return try result.get()
  }

  /// The number of bytes of all contents. Guarded by the lock.
  var usage: Int {
    if let known = Files.text(of: folder.usage).flatMap({ Int($0.trimmed) }),
      CacheRecord.sizes.contains(known)
    {
      return known
    }
    var total = 0
    folder.forEachFile(of: "objects") { _, _, status in total += Int(status.st_size) }
    return total
  }

  /// Writes over the number, which always has the same length, because a new file for every content
  /// takes longer. A copy of the cache made of links must not change with it.
  func setUsage(_ byteCount: Int) {
    let digits = String(max(0, byteCount))
    let text = String(repeating: " ", count: max(0, 20 - digits.utf8.count)) + digits + "\n"
    if let file = try? OpenFile.own(folder.usage, O_RDWR), file.size == text.utf8.count,
      file.status.st_nlink == 1, (try? file.write(Array(text.utf8))) != nil
    {
      return
    }
    try? Files.write(text, to: folder.usage, mode: 0o600)
  }
}
