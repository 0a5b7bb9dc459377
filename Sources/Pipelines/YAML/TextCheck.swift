// Checks a pipeline file's bytes before they are parsed as YAML: UTF-8, no control characters.

import Diagnostics
import Expressions

/// The facts about a text after every byte was read once.
package struct TextCheck {
  /// True if characters and bytes are the same.
  let isASCII: Bool
  /// True if the text contains `${{`.
  let hasExpressions: Bool

  static let maxByteCount = 64 << 20

  /// Checks a text. `base` is the offset of its start on the number line.
  init(_ text: UnsafeBufferPointer<UInt8>, base: Int) throws(Diagnostic) {
    if text.count > Self.maxByteCount { throw YAMLMessage.fileTooLarge(at: base) }
    if Self.looksLikeUTF16(text) { throw YAMLMessage.notUTF8(at: base) }
    let signs = Signs(text)
    isASCII = signs.isPlainASCII
    if !isASCII, let fault = Self.firstFault(in: text) {
      throw text.contains(0)
        ? YAMLMessage.notText(text[fault.offset], at: base + fault.offset)
        : YAMLMessage.badCharacter(fault, base: base)
    }
    if signs.hasReturns, let offset = Self.loneCarriageReturn(in: text) {
      let fault = Fault(offset: offset, byteCount: 1, reason: .character("\r", "line separator"))
      throw YAMLMessage.badCharacter(fault, base: base)
    }
    hasExpressions = text.expressionStart() != nil
  }

  /// The signs of characters that need a closer look, found in one pass.
  private struct Signs {
    private var other: UInt8 = 0
    private var carriageReturn: UInt8 = 0

    /// Looks for signs. The loop has no branch, so that the compiler can process many bytes at once.
    init(_ text: UnsafeBufferPointer<UInt8>) {
      for byte in text {
        let isReturn: UInt8 = byte == 0x0D ? 1 : 0
        let isOutside: UInt8 = byte &- 0x20 < 0x5F ? 0 : 1
        let isNoSpace: UInt8 = byte == 0x0A ? 0 : byte == 0x09 ? 0 : 1
        carriageReturn |= isReturn
        other |= isOutside & isNoSpace & ~isReturn
      }
    }

    /// True if all bytes are printable ASCII, tabs and line ends.
    var isPlainASCII: Bool { other == 0 }
    var hasReturns: Bool { carriageReturn != 0 }
  }

  /// True if a text looks like UTF-16, by its byte order mark or because every other byte is 0.
  private static func looksLikeUTF16(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard text.count >= 4 else { return false }
    let (first, second) = (text[0], text[1])
    return (first == 0xFF && second == 0xFE) || (first == 0xFE && second == 0xFF)
      || (first == 0) != (second == 0) && (text[2] == 0) != (text[3] == 0)
  }

  /// The position of a carriage return before anything but a line feed: libyaml ends a line there.
  private static func loneCarriageReturn(in text: UnsafeBufferPointer<UInt8>) -> Int? {
    text.indices.first {
      text[$0] == 0x0D && ($0 == text.count - 1 || text[$0 + 1] != 0x0A)
    }
  }

  /// The fault of a character that is not allowed in a YAML file, or that libyaml treats as a line
  /// break and other tools do not.
  struct Fault {
    enum Reason {
      case invalidUTF8(UInt8)
      case character(Unicode.Scalar, String)
    }

    let offset: Int
    let byteCount: Int
    let reason: Reason
  }

  private static func firstFault(in text: UnsafeBufferPointer<UInt8>) -> Fault? {
    var offset = 0
    while offset < text.count {
      let byte = text[offset]
      if byte >= 0x20, byte < 0x7F || byte == 0x0A {
        offset += 1
        continue
      }
      guard let scalar = decode(text, at: offset) else {
        return Fault(offset: offset, byteCount: 1, reason: .invalidUTF8(byte))
      }
      let width = UTF8.encode(scalar)?.count ?? 1
      if let reason = objection(to: scalar) {
        return Fault(offset: offset, byteCount: width, reason: reason)
      }
      offset += width
    }
    return nil
  }

  private static func objection(to scalar: Unicode.Scalar) -> Fault.Reason? {
    switch scalar.value {
    case 0x09, 0x0A, 0x0D: nil
    case 0x85, 0x2028, 0x2029: .character(scalar, "line separator")
    case ..<0x20, 0x7F..<0xA0, 0xFFFE, 0xFFFF: .character(scalar, "control character")
    default: nil
    }
  }

  private static func decode(
    _ text: UnsafeBufferPointer<UInt8>, at offset: Int
  ) -> Unicode.Scalar? {
    let first = text[offset]
    if first < 0x80 { return Unicode.Scalar(first) }
    guard let count = sequenceLength(first), offset + count <= text.count else { return nil }
    var value = UInt32(first) & (0x7F >> UInt32(count))
    for byte in text[(offset + 1)..<(offset + count)] {
      guard byte & 0xC0 == 0x80 else { return nil }
      value = value << 6 | UInt32(byte & 0x3F)
    }
    let smallest: [UInt32] = [0, 0, 0x80, 0x800, 0x10000]
    return value < smallest[count] ? nil : Unicode.Scalar(value)
  }

  private static func sequenceLength(_ first: UInt8) -> Int? {
    switch first {
    case 0xC2...0xDF: 2
    case 0xE0...0xEF: 3
    case 0xF0...0xF4: 4
    default: nil
    }
  }
}

/// True if a value contains `${{`.
func holdsExpression(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
  text.expressionStart() != nil
}

/// The range of the first `${{ … }}` of a string; up to the end of the string if it is never closed.
func expressionRange(in text: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
  guard let start = text.expressionStart() else { return nil }
  var end = start + 3
  while end < text.count, text[end] != UInt8(ascii: "}") || text[end - 1] != UInt8(ascii: "}") {
    end += 1
  }
  return start..<min(end + 1, text.count)
}
