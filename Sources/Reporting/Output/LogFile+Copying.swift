// Searches and copies a log that may still grow, in fixed memory.

import Glibc
import RunFiles

extension LogFile {
  /// Up to this size a copy goes through the sink's buffer, instead of needing a separate system
  /// call.
  private static let smallCopy = 16 << 10

  /// The position after the last newline in the range; nil if there is none.
  func endOfLastLine(in range: Range<Int>, buffer: UnsafeMutableRawBufferPointer) -> Int? {
    let step = min(4096, buffer.count)
    var end = range.upperBound
    while end > range.lowerBound {
      let start = max(range.lowerBound, end - step)
      let window = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(end - start)])
      let bytes = UnsafeRawBufferPointer(rebasing: window[..<read(at: start, into: window)])
      if let newline = bytes.lastIndex(of: UInt8(ascii: "\n")) { return start + newline + 1 }
      end = start
    }
    return nil
  }

  /// Copies the range to the sink's descriptor, inside the kernel where possible. Returns the
  /// position where it stopped: the end, unless the log is shorter or the sink failed.
  func copy(_ range: Range<Int>, to sink: ByteSink, buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard range.count > Self.smallCopy else { return copyByHand(range, to: sink, buffer: buffer) }
    sink.flush()
    var position = range.lowerBound
    while position < range.upperBound, !sink.hasFailed {
      guard let target = sink.copyTarget else {
        return copyByHand(position..<range.upperBound, to: sink, buffer: buffer)
      }
      var offset = off_t(position)
      let result = sendfile(target, descriptor, &offset, min(range.upperBound - position, 1 << 30))
      if result > 0 {
        position += result
      } else if result == 0 {
        return position
      } else if errno == EAGAIN {
        guard sink.waitUntilWritable() else {
          return copyByHand(position..<range.upperBound, to: sink, buffer: buffer)
        }
      } else if errno == EINVAL || errno == ENOSYS {
        // A file opened for appending and some devices cannot be the end of a sendfile.
        return copyByHand(position..<range.upperBound, to: sink, buffer: buffer)
      } else if errno != EINTR {
        sink.fail(errno)
      }
    }
    return position
  }

  private func copyByHand(
    _ range: Range<Int>, to sink: ByteSink, buffer: UnsafeMutableRawBufferPointer
  ) -> Int {
    var position = range.lowerBound
    while position < range.upperBound, !sink.hasFailed {
      let wanted = min(buffer.count, range.upperBound - position)
      let window = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
      let count = read(at: position, into: window)
      if count == 0 { break }
      sink.write(UnsafeRawBufferPointer(rebasing: window[..<count]))
      position += count
    }
    return position
  }

  /// True if the byte before the position is a newline.
  func endsInNewline(at position: Int, buffer: UnsafeMutableRawBufferPointer) -> Bool {
    let window = UnsafeMutableRawBufferPointer(rebasing: buffer[..<1])
    return read(at: position - 1, into: window) == 1 && window[0] == UInt8(ascii: "\n")
  }
}
