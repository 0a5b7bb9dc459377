// File names and values of variables as strings without loss: for Linux they are bytes, and not
// always UTF-8.

import Glibc

/// A byte that is not part of UTF-8 is represented by a scalar of an unassigned range. A text that
/// really contains such a scalar is treated as four of these bytes, so that no two have the same
/// string.
package enum ByteText {
  private static let base: UInt32 = 0x10_FF00
  private static let stray: ClosedRange<UInt32> = 0x10_FF80...0x10_FFFF

  package static func text(of bytes: UnsafePointer<CChar>) -> String {
    text(of: Array(UnsafeRawBufferPointer(start: bytes, count: strlen(bytes))))
  }

  package static func text(of bytes: [UInt8]) -> String {
    var text = String.UnicodeScalarView()
    var parser = UTF8.ForwardParser()
    var rest = bytes.makeIterator()
    var position = 0
    while true {
      var length = 0
      switch parser.parseScalar(from: &rest) {
      case .emptyInput: return String(text)
      case .error(let count): length = count
      case .valid(let encoded):
        let scalar = UTF8.decode(encoded)
        if !isStray(scalar) {
          text.append(scalar)
          position += encoded.count
          continue
        }
        length = encoded.count
      }
      for byte in bytes[position..<position + length] {
        if let scalar = Unicode.Scalar(base + UInt32(byte)) { text.append(scalar) }
      }
      position += length
    }
  }

  /// Calls `body` with the bytes as the system knows them, and a NUL.
  package static func withBytes<Value>(_ text: String, _ body: (UnsafePointer<CChar>) -> Value)
    -> Value
  {
    guard text.unicodeScalars.contains(where: isStray) else { return body(text) }
    var bytes: [CChar] = []
    for scalar in text.unicodeScalars {
      if isStray(scalar) {
        bytes.append(CChar(bitPattern: UInt8(truncatingIfNeeded: scalar.value)))
      } else {
        bytes += UTF8.encode(scalar).map { $0.map { CChar(bitPattern: $0) } } ?? []
      }
    }
    return body(bytes + [0])
  }

  package static func isStray(_ scalar: Unicode.Scalar) -> Bool { stray.contains(scalar.value) }

  package static func isWhole(_ text: String) -> Bool {
    !text.unicodeScalars.contains(where: isStray)
  }

  /// The text for people and for JSON: `caf\xe9.jpg`.
  package static func shown(_ text: String) -> String {
    if isWhole(text) { return text }
    return text.unicodeScalars.map { scalar in
      isStray(scalar) ? "\\x" + String(scalar.value & 0xFF, radix: 16) : String(scalar)
    }.joined()
  }
}
