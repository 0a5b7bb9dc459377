// A buffered writer of bytes onto a descriptor that somebody else owns. It knows nothing of text
// but how to append it, and it never throws: a reader that went away must not stop a run.

import Glibc

/// Gathers bytes in a buffer of fixed size and writes them in as few calls as possible.
///
/// After the first failed write it is silent: everything is accepted, nothing is written.
package final class ByteSink {
  package let descriptor: Int32
  /// Nobody reads any more, or the device is full.
  package private(set) var hasFailed = false
  private let buffer: UnsafeMutableRawBufferPointer
  private var count = 0
  private var flushed = 0

  /// Bytes accepted so far: what was appended between two moments is as long as the difference.
  var position: Int { flushed + count }

  package init(descriptor: Int32, capacity: Int = 64 << 10) {
    self.descriptor = descriptor
    buffer = .allocate(byteCount: capacity, alignment: 16)
  }

  /// A sink whose output nobody sees, to measure text by its `position`.
  static func nowhere() -> ByteSink { ByteSink(descriptor: -1, capacity: 1024) }

  deinit {
    flush()
    buffer.deallocate()
  }

  package func write(_ byte: UInt8) {
    if count == buffer.count { flush() }
    buffer[count] = byte
    count += 1
  }

  package func write(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
    if bytes.count > buffer.count - count {
      flush()
      guard bytes.count <= buffer.count else {
        flushed += bytes.count
        return writeNow(source, bytes.count)
      }
    }
    guard let start = buffer.baseAddress else { return }
    (start + count).copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
  }

  /// Writes what was gathered.
  package func flush() {
    guard count > 0, let start = buffer.baseAddress else { return }
    let size = count
    count = 0
    flushed += size
    writeNow(UnsafeRawPointer(start), size)
  }

  /// Tells the sink that a write past it (by `sendfile`) failed.
  func fail() { hasFailed = true }

  private func writeNow(_ start: UnsafeRawPointer, _ size: Int) {
    var written = 0
    while written < size, !hasFailed {
      let result = Glibc.write(descriptor, start + written, size - written)
      if result >= 0 {
        written += result
      } else if errno == EAGAIN {
        waitUntilWritable()
      } else if errno != EINTR {
        hasFailed = true
      }
    }
  }

  /// A descriptor shared with another program may be non-blocking without our doing.
  func waitUntilWritable() {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    while poll(&entry, 1, -1) < 0, errno == EINTR {}
  }
}
