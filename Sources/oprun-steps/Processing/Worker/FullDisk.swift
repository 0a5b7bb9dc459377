// Whether a result could not be written for want of room. Encoders say no more than that writing failed,
// and errno can be of something that came after, or long before.

import Glibc

enum FullDisk {
  /// Tries once more. What is written then is never published.
  static func holds(_ descriptor: Int32) -> Bool {
    let block = [UInt8](repeating: 0, count: 64 << 10)
    lseek(descriptor, 0, SEEK_END)
    let count = write(descriptor, block, block.count)
    return count < 0 ? errno == ENOSPC || errno == EDQUOT : count < block.count
  }
}
