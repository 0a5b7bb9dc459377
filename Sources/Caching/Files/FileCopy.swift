// Reads and copies files, and shows what they hold to those who compute something from it.

import Diagnostics
import Glibc
import RunFiles

enum FileCopy {
  /// `FICLONE` of <linux/fs.h>.
  private static let clone: UInt = 0x4004_9409
  private static let pieceSize = 1 << 18

  /// The SHA-256 of a file.
  static func digest(of file: Int32, _ path: String) throws(CacheFailure) -> CacheDigest {
    try measuredDigest(of: file, path).digest
  }

  /// The SHA-256 of a file, and how many bytes were read.
  static func measuredDigest(
    of file: Int32, _ path: String
  ) throws(CacheFailure) -> (digest: CacheDigest, size: Int) {
    var builder = DigestBuilder()
    var size = 0
    try eachPiece(of: file, path) { piece in
      builder.addRaw(piece)
      size += piece.count
    }
    return (builder.finish(), size)
  }

  /// Shows what a file holds.
  static func read(
    _ file: Int32, _ path: String, _ look: (UnsafeRawBufferPointer) -> Void
  ) throws(CacheFailure) {
    try eachPiece(of: file, path, look)
  }

  /// Copies the content, or shares its blocks where the file system can; `look` gets what the copy holds.
  static func copy(
    _ file: Int32, to copy: Int32, _ path: String, _ look: (UnsafeRawBufferPointer) -> Void
  ) throws(CacheFailure) {
    if ioctl(copy, clone, file) == 0 { return try eachPiece(of: copy, path, look) }
    var size = 0
    var endsInHole = false
    try eachPiece(of: file, path) { piece throws(CacheFailure) in
      look(piece)
      size += piece.count
      // A hole in the file reads as zeros and takes no room: disk images consist mostly of zeros.
      endsInHole =
        piece.count == pieceSize && isZero(piece) && lseek(copy, off_t(size), SEEK_SET) >= 0
      if !endsInHole { try write(piece, to: copy, path) }
    }
    if endsInHole, ftruncate(copy, off_t(size)) != 0 {
      throw CacheFailure("cannot copy \(quoted(path)): \(SystemError.reason(errno))")
    }
  }

  /// Content that is none begins with something else in nearly all pieces.
  private static func isZero(_ piece: UnsafeRawBufferPointer) -> Bool {
    guard let start = piece.baseAddress, piece.first == 0 else { return false }
    return memcmp(start, start + 1, piece.count - 1) == 0
  }

  private static func write(
    _ piece: UnsafeRawBufferPointer, to copy: Int32, _ path: String
  ) throws(CacheFailure) {
    guard writeFully(piece, to: copy) else {
      throw CacheFailure("cannot copy \(quoted(path)): \(SystemError.reason(errno))")
    }
  }

  private static func eachPiece(
    of file: Int32, _ path: String,
    _ body: (UnsafeRawBufferPointer) throws(CacheFailure) -> Void
  ) throws(CacheFailure) {
    var position = 0
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)
    defer { piece.deallocate() }
    while true {
      let count = pread(file, piece.baseAddress, piece.count, off_t(position))
      if count == 0 { return }
      if count > 0 {
        position += count
        try body(UnsafeRawBufferPointer(rebasing: piece[..<count]))
      } else if errno != EINTR {
        throw .unreadable(path, errno)
      }
    }
  }
}
