// Tells whether several names lead to the same file.

package import Glibc

/// Identifies a file or a directory, whatever its name.
package struct FileIdentity: Hashable, Sendable {
  private let device: UInt
  private let number: UInt

  package init(_ status: stat) {
    device = UInt(status.st_dev)
    number = UInt(status.st_ino)
  }

  /// Identifies an open file; nil if the kernel cannot.
  package init?(of descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  /// Identifies the file that a path leads to; nil if there is none.
  package init?(at path: String, in folder: Int32 = AT_FDCWD) {
    var status = stat()
    guard fstatat(folder, path, &status, 0) == 0 else { return nil }
    self.init(status)
  }
}
