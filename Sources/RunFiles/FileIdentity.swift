// Which file it is that several names may lead to.

package import Glibc

/// Identifies a file or a directory, whatever its name.
package struct FileIdentity: Hashable, Sendable {
  private let device: UInt
  private let number: UInt

  package init(_ status: stat) {
    device = UInt(status.st_dev)
    number = UInt(status.st_ino)
  }

  /// Nil if the kernel does not say.
  package init?(of descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  /// What a path leads to; nil if it leads to nothing.
  package init?(at path: String, in folder: Int32 = AT_FDCWD) {
    var status = stat()
    guard fstatat(folder, path, &status, 0) == 0 else { return nil }
    self.init(status)
  }
}
