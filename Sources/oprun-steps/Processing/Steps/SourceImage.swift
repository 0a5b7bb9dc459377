// An image file that was opened and identified.

import Diagnostics
import Glibc

final class SourceImage: Sendable {
  let descriptor: Int32
  let format: ImageFormat

  /// Opens an image; refuses anything that is not one by its first bytes, before a worker gets it.
  convenience init(_ path: String, reading formats: [ImageFormat]) throws(ImageFailure) {
    // A FIFO without a writer would block the opening.
    let descriptor = ByteText.withBytes(path) { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard descriptor >= 0 else {
      throw .system(SystemError("cannot open \(quoted(ByteText.shown(path)))", errno: errno))
    }
    try self.init(owning: descriptor, reading: formats)
  }

  init(owning descriptor: Int32, reading formats: [ImageFormat]) throws(ImageFailure) {
    self.descriptor = descriptor
    do throws(ImageFailure) {
      format = try SourceImage.format(of: descriptor, reading: formats)
    } catch {
      close(descriptor)
      throw error
    }
  }

  deinit { close(descriptor) }

  private static func format(
    of descriptor: Int32, reading formats: [ImageFormat]
  ) throws(ImageFailure) -> ImageFormat {
    var status = stat()
    fstat(descriptor, &status)
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw status.st_mode & S_IFMT == S_IFDIR ? .isFolder : .noFile
    }
    var head = [UInt8](repeating: 0, count: FileKind.length)
    let count = pread(descriptor, &head, head.count, 0)
    guard count >= 0 else { throw .system(SystemError("cannot read it", errno: errno)) }
    switch FileKind(firstBytes: head.prefix(count)) {
    case .other(let words): throw .notAnImage(words, wanted: formats)
    case .image(let format):
      guard formats.contains(format) else { throw .formatNotAllowed(format, wanted: formats) }
      return format
    }
  }
}

/// Identifies a file, whatever its name.
struct FileIdentity: Hashable, Sendable {
  private let device: UInt
  private let number: UInt

  /// The file that is read by this name; nil if there is none.
  init?(readAt path: String) {
    var status = stat()
    guard ByteText.withBytes(path, { stat($0, &status) }) == 0 else { return nil }
    self.init(status)
  }

  /// The file that would be replaced by one of this name: for a link, the link itself. Nil if there
  /// is none.
  init?(replacedAt path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  private init(_ status: stat) {
    device = UInt(status.st_dev)
    number = UInt(status.st_ino)
  }
}
