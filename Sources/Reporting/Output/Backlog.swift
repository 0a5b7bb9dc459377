// Output that a reader has not accepted yet, in order: an unnamed file, so that memory does not
// grow with it. It knows only bytes.

import Glibc
import RunFiles

/// A queue of bytes on disk. The file is created when it is first needed, and takes no space while
/// the queue is empty.
struct Backlog: ~Copyable {
  private let name: String
  private let directory: RunDirectory
  private var file: Int32 = -1
  /// The position up to which bytes were accepted.
  private var start = 0
  private var end = 0

  /// Makes an empty queue. The name is used only for a moment.
  init(name: String, in directory: RunDirectory) {
    self.name = name
    self.directory = directory
  }

  deinit { if file >= 0 { close(file) } }

  var isEmpty: Bool { start == end }

  /// Appends bytes; false if they cannot be kept because the disk is full, or the directory does
  /// not exist.
  mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if file < 0 {
      guard let made = try? directory.make(name) else { return false }
      file = made
      directory.remove(name)
    }
    var count = 0
    while count < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[count...])
      let result = pwrite(file, rest.baseAddress, rest.count, off_t(end))
      guard result > 0 || errno == EINTR else { return false }
      count += max(0, result)
      end += max(0, result)
    }
    return true
  }

  /// The oldest bytes, as many as fit; they stay until they are dropped.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer {
    let wanted = min(buffer.count, end - start)
    let count = pread(file, buffer.baseAddress, wanted, off_t(start))
    return UnsafeRawBufferPointer(rebasing: buffer[..<max(0, count)])
  }

  mutating func drop(_ count: Int) {
    start += count
    if isEmpty { clear() }
  }

  mutating func clear() {
    start = 0
    end = 0
    if file >= 0 { ftruncate(file, 0) }
  }
}
