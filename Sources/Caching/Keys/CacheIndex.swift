// The file of step records: records are appended, the last one of a step counts. It is no more than a
// memory of what was seen: if it is damaged or lost, everything is looked at again.

import Glibc

/// The records of the steps of one state directory.
struct CacheIndex {
  private static let name = "index"
  private static let mark = 0x3178_6469_6f70_7269
  /// The mark, the size, the sum, and the digest of the step's name.
  private static let headSize = 24 + CacheDigest.byteCount

  private var bytes: [UInt8] = []
  private var places: [CacheDigest: Range<Int>] = [:]
  /// Records that are not written yet.
  private var added: [CacheDigest: StepRecord] = [:]
  private var pending = ByteWriter()
  /// The size of the records that no other has replaced, those that this run has added included.
  private var liveSize = 0
  /// Where a record is damaged, which hides those behind it; nil if none is.
  private var firstDamage: Int?
  /// The number of bytes that this run has appended.
  private var appendedSize = 0

  init() {}

  init(_ cache: CacheFolder) {
    bytes = cache.read(Self.name) ?? []
    // No record is smaller.
    places.reserveCapacity(min(bytes.count / 400, 1 << 20))
    bytes.withUnsafeBytes { bytes in
      var cursor = RecordCursor(bytes)
      var position = 0
      while cursor.number() == Self.mark, let size = cursor.number(), cursor.number() != nil,
        let step = cursor.digest(), cursor.take(size) != nil
      {
        let end = position + Self.headSize + size
        if let old = places.updateValue(position..<end, forKey: step) { liveSize -= old.count }
        liveSize += end - position
        position = end
      }
      if position < bytes.count { firstDamage = position }
    }
  }

  /// The record of a step; nil if there is none, or it is damaged.
  func record(of step: CacheDigest) -> StepRecord? {
    if let record = added[step] { return record }
    return withContent(of: step) { content in
      var reader = ByteReader(Array(content)[...])
      return try? StepRecord(from: &reader)
    }
  }

  /// Calls `body` with the record of a step; nil if there is none, it is damaged, or this run has a newer one.
  func withContent<Result>(
    of step: CacheDigest, _ body: (UnsafeRawBufferPointer) -> Result?
  ) -> Result? {
    guard let place = places[step], added.isEmpty || added[step] == nil else { return nil }
    return bytes.withUnsafeBytes { bytes in
      var cursor = RecordCursor(UnsafeRawBufferPointer(rebasing: bytes[place]))
      guard cursor.take(16) != nil, let sum = cursor.number(), cursor.digest() != nil,
        sum == RecordSum.of(cursor.rest)
      else { return nil }
      return body(cursor.rest)
    }
  }

  mutating func add(_ record: StepRecord, of step: CacheDigest) {
    let isFirst = added.updateValue(record, forKey: step) == nil
    var content = ByteWriter()
    record.write(to: &content)
    if isFirst { liveSize += Self.headSize + content.bytes.count - (places[step]?.count ?? 0) }
    pending.add(Self.mark)
    pending.add(content.bytes.count)
    pending.add(content.bytes.withUnsafeBytes { RecordSum.of($0) })
    pending.add(step)
    pending.append(content.bytes)
  }

  /// Appends what was added. Several runs may do so at the same time.
  mutating func flush(to cache: CacheFolder) throws(CacheFailure) {
    guard !pending.bytes.isEmpty else { return }
    let content = pending.bytes
    pending = ByteWriter()
    if let end = firstDamage {
      try cache.write(Array(bytes[..<end]) + content, to: Self.name)
      firstDamage = nil
      appendedSize += content.count
      return
    }
    let file = openat(
      cache.descriptor, Self.name,
      O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw cache.unwritable(errno) }
    defer { close(file) }
    // A part of it would hide what is appended after it.
    let end = lseek(file, 0, SEEK_END)
    let count = write(file, content, content.count)
    guard count == content.count else {
      let number = count < 0 ? errno : ENOSPC
      if count > 0 { ftruncate(file, end) }
      throw cache.unwritable(number)
    }
    appendedSize += count
  }

  /// Leaves out the records that others have replaced, if they are more than a quarter of all: every run reads
  /// all of the file.
  func compact(in cache: CacheFolder) {
    let size = bytes.count + appendedSize
    guard size > 1 << 20, liveSize < size / 4 * 3 else { return }
    // Records that were appended meanwhile, by this run and by others, stay.
    let now = appendedSize == 0 ? self : CacheIndex(cache)
    if now.liveSize < now.bytes.count / 4 * 3 { now.writeLive(to: cache) }
  }

  private func writeLive(to cache: CacheFolder) {
    var live: [UInt8] = []
    live.reserveCapacity(liveSize)
    for place in places.values.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      live += bytes[place]
    }
    try? cache.write(live, to: Self.name)
  }
}

enum RecordSum {
  /// A checksum, not against malice, but against a file that was not written to its end.
  static func of(_ buffer: UnsafeRawBufferPointer) -> Int {
    var sum: UInt64 = 0xcbf2_9ce4_8422_2325
    var position = 0
    while position + 8 <= buffer.count {
      sum =
        (sum ^ buffer.loadUnaligned(fromByteOffset: position, as: UInt64.self)) &* 0x100_0000_01b3
      position += 8
    }
    for byte in buffer[position...] { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return Int(truncatingIfNeeded: sum >> 1)
  }
}
