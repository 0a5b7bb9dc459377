// Finds out whether a result could not be written because there was no space. Encoders only say
// that writing failed, and errno may come from something later, or long before.

import Glibc

enum FullDisk {
  /// Tries to write once more. The bytes are never published.
  static func holds(_ descriptor: Int32) -> Bool {
    let block = [UInt8](repeating: 0, count: 64 << 10)
    lseek(descriptor, 0, SEEK_END)
    let count = write(descriptor, block, block.count)
    return count < 0 ? errno == ENOSPC || errno == EDQUOT : count < block.count
  }
}
