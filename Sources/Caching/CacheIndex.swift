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
  private var liveSize = 0

  init(_ cache: CacheFolder) {
    bytes = cache.read(Self.name) ?? []
    var position = 0
    while position + Self.headSize <= bytes.count {
      var head = ByteReader(bytes[position..<position + Self.headSize])
      guard let mark = try? head.number(), mark == Self.mark, let size = try? head.number(),
        size >= 0, size <= bytes.count - position - Self.headSize, (try? head.number()) != nil,
        let step = try? head.digest()
      else { break }
      let end = position + Self.headSize + size
      if let old = places.updateValue(position..<end, forKey: step) { liveSize -= old.count }
      liveSize += end - position
      position = end
    }
  }

  /// The record of a step; nil if there is none, or it is damaged.
  func record(of step: CacheDigest) -> StepRecord? {
    if let record = added[step] { return record }
    guard let place = places[step] else { return nil }
    var head = ByteReader(bytes[place.lowerBound + 16..<place.lowerBound + 24])
    let content = bytes[place.lowerBound + Self.headSize..<place.upperBound]
    guard let sum = try? head.number(), sum == Self.sum(content) else { return nil }
    var reader = ByteReader(content)
    return try? StepRecord(from: &reader)
  }

  mutating func add(_ record: StepRecord, of step: CacheDigest) {
    added[step] = record
    var content = ByteWriter()
    record.write(to: &content)
    pending.add(Self.mark)
    pending.add(content.bytes.count)
    pending.add(Self.sum(content.bytes[...]))
    pending.add(step)
    pending.append(content.bytes)
  }

  /// Appends what was added. Several runs may do so at the same time.
  mutating func flush(to cache: CacheFolder) throws(CacheFault) {
    guard !pending.bytes.isEmpty else { return }
    let content = pending.bytes
    pending = ByteWriter()
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
  }

  /// Leaves out the records that others have replaced, if they are more than half of all.
  func compact(in cache: CacheFolder) {
    guard bytes.count > 1 << 20, liveSize < bytes.count / 2 else { return }
    var live: [UInt8] = []
    live.reserveCapacity(liveSize)
    for place in places.values.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      live += bytes[place]
    }
    try? cache.write(live, to: Self.name)
  }

  /// Not against malice, but against a file that was not written to its end.
  private static func sum(_ content: ArraySlice<UInt8>) -> Int {
    content.withUnsafeBytes { buffer in
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
}
