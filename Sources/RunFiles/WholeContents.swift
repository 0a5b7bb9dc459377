// Writes and reads all bytes of a piece of a file, however many calls of the system that takes. A
// disk that becomes full takes a part of them, and says why only to the next call.

import Glibc

/// Writes all of the bytes: at an offset, or at the current position of the file. False, with
/// `errno`, if that fails.
package func writeFully(
  _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: Int? = nil
) -> Bool {
  var rest = bytes
  while !rest.isEmpty {
    let count =
      offset.map {
        pwrite(descriptor, rest.baseAddress, rest.count, off_t($0 + bytes.count - rest.count))
      }
      ?? write(descriptor, rest.baseAddress, rest.count)
    if count < 0, errno == EINTR { continue }
    if count == 0 { errno = EIO }
    guard count > 0 else { return false }
    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
  }
  return true
}

package func writeFully(_ bytes: [UInt8], to descriptor: Int32, at offset: Int? = nil) -> Bool {
  bytes.withUnsafeBytes { writeFully($0, to: descriptor, at: offset) }
}

/// Fills the buffer: from an offset, or from the current position of the file. Returns the number
/// of bytes, which is smaller at the end of the file; nil, with `errno`, if that fails.
package func readFully(
  _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int? = nil
) -> Int? {
  var count = 0
  while count < buffer.count {
    let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
    let step =
      offset.map { pread(descriptor, rest.baseAddress, rest.count, off_t($0 + count)) }
      ?? read(descriptor, rest.baseAddress, rest.count)
    if step == 0 { break }
    if step < 0, errno != EINTR { return nil }
    count += max(0, step)
  }
  return count
}

/// All bytes from the current position of a file to its end, whatever size it claims to have; nil,
/// with `errno`, if that fails.
package func readToEnd(_ descriptor: Int32) -> [UInt8]? {
  var bytes: [UInt8] = []
  var piece = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    guard let count = piece.withUnsafeMutableBytes({ readFully(descriptor, into: $0) }) else {
      return nil
    }
    bytes += piece[..<count]
    if count < piece.count { return bytes }
  }
}

/// Reads at most `limit` bytes from the current position of a file; nil, with `errno`, if that fails.
package func readFully(_ descriptor: Int32, atMost limit: Int) -> [UInt8]? {
  var isRead = true
  let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
    let read = readFully(descriptor, into: UnsafeMutableRawBufferPointer(buffer))
    isRead = read != nil
    count = read ?? 0
  }
  return isRead ? bytes : nil
}
