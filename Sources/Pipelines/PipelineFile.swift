// Reads the bytes of a pipeline file, and refuses files that cannot be one. It knows nothing about
// YAML.

import Diagnostics
import Glibc

/// Why the bytes of a pipeline file could not be read.
package struct InputFailure: Error, Hashable, Sendable {
  /// The message, including the path and the reason: `cannot read 'a.yml': no such file or
  /// directory`.
  package let message: String
  package let help: String?

  package init(_ message: String, help: String? = nil) {
    self.message = message
    self.help = help
  }
}

/// Reads the whole file; `-` is standard input.
package func readPipelineFile(_ path: String) throws(InputFailure) -> [UInt8] {
  let input = try PipelineInput(path)
  return try input.read()
}

/// A file that is open for reading.
private struct PipelineInput: ~Copyable {
  private let descriptor: Int32
  private let name: String
  /// The size of the file when it was opened, in bytes; 0 if it is not known.
  private let expectedByteCount: Int

  init(_ path: String) throws(InputFailure) {
    if path == "-" {
      name = "standard input"
      descriptor = STDIN_FILENO
      expectedByteCount = 0
      return
    }
    name = quoted(path)
    // Without O_NONBLOCK opening a FIFO waits for a writer.
    descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    if descriptor < 0 { throw InputFailure("cannot open \(name): \(SystemError.reason(errno))") }
    do {
      expectedByteCount = try PipelineInput.size(of: descriptor, name)
    } catch {
      close(descriptor)
      throw error
    }
  }

  deinit {
    if descriptor != STDIN_FILENO { close(descriptor) }
  }

  private static func size(of descriptor: Int32, _ name: String) throws(InputFailure) -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw InputFailure("cannot examine \(name): \(SystemError.reason(errno))")
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR:
      throw InputFailure("\(name) is a directory, not a file")
    default:
      throw InputFailure(
        "\(name) is not a regular file", help: "'-' reads the pipeline from standard input")
    }
    guard status.st_size <= TextCheck.maxByteCount else { throw tooLarge(name) }
    return Int(status.st_size)
  }

  private static func tooLarge(_ name: String) -> InputFailure {
    InputFailure("\(name) is larger than 64 MiB, which is the limit")
  }

  func read() throws(InputFailure) -> [UInt8] {
    var bytes = try readExpected()
    // If the size was known, only bytes that were added since are left.
    var chunk = [UInt8](repeating: 0, count: expectedByteCount > 0 ? 4096 : 65536)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count == 0 { return bytes }
      if count > 0 {
        bytes.append(contentsOf: chunk[..<count])
        if bytes.count > TextCheck.maxByteCount { throw PipelineInput.tooLarge(name) }
      } else if errno != EINTR {
        throw InputFailure("cannot read \(name): \(SystemError.reason(errno))")
      }
    }
  }

  /// Asks for large pages. The kernel allocates each page of 4 KiB separately when it is first
  /// touched, which takes longer than reading it. A refusal changes nothing.
  private static func askForLargePages(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
    let start = UnsafeMutableRawPointer(buffer.baseAddress)?.alignedUp(toMultipleOf: 4096)
    guard buffer.count >= 4 << 20, let start else { return }
    madvise(start, buffer.count - 4096, MADV_HUGEPAGE)
  }

  /// Reads as many bytes as the file had when it was opened, directly into the array.
  private func readExpected() throws(InputFailure) -> [UInt8] {
    var failure: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: expectedByteCount) { buffer, count in
      Self.askForLargePages(buffer)
      while count < buffer.count {
        let rest = UnsafeMutableBufferPointer(rebasing: buffer[count...])
        let step = Glibc.read(descriptor, rest.baseAddress, rest.count)
        if step > 0 {
          count += step
        } else if step == 0 {
          return
        } else if errno != EINTR {
          failure = errno
          return
        }
      }
    }
    if failure != 0 { throw InputFailure("cannot read \(name): \(SystemError.reason(failure))") }
    return bytes
  }
}
