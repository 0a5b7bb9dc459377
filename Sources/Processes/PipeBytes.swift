// Bytes that go through the pipes between oprun and its processes.

import Glibc

/// Appends what a pipe has, without waiting for more if it does not block. False if nobody can write to it any more.
package func readAvailable(from pipe: Int32, into bytes: inout [UInt8]) -> Bool {
  var piece = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = read(pipe, &piece, piece.count)
    if count > 0 {
      bytes += piece[..<count]
    } else if count == 0 {
      return false
    } else if errno != EINTR {
      return true
    }
  }
}

/// Writes all bytes, and waits as long as there is no room for them. False if that failed, with `errno` saying why.
package func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return false }
  }
  return true
}
