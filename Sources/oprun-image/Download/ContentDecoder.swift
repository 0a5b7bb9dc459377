// Unpacks content that a server has packed on the way, and knows whether its end has come: the one file
// that calls zlib. libcurl's own unpacking takes a cut content for a whole one.

import CZlib

/// Belongs to one answer.
final class ContentDecoder {
  enum Outcome: Hashable { case taken, refused, damaged }

  /// zlib keeps its address.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 << 10, alignment: 16)
  private let isGzip: Bool
  private var hasOutput = false
  private(set) var isAtEnd = false

  /// Nil if the encoding is not known, or is several.
  init?(_ encoding: String) {
    let name = encoding.lowercased()
    guard ["gzip", "x-gzip", "deflate"].contains(name) else { return nil }
    isGzip = name != "deflate"
    stream.initialize(to: z_stream())
    // Of both formats; zlib.h, inflateInit2.
    guard czlib_start(stream, 15 + 32) == Z_OK else { return nil }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
    buffer.deallocate()
  }

  /// Hands on what comes out, until `take` says no.
  func decode(
    _ bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) -> Bool
  ) -> Outcome {
    let input = UnsafeMutablePointer(
      mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    stream.pointee.next_in = input
    stream.pointee.avail_in = UInt32(bytes.count)
    while stream.pointee.avail_in > 0 {
      if isAtEnd {
        // A gzip file can be several, one after another: RFC 1952, 2.2.
        guard isGzip, inflateReset(stream) == Z_OK else { return .damaged }
        isAtEnd = false
      }
      var (code, count) = inflateOnce()
      if code == Z_DATA_ERROR, !isGzip, !hasOutput, inflateReset2(stream, -15) == Z_OK {
        // Some send deflate without the frame that RFC 9110, 8.4.1.2, wants.
        stream.pointee.next_in = input
        stream.pointee.avail_in = UInt32(bytes.count)
        (code, count) = inflateOnce()
      }
      guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else { return .damaged }
      isAtEnd = code == Z_STREAM_END
      hasOutput = hasOutput || count > 0
      if count > 0, !take(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { return .refused }
      if code == Z_BUF_ERROR, count == 0 { break }
    }
    return .taken
  }

  private func inflateOnce() -> (code: Int32, count: Int) {
    stream.pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = UInt32(buffer.count)
    let code = inflate(stream, Z_NO_FLUSH)
    return (code, buffer.count - Int(stream.pointee.avail_out))
  }
}
