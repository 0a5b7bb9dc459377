// Evicts contents when there is not enough space, or when they have not been used for long: the
// least recently used first, and nothing that is in use.

import Diagnostics
import Glibc
import OperationKit

/// The contents of the cache, in numbers.
struct DownloadCacheStatistics: Hashable, Sendable {
  var recordCount = 0
  var objectCount = 0
  var byteCount = 0
  /// The oldest use in seconds since 1970; nil if the cache is empty.
  var oldestUse: Int?
}

extension DownloadCache {
  private struct Entry {
    let path: String
    let object: String?
    let used: Int
    let usedNanoseconds: Int
  }

  /// Makes room; false if the contents that must stay leave too little. Must be called under the
  /// lock.
  func makeRoom(for size: Int) -> Bool {
    guard size <= limits.size else { return false }
    if usage + size <= limits.size { return true }
    // A tenth more is removed, so that not every new content causes a search of all of them.
    let left = sweep(downTo: min(limits.size - size, limits.size / 10 * 9))
    return left + size <= limits.size
  }

  /// Removes contents that are too old, unless that was done within a day.
  func sweepNowAndThen() {
    var status = stat()
    let now = calendarTime()
    if lstat(folder.swept, &status) == 0, now - status.st_mtim.tv_sec < 86_400 { return }
    try? Files.write("", to: folder.swept, mode: 0o600)
    // A content that cannot be removed today can be removed tomorrow.
    try? sweep()
  }

  /// Removes contents that are too old.
  func sweep() throws(SystemError) {
    _ = try changing { () throws(SystemError) in sweep(downTo: limits.size) }
  }

  /// Removes contents; returns the number of bytes that are left. Must be called under the lock.
  private func sweep(downTo target: Int) -> Int {
    var sizes: [String: Int] = [:]
    folder.forEachFile(of: "objects") { path, _, status in sizes[path] = Int(status.st_size) }
    let entries = entries()
    var references: [String: Int] = [:]
    for object in entries.compactMap(\.object) { references[object, default: 0] += 1 }
    var total = sizes.values.reduce(0, +)
    for path in sizes.keys where references[path] == nil {
      if removeUnused(path) { total -= sizes[path] ?? 0 }
    }
    let oldest = calendarTime() - limits.age
    for entry in entries {
      guard entry.used < oldest || total > target else { break }
      guard let object = entry.object else {
        Files.remove(entry.path)
        continue
      }
      let isLast = references[object] == 1
      if isLast, sizes[object] != nil {
        guard removeUnused(object) else { continue }
        total -= sizes[object] ?? 0
      }
      references[object, default: 1] -= 1
      Files.remove(entry.path)
    }
    removeOldParts(before: calendarTime() - 86_400)
    memory.withLock { $0.records = [:] }
    setUsage(total)
    return total
  }

  /// All records, the least recently used first.
  private func entries() -> [Entry] {
    var entries: [Entry] = []
    folder.forEachFile(of: "records") { path, _, status in
      let record = Files.text(of: path).flatMap(CacheRecord.init)
      let object = record.flatMap { $0.isKept ? folder.object($0.digest) : nil }
      entries.append(
        Entry(
          path: path, object: object, used: status.st_mtim.tv_sec,
          usedNanoseconds: status.st_mtim.tv_nsec))
    }
    return entries.sorted { ($0.used, $0.usedNanoseconds) < ($1.used, $1.usedNanoseconds) }
  }

  /// Removes a content; false if it is in use.
  private func removeUnused(_ path: String) -> Bool {
    guard let file = try? OpenFile.own(path, O_RDONLY) else {
      Files.remove(path)
      return true
    }
    guard file.tryLock(LOCK_EX) else { return false }
    Files.remove(path)
    return true
  }

  private func removeOldParts(before time: Int) {
    TemporaryFile.removeLeft(in: folder.path + "/")
    let parts = folder.path + "/parts"
    for name in Files.names(in: parts) {
      var status = stat()
      let path = "\(parts)/\(name)"
      if lstat(path, &status) == 0, status.st_mtim.tv_sec < time { _ = removeUnused(path) }
    }
  }

  func statistics() throws(SystemError) -> DownloadCacheStatistics {
    try changing { () throws(SystemError) in
      var statistics = DownloadCacheStatistics()
      folder.forEachFile(of: "records") { _, _, status in
        statistics.recordCount += 1
        statistics.oldestUse = min(statistics.oldestUse ?? .max, status.st_mtim.tv_sec)
      }
      folder.forEachFile(of: "objects") { _, _, status in
        statistics.objectCount += 1
        statistics.byteCount += Int(status.st_size)
      }
      return statistics
    }
  }

  /// Removes everything that is not in use; returns what was removed.
  func clear() throws(SystemError) -> DownloadCacheStatistics {
    let before = try statistics()
    try changing { () throws(SystemError) in
      folder.forEachFile(of: "records") { path, _, _ in Files.remove(path) }
      var left = 0
      folder.forEachFile(of: "objects") { path, _, status in
        if !removeUnused(path) { left += Int(status.st_size) }
      }
      removeOldParts(before: .max)
      memory.withLock { $0 = Memory() }
      setUsage(left)
    }
    let after = try statistics()
    return DownloadCacheStatistics(
      recordCount: before.recordCount - after.recordCount,
      objectCount: before.objectCount - after.objectCount,
      byteCount: before.byteCount - after.byteCount)
  }
}
