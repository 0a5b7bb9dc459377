// Writes whole files that others may read or edit at any time.

package import Diagnostics
import Glibc

/// A file that other programs see as it was, or complete. Its mode stays, its owner if the system allows it, and
/// a link to it still leads to it. What cannot be replaced, such as a FIFO or a device, is written to.
package final class ReplacedFile {
  package private(set) var descriptor: Int32
  private let path: String
  /// The name until it is complete, and its name then; nil if it is written to directly.
  private var names: (temporary: String, final: String)?

  package init(_ path: String) throws(SystemError) {
    self.path = path
    let target = try WrittenPath(path)
    switch target.kind {
    case .file:
      // Somebody may have made it read-only, although its directory is not.
      if target.status != nil, access(target.path, W_OK) != 0 { throw unwritable(path, errno) }
      // The name may have as many bytes as a name can.
      let temporary =
        "\(parent(of: target.path))/.oprun-\(hexadecimal(.random(in: .min ... .max), digits: 16))"
      descriptor = openForWriting(
        temporary, O_EXCL | O_NOFOLLOW, mode: target.status == nil ? 0o666 : 0o600)
      if descriptor >= 0 { names = (temporary, target.path) }
    case .descriptor(let number): descriptor = reopened(number)
    case .other: descriptor = openForWriting(target.path, O_APPEND)
    }
    guard descriptor >= 0 else { throw unwritable(path, errno) }
    if names != nil, let status = target.status {
      _ = fchown(descriptor, status.st_uid, status.st_gid)
      _ = fchmod(descriptor, status.st_mode & 0o7777)
    }
  }

  deinit { _ = close() }

  /// The whole file has been written; `error` is that of writing to it, or 0.
  package func finish(_ error: Int32) throws(SystemError) {
    let names = names
    self.names = nil
    var reason = close()
    if error != 0 { reason = error }
    if let names {
      if reason == 0, rename(names.temporary, names.final) != 0 { reason = errno }
      if reason != 0 { unlink(names.temporary) }
    }
    if reason != 0 { throw unwritable(path, reason) }
  }

  /// Returns the error, or 0.
  private func close() -> Int32 {
    if let names { unlink(names.temporary) }
    guard descriptor >= 0 else { return 0 }
    defer { descriptor = -1 }
    return Glibc.close(descriptor) == 0 ? 0 : errno
  }
}

/// Replaces a file as a whole.
package func replaceFile(_ path: String, with bytes: [UInt8]) throws(SystemError) {
  let file = try ReplacedFile(path)
  let sink = ByteSink(report: file.descriptor)
  bytes.withUnsafeBytes { sink.write($0) }
  sink.flush()
  try file.finish(sink.errorNumber)
}

/// Opens again what somebody has opened. In a file, all who write to it go on where the last one has stopped.
private func reopened(_ number: Int32) -> Int32 {
  var status = stat()
  let isFile = fstat(number, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  if isFile { return fcntl(number, F_DUPFD_CLOEXEC, 0) }
  return openForWriting("/proc/self/fd/\(number)", O_APPEND)
}
