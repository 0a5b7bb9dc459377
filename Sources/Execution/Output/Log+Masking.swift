// A log of a run with secrets: bytes pass through our memory, and leave it masked.

import Diagnostics
import Glibc
import Masking

/// The stream of one log, and room for a piece of it.
struct LogMask: ~Copyable {
  private var stream: MaskingStream
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)
  private(set) var output: [UInt8] = []

  private static let pieceSize = 128 << 10

  init(_ masker: Masker) { stream = MaskingStream(masker) }

  deinit { buffer.deallocate() }

  /// Like `read(2)`; afterwards `output` has the part of the text that is decided.
  mutating func read(from pipe: Int32) -> Int {
    output.removeAll(keepingCapacity: true)
    let count = Glibc.read(pipe, buffer.baseAddress, buffer.count)
    if count > 0 {
      stream.mask(UnsafeRawBufferPointer(rebasing: buffer[..<count]), into: &output)
    }
    return count
  }

  mutating func finish() {
    output.removeAll(keepingCapacity: true)
    stream.finish(into: &output)
  }
}
