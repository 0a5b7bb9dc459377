// Inside quotes, substitutions and formulas: what the scanner reads there.

extension ShellScanner {
  /// The byte behind a backslash.
  mutating func readEscaped() {
    guard place + 1 < end else { return }
    place += 1
    if byte == valueMark { add(ShellPlace(refusal: .escaped)) } else { addByte(byte) }
  }

  /// From the opening quote; `$'…'` knows escapes.
  mutating func readSingleQuoted(escapes: Bool) {
    if backquoteDepth > 0, isInDoubleQuotes { isUnclear = true }
    beginWord(isQuoted: true)
    place += 1
    while place < end, byte != UInt8(ascii: "'") {
      if byte == valueMark { add(ShellPlace(context: .quotes)) }
      if escapes, byte == UInt8(ascii: "\\"), place + 1 < end {
        // Only bash has this form: for dash the quote ends here.
        if follows("'") { isUnclear = true }
        place += text[place + 1] == valueMark ? 0 : 1
      }
      addByte(byte)
      place += 1
    }
    place += 1
  }

  var isInDoubleQuotes: Bool { frames.quoteCount > 0 }

  mutating func readDoubleQuoted() {
    switch Unicode.Scalar(byte) {
    case "\"" where !isDocument || frames.count > 1:
      if backquoteDepth > 0, isNestedInBackquotes { isUnclear = true }
      frames.removeLast()
    case "\\":
      if backquoteDepth > 0 { isUnclear = true }
      if follows("\n"), place + 2 < end, text[place + 2] == valueMark { isUnclear = true }
      readEscaped()
    case "`": return readBackquote(0)
    case "$": return readDollar()
    case "\u{FF}": add(ShellPlace(context: isDocument ? .hereDocument : .quotes))
    default: addText()
    }
    place += 1
  }

  /// Double quotes inside backquotes inside double quotes: shells do not agree.
  var isNestedInBackquotes: Bool { frames.quoteCount > 1 }

  mutating func readBackquote(_ closer: UInt8) {
    defer { place += 1 }
    if closer == UInt8(ascii: "`") {
      endWord()
      backquoteDepth -= 1
      return close()
    }
    if backquoteDepth > 0 || expectsDelimiter { isUnclear = true }
    beginWord()
    backquoteDepth += 1
    open(.code(closer: UInt8(ascii: "`")))
  }

  mutating func readDollar() {
    beginWord()
    if expectsDelimiter { isUnclear = true }
    guard place + 1 < end else {
      place += 1
      return
    }
    switch Unicode.Scalar(text[place + 1]) {
    case "(" where follows("(", at: 2):
      place += 3
      frames.append(.arithmetic(depth: 2))
    case "(":
      place += 2
      open(.code(closer: UInt8(ascii: ")")))
    case "{":
      place += 2
      frames.append(.parameter)
    case "[":
      isUnclear = true
      place += 2
    case "'" where isInCode:
      place += 1
      readSingleQuoted(escapes: true)
    case "\"" where isInCode: place += 1
    case let first where first.isASCII && isNameStart(UInt8(ascii: first)): readVariable()
    case "\u{FF}":
      isUnclear = true
      place += 1
    default:
      addByte(byte)
      place += 2
    }
  }

  var isInCode: Bool { if case .code = frames.last { true } else { false } }

  mutating func readVariable() {
    let start = place + 1
    place = start
    while place < end, isNameByte(byte) { place += 1 }
    addByte(UInt8(ascii: "$"))
    if place < end, byte == valueMark {
      let name = String(decoding: text[start..<place], as: UTF8.self)
      add(ShellPlace(refusal: .variableName(name)))
      place += 1
    }
  }

  /// Up to the closing brace.
  mutating func readParameter() {
    switch Unicode.Scalar(byte) {
    case "}": frames.removeLast()
    case "\\": readEscaped()
    case "\"": frames.append(.doubleQuotes)
    case "'":
      if isInDoubleQuotes || isDocument {
        isUnclear = true
      } else {
        return readSingleQuoted(escapes: false)
      }
    case "`": return readBackquote(0)
    case "$": return readDollar()
    case "\u{FF}": add(ShellPlace(refusal: .parameterExpansion))
    default: break
    }
    place += 1
  }

  mutating func readArithmetic(_ depth: Int) {
    switch Unicode.Scalar(byte) {
    case "(": frames.setDepth(depth + 1)
    case ")":
      if depth == 1 {
        frames.removeLast()
        beginWord()
      } else {
        frames.setDepth(depth - 1)
      }
    case "\"": frames.append(.doubleQuotes)
    case "'": isUnclear = true
    case "`": return readBackquote(0)
    case "$": return readDollar()
    case "\u{FF}": add(ShellPlace(context: .quotes, isNumeric: true))
    default: break
    }
    place += 1
  }
}
