// Bytes that go through the pipes between oprun and its processes.

import Glibc

/// Appends the bytes that a pipe has; if it does not block, without waiting for more. False if
/// nobody can write to it any more.
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
