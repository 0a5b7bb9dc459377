// Decompresses content that a server has compressed for transfer, and knows whether it is complete.
// This is the only file that calls zlib. libcurl's own decompression accepts a truncated content as
// complete.

import CZlib

/// A decoder for one response.
final class ContentDecoder {
  enum Outcome: Hashable { case taken, refused, damaged }
  private enum Step: Hashable { case goesOn, hasEnded, refused, damaged }

  /// The stream; zlib keeps its address.
  private let stream: UnsafeMutablePointer<z_stream>
  private let buffer: UnsafeMutableRawBufferPointer
  private let isGzip: Bool
  /// The first bytes of a deflate content, which may turn out to be its frame.
  private var frame: [UInt8] = []
  private var isStarted = false
  private(set) var isAtEnd = false

  /// Nil if the encoding is unknown, or consists of several.
  init?(_ encoding: String) {
    let name = encoding.lowercased()
    guard ["gzip", "x-gzip", "deflate"].contains(name) else { return nil }
    isGzip = name != "deflate"
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    buffer = .allocate(byteCount: 128 << 10, alignment: 16)
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
    buffer.deallocate()
  }

  /// Passes on the decompressed bytes, until `take` returns false.
  func decode(
    _ bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) -> Bool
  ) -> Outcome {
    if isStarted { return inflateAll(bytes, take) }
    if isGzip {
      // The two formats that zlib detects by itself: zlib.h, inflateInit2.
      guard start(15 + 32) else { return .damaged }
      return inflateAll(bytes, take)
    }
    let missing = bytes.prefix(2 - frame.count)
    frame += missing
    guard frame.count == 2 else { return .taken }
    guard start(Self.isFrame(frame) ? 15 : -15) else { return .damaged }
    let outcome = frame.withUnsafeBytes { inflateAll($0, take) }
    let rest = UnsafeRawBufferPointer(rebasing: bytes[missing.endIndex...])
    return outcome == .taken ? inflateAll(rest, take) : outcome
  }

  /// True if the bytes begin a frame. Some servers send deflate without the frame that RFC 9110,
  /// 8.4.1.2, requires. RFC 1950, 2.2, says how one begins.
  private static func isFrame(_ bytes: [UInt8]) -> Bool {
    bytes[0] & 0x0f == 8 && bytes[0] >> 4 <= 7 && (Int(bytes[0]) << 8 | Int(bytes[1])) % 31 == 0
  }

  private func start(_ windowBits: Int32) -> Bool {
    isStarted = czlib_start(stream, windowBits) == Z_OK
    return isStarted
  }

  private func inflateAll(
    _ bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) -> Bool
  ) -> Outcome {
    stream.pointee.next_in = UnsafeMutablePointer(
      mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    stream.pointee.avail_in = UInt32(bytes.count)
    while stream.pointee.avail_in > 0 {
      if isAtEnd {
        // A gzip file can be several, one after another: RFC 1952, 2.2.
        guard isGzip, inflateReset(stream) == Z_OK else { return .damaged }
        isAtEnd = false
      }
      // More may come out when everything has gone in.
      var step = Step.goesOn
      repeat { step = inflateOnce(take) } while step == .goesOn && stream.pointee.avail_out == 0
      switch step {
      case .goesOn: break
      case .hasEnded: isAtEnd = true
      case .refused: return .refused
      case .damaged: return .damaged
      }
    }
    return .taken
  }

  private func inflateOnce(_ take: (UnsafeRawBufferPointer) -> Bool) -> Step {
    stream.pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = UInt32(buffer.count)
    let code = inflate(stream, Z_NO_FLUSH)
    // Having nothing to do is not an error: zlib.h, inflate.
    guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else { return .damaged }
    let count = buffer.count - Int(stream.pointee.avail_out)
    if count > 0, !take(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { return .refused }
    return code == Z_STREAM_END ? .hasEnded : .goesOn
  }
}
