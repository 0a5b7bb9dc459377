// Reads a step record where it lies in the index, without making anything of it: when nothing has changed, no more
// than this is done for a step.

import Glibc

/// A place in the bytes of a record. What is asked for beyond their end, or is damaged, is nil.
struct RecordCursor {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// The bytes that have not been read.
  var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[position...]) }

  mutating func byte() -> UInt8? {
    guard position < bytes.count else { return nil }
    position += 1
    return bytes[position - 1]
  }

  mutating func number() -> Int? {
    guard bytes.count - position >= 8 else { return nil }
    position += 8
    return bytes.loadUnaligned(fromByteOffset: position - 8, as: Int.self).littleEndian
  }

  mutating func text() -> UnsafeRawBufferPointer? {
    guard let count = number() else { return nil }
    return take(count)
  }

  mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
    guard count >= 0, count <= bytes.count - position else { return nil }
    position += count
    return UnsafeRawBufferPointer(rebasing: bytes[position - count..<position])
  }

  mutating func digest() -> CacheDigest? {
    guard bytes.count - position >= CacheDigest.byteCount else { return nil }
    position += CacheDigest.byteCount
    return CacheDigest(
      words: bytes.loadUnaligned(
        fromByteOffset: position - CacheDigest.byteCount,
        as: (UInt64, UInt64, UInt64, UInt64).self))
  }
}

/// A file as it was seen, with everything that shows if it has changed.
struct SeenFile {
  let kind: FileEntry.Kind
  let isBehindLink: Bool
  let stamp: FileStamp

  /// Whether the file at the path is it.
  func isStill(at path: UnsafePointer<CChar>) -> Bool {
    var status = stat()
    // No descriptor of the directory is kept: another one may have its name by now.
    if fstatat(AT_FDCWD, path, &status, isBehindLink ? 0 : AT_SYMLINK_NOFOLLOW) != 0 {
      return kind == .absent && FileStatusFailure(errno).meansAbsent
    }
    if kind == .directory, stamp == .unknown {
      return FileEntry.Kind(status.st_mode) == .directory
    }
    return kind != .absent && FileStamp(status) == stamp
  }
}

extension RecordCursor {
  /// Passes over a list of files; false if there is none.
  mutating func skipFiles() -> Bool {
    guard let count = number(), count >= 0 else { return false }
    for _ in 0..<count {
      guard text() != nil, take(Self.fixedSize) != nil, text() != nil else { return false }
    }
    return true
  }

  /// The kind, the flags, the stamp and the digest of a file.
  private static let fixedSize = 2 + 6 * 8 + CacheDigest.byteCount

  /// Whether each file of a list is what it was; nil if that cannot be told here.
  mutating func areFilesUnchanged(in directory: String) -> Bool? {
    guard let count = number(), count >= 0 else { return nil }
    for _ in 0..<count {
      guard let path = text(), let file = seenFile(), digest() != nil, text() != nil else {
        return nil
      }
      guard let isUnchanged = isStill(file, at: path, in: directory) else { return nil }
      if !isUnchanged { return false }
    }
    return true
  }

  /// The kind, the flags and the stamp of a file.
  mutating func seenFile() -> SeenFile? {
    guard let kind = byte().flatMap(FileEntry.Kind.init(rawValue:)), let flags = byte(),
      let mode = number(), let size = number(), let changed = number(), let modified = number(),
      let inode = number(), let device = number()
    else { return nil }
    var stamp = FileStamp()
    stamp.mode = mode
    stamp.size = size
    stamp.changed = changed
    stamp.modified = modified
    stamp.number = inode
    stamp.device = device
    return SeenFile(kind: kind, isBehindLink: flags & 1 != 0, stamp: stamp)
  }

  /// Nil if the path is too long for the kernel.
  private func isStill(
    _ file: SeenFile, at path: UnsafeRawBufferPointer, in directory: String
  ) -> Bool? {
    let isRelative = !directory.isEmpty && path.first != UInt8(ascii: "/")
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) {
      place -> Bool? in
      var used = 0
      func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count < place.count - used else { return false }
        UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(place)[used...])
          .copyMemory(from: bytes)
        used += bytes.count
        return true
      }
      if isRelative {
        var directory = directory + "/"
        guard directory.withUTF8({ append(UnsafeRawBufferPointer($0)) }) else { return nil }
      }
      guard append(path), let start = place.baseAddress else { return nil }
      place[used] = 0
      return file.isStill(at: start)
    }
  }
}
