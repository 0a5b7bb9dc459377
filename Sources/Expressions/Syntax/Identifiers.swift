// The rules for ids and names in a file.

/// True if the text is `[A-Za-z_][A-Za-z0-9_-]*` and at most 128 bytes long.
package func isIdentifier(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
  guard let first = text.first, text.count <= 128, isLetter(first) else { return false }
  for byte in text where !isLetter(byte) && !isDigit(byte) && byte != UInt8(ascii: "-") {
    return false
  }
  return true
}

/// True if the text can be the id of a step: `[A-Za-z_][A-Za-z0-9_.:-]*`, at most 128 bytes.
package func isStepID(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
  guard let first = text.first, text.count <= 128, isLetter(first) else { return false }
  for byte in text where !isLetter(byte) && !isDigit(byte) && !isJoint(byte) { return false }
  return true
}

/// True for `-`, `.` and `:`.
@inline(__always)
private func isJoint(_ byte: UInt8) -> Bool {
  byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: ":")
}

/// True for `[A-Za-z0-9_]`.
package func isWordByte(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }

@inline(__always)
private func isLetter(_ byte: UInt8) -> Bool {
  (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z")
    || byte == UInt8(ascii: "_")
}

@inline(__always)
private func isDigit(_ byte: UInt8) -> Bool {
  byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
}
