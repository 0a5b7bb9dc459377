// An open log: its writer and the code that shows it share one descriptor, so what is shown is what
// was written, whatever has its name by now. It knows bytes and positions, not steps.

import Glibc

/// An open log, closed when nothing uses it any more. It may still grow; all access is by position.
package final class LogFile {
  package let descriptor: Int32

  /// Takes ownership of the descriptor.
  package init(owning descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Takes ownership of a descriptor that was opened by name; nil if it is no regular file.
  package convenience init?(opened descriptor: Int32) {
    self.init(owning: descriptor)
    guard let status, let identity = Self.identity(status) else { return nil }
    self.identity = identity
    firstSize = Int(status.st_size)
  }

  private var firstSize: Int?

  /// The size of a log that no longer grows: the size that it had when it was opened by name.
  package var finalSize: Int { firstSize ?? size }

  /// The current size in bytes; 0 if the kernel does not say.
  package var size: Int { status.map { Int($0.st_size) } ?? 0 }

  /// The identity of the file; nil if the kernel does not say, or it is not a regular file.
  package private(set) lazy var identity: FileIdentity? = status.flatMap(Self.identity)

  private static func identity(_ status: stat) -> FileIdentity? {
    status.st_mode & S_IFMT == S_IFREG ? FileIdentity(status) : nil
  }

  private var status: stat? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? status : nil
  }

  /// Fills the buffer from the position on; returns fewer bytes at the end of the log.
  package func read(at position: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    readFully(descriptor, into: buffer, at: position) ?? 0
  }
}
