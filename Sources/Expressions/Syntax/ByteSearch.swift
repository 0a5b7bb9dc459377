// Finds bytes in text, many at a time: the C library compares as many as the processor can.

import Glibc

extension UnsafeBufferPointer<UInt8> {
  /// The first position of a byte, from a position on.
  package func place(of byte: UInt8, from start: Int = 0) -> Int? {
    guard start < count, let first = baseAddress.map(UnsafeRawPointer.init) else { return nil }
    return memchr(first + start, Int32(byte), count - start).map { first.distance(to: $0) }
  }

  /// The position of the next expression, `${{`.
  package func expressionStart(from start: Int = 0) -> Int? {
    var next = start
    while let place = place(of: UInt8(ascii: "$"), from: next), place + 2 < count {
      if self[place + 1] == UInt8(ascii: "{"), self[place + 2] == UInt8(ascii: "{") { return place }
      next = place + 1
    }
    return nil
  }
}
