// Reads files of the kernel, which do not report a size.

import Glibc

/// The bytes of a file such as those of /proc, read to its end; nil if it cannot be read. At most
/// 4 MiB.
package func readSmallFile(_ path: String) -> [UInt8]? {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  var content: [UInt8] = []
  var piece = [UInt8](repeating: 0, count: 4096)
  while content.count < 4 << 20 {
    let count = read(descriptor, &piece, piece.count)
    if count < 0, errno == EINTR { continue }
    guard count > 0 else { return count == 0 ? content : nil }
    content.append(contentsOf: piece[..<count])
  }
  return content
}
