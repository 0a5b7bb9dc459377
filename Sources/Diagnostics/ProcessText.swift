// Strings that a process receives as bytes: arguments, and environment variables.

import Glibc

/// A failure for bytes that are not UTF-8. They are not replaced, because that would give a different value.
package struct TextDecodingFailure: Error, Hashable {
  /// The value in the form in which it may appear in a message: `v=\xff`.
  package let shown: String
}

/// A variable of this process, with U+FFFD for invalid UTF-8; nil if it is not set.
package func environmentValue(_ name: String) -> String? {
  getenv(name).map { String(cString: $0) }
}

package func text(of bytes: UnsafePointer<CChar>) throws(TextDecodingFailure) -> String {
  if let text = String(validatingCString: bytes) { return text }
  var length = 0
  while bytes[length] != 0 { length += 1 }
  let all = UnsafeBufferPointer(start: bytes, count: length).map { UInt8(bitPattern: $0) }
  throw TextDecodingFailure(shown: printable(all))
}

/// The bytes as a string, with `\xff` for each byte that is not valid UTF-8; at most 80 characters.
package func printable(_ bytes: [UInt8]) -> String {
  var rest = bytes[...].makeIterator()
  var parser = Unicode.UTF8.ForwardParser()
  var place = 0
  var shown = ""
  for _ in 0..<80 {
    switch parser.parseScalar(from: &rest) {
    case .emptyInput: return shown
    case .valid(let encoded):
      let scalar = Unicode.UTF8.decode(encoded)
      shown += escape(scalar) ?? String(Character(scalar))
      place += encoded.count
    case .error(let length):
      for byte in bytes[place..<place + length] {
        shown += #"\x"# + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
      place += length
    }
  }
  return place < bytes.count ? shown + "…" : shown
}
