// Reads and copies files, with their SHA-256.

import Diagnostics
import Glibc

enum FileCopy {
  /// `FICLONE` of <linux/fs.h>.
  private static let clone: UInt = 0x4004_9409
  private static let pieceSize = 1 << 18

  static func digest(of file: Int32, _ path: String) throws(CacheFault) -> CacheDigest {
    try eachPiece(of: file, path) { _ in true }
  }

  /// Copies the content, or shares its blocks where the file system can, and returns the digest of what the
  /// copy holds.
  static func copy(
    _ file: Int32, to copy: Int32, _ path: String
  ) throws(CacheFault) -> CacheDigest {
    if ioctl(copy, clone, file) == 0 { return try digest(of: copy, path) }
    var failure: Int32 = 0
    let digest = try eachPiece(of: file, path) { piece in
      var rest = piece
      while !rest.isEmpty {
        let count = write(copy, rest.baseAddress, rest.count)
        if count > 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        } else if errno != EINTR {
          failure = errno
          return false
        }
      }
      return true
    }
    if failure != 0 {
      throw CacheFault("cannot copy \(quoted(path)): \(SystemError.reason(failure))")
    }
    return digest
  }

  private static func eachPiece(
    of file: Int32, _ path: String, _ body: (UnsafeRawBufferPointer) -> Bool
  ) throws(CacheFault) -> CacheDigest {
    var builder = DigestBuilder()
    var position = 0
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)
    defer { piece.deallocate() }
    while true {
      let count = pread(file, piece.baseAddress, piece.count, off_t(position))
      if count == 0 { break }
      if count > 0 {
        let bytes = UnsafeRawBufferPointer(rebasing: piece[..<count])
        builder.addRaw(bytes)
        position += count
        if !body(bytes) { break }
      } else if errno != EINTR {
        throw .unreadable(path, errno)
      }
    }
    return builder.finish()
  }
}
