// Filters step output for a terminal: control characters are made visible, because a terminal would
// obey them. It works on bytes, split at any position, without allocating memory.

/// Passes text through, including colour sequences (SGR) if they are allowed.
struct TerminalFilter {
  let keepsColor: Bool
  /// The prefix of every line.
  private let rail: String?
  private var isAtLineStart: Bool
  /// The sequences since the last reset.
  private var openColors: [UInt8] = []

  /// No colour sequence in use is longer; a longer one is shown, not obeyed.
  private static let longestSequence = 64
  /// The number of bytes of sequences that are remembered.
  private static let longestColors = 256

  init(keepsColor: Bool, rail: String? = nil) {
    self.keepsColor = keepsColor
    self.rail = rail
    isAtLineStart = rail != nil
  }

  /// Begins a line after something else has ended the last one.
  mutating func beginLine() { isAtLineStart = rail != nil }

  /// Goes on in a line whose prefix somebody else has written.
  mutating func continueLine() { isAtLineStart = false }

  /// True if the text has set a colour.
  var isColored: Bool { !openColors.isEmpty }

  /// Resets the colour, so that something else may be written.
  func suspendColors(to sink: ByteSink) { if isColored { sink.write("\u{1b}[0m") } }

  /// Sets the colour again, so that the text can go on.
  func resumeColors(to sink: ByteSink) {
    if isColored { openColors.withUnsafeBytes { sink.write($0) } }
  }

  /// Writes the visible form, and returns how many bytes it consumed. An incomplete character at
  /// the end is left for the next call, unless this is the last one.
  mutating func write(
    _ bytes: UnsafeRawBufferPointer, isLast: Bool, to sink: ByteSink
  ) -> Int {
    var index = 0
    var plainStart = 0
    while index < bytes.count {
      if isAtLineStart {
        sink.write(UnsafeRawBufferPointer(rebasing: bytes[plainStart..<index]))
        plainStart = index
        writeRail(to: sink)
      }
      if Self.isPlain(bytes[index]) {
        if bytes[index] == UInt8(ascii: "\n") { isAtLineStart = rail != nil }
        index += 1
        continue
      }
      sink.write(UnsafeRawBufferPointer(rebasing: bytes[plainStart..<index]))
      let rest = UnsafeRawBufferPointer(rebasing: bytes[index...])
      guard let used = writeSpecial(rest, isLast: isLast, to: sink) else { return index }
      index += used
      plainStart = index
    }
    sink.write(UnsafeRawBufferPointer(rebasing: bytes[plainStart...]))
    return index
  }

  private mutating func writeRail(to sink: ByteSink) {
    isAtLineStart = false
    guard let rail else { return }
    suspendColors(to: sink)
    sink.write(rail, in: .faint, isColored: keepsColor)
    resumeColors(to: sink)
  }

  private mutating func note(_ sequence: UnsafeRawBufferPointer) {
    let codes = sequence.dropFirst(2).dropLast()
    if codes.allSatisfy({ $0 == UInt8(ascii: "0") }) {
      openColors = []
    } else if openColors.count + sequence.count <= Self.longestColors {
      openColors += sequence
    }
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    (0x20..<0x7f).contains(byte) || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\t")
  }

  /// Writes a special character and returns its length; nil if it is incomplete, and more bytes may come.
  private mutating func writeSpecial(
    _ bytes: UnsafeRawBufferPointer, isLast: Bool, to sink: ByteSink
  ) -> Int? {
    switch bytes[0] {
    case 0x1b: return writeEscape(bytes, isLast: isLast, to: sink)
    case 0x0d:
      guard bytes.count > 1 else { return isLast ? 1 : nil }
      if bytes[1] != UInt8(ascii: "\n") {
        sink.writeNewline()
        isAtLineStart = rail != nil
      }
      return 1
    case 0x80...:
      return writeEncoded(bytes, isLast: isLast, to: sink)
    case let control:
      sink.write(visible: control)
      return 1
    }
  }

  private mutating func writeEscape(
    _ bytes: UnsafeRawBufferPointer, isLast: Bool, to sink: ByteSink
  ) -> Int? {
    var length = 1
    if bytes.count > 1, bytes[1] == UInt8(ascii: "[") {
      length = 2
      while length < min(bytes.count, Self.longestSequence), (0x30...0x3b).contains(bytes[length]) {
        length += 1
      }
    }
    if length == bytes.count, length < Self.longestSequence, !isLast { return nil }
    guard length > 1, length < bytes.count, bytes[length] == UInt8(ascii: "m") else {
      sink.write(visible: 0x1b)
      return 1
    }
    if keepsColor {
      let sequence = UnsafeRawBufferPointer(rebasing: bytes[...length])
      sink.write(sequence)
      note(sequence)
    }
    return length + 1
  }

  private func writeEncoded(
    _ bytes: UnsafeRawBufferPointer, isLast: Bool, to sink: ByteSink
  ) -> Int? {
    switch EncodedCharacter(startOf: bytes) {
    case .valid(let length):
      sink.write(UnsafeRawBufferPointer(rebasing: bytes[..<length]))
      return length
    case .cutOff where !isLast:
      return nil
    case .control(let value):
      sink.write(visible: value)
      return 2
    case .cutOff, .invalid:
      sink.write("\\x")
      sink.write(hexadecimal: bytes[0])
      return 1
    }
  }
}

/// The meaning of the first bytes in UTF-8, if they are not ASCII.
private enum EncodedCharacter {
  case valid(length: Int)
  /// A control character, U+0080…U+009F, which terminals obey like escape sequences.
  case control(UInt8)
  case cutOff
  case invalid

  init(startOf bytes: UnsafeRawBufferPointer) {
    let length: Int
    switch bytes[0] {
    case 0xc2...0xdf: length = 2
    case 0xe0...0xef: length = 3
    case 0xf0...0xf4: length = 4
    default:
      self = .invalid
      return
    }
    for index in 1..<length {
      guard index < bytes.count else {
        self = .cutOff
        return
      }
      guard Self.range(ofByte: index, after: bytes[0]).contains(bytes[index]) else {
        self = .invalid
        return
      }
    }
    self = bytes[0] == 0xc2 && bytes[1] < 0xa0 ? .control(bytes[1]) : .valid(length: length)
  }

  /// The range of a byte in Unicode's table of well-formed sequences: only the second byte has
  /// special ranges.
  private static func range(ofByte index: Int, after first: UInt8) -> ClosedRange<UInt8> {
    guard index == 1 else { return 0x80...0xbf }
    return switch first {
    case 0xe0: 0xa0...0xbf
    case 0xed: 0x80...0x9f
    case 0xf0: 0x90...0xbf
    case 0xf4: 0x80...0x8f
    default: 0x80...0xbf
    }
  }
}

extension ByteSink {
  /// Writes a control character as in messages: `\u{1b}`.
  fileprivate func write(visible control: UInt8) {
    write("\\u{")
    if control >= 16 { write(hexadecimal: control) } else { write(hexadecimalDigit: control) }
    write("}")
  }

  func write(hexadecimal byte: UInt8) {
    write(hexadecimalDigit: byte >> 4)
    write(hexadecimalDigit: byte & 15)
  }

  private func write(hexadecimalDigit digit: UInt8) {
    write(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
  }
}
