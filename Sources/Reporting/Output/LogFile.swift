// A log that may still grow, read by position and copied onward in fixed memory. It knows bytes
// and newlines, not steps.

import Glibc

/// An open log.
struct LogFile: ~Copyable {
  private let descriptor: Int32
  /// Up to this size a copy joins what the sink gathers, instead of a system call of its own.
  private static let smallCopy = 16 << 10

  /// Nil if there is no such file, or it cannot be read.
  init?(path: String) {
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
  }

  deinit { close(descriptor) }

  /// The current size in bytes; 0 if the kernel does not say.
  var size: Int {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Fills the buffer from the position on; fewer bytes at the end of the log.
  func read(at position: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    var count = 0
    while count < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
      let result = pread(descriptor, rest.baseAddress, rest.count, off_t(position + count))
      if result == 0 { break }
      if result < 0 {
        guard errno == EINTR else { break }
        continue
      }
      count += result
    }
    return count
  }

  /// The position after the last newline in the range; nil if it holds none.
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

  /// Copies the range to the sink's descriptor, inside the kernel where it can.
  /// Answers where it stopped: the end, unless the log is shorter or the sink failed.
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
        sink.fail()
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
}

extension LogFile {
  /// Whether the byte before the position is a newline.
  func endsInNewline(at position: Int, buffer: UnsafeMutableRawBufferPointer) -> Bool {
    let window = UnsafeMutableRawBufferPointer(rebasing: buffer[..<1])
    return read(at: position - 1, into: window) == 1 && window[0] == UInt8(ascii: "\n")
  }
}
