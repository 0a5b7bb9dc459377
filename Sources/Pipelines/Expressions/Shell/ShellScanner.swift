// Reads a shell script as far as is needed to say what a value would be at each place: a word, a part
// of quotes, a formula, a line of a here-document. Where shells differ, or the text is too involved,
// the answer is "unclear", and nothing may be inserted.
//
// The grammar is POSIX, 2.2 "Quoting" to 2.10, with bash's additions:
// https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html

struct ShellScanner {
  /// What surrounds the place that is being read.
  private enum Frame {
    /// Commands, up to a closing byte; 0 is the end of the script. A group is no part of a word.
    case code(closer: UInt8, isGroup: Bool = false)
    case doubleQuotes
    case parameter
    /// A formula with this many open parentheses.
    case arithmetic(depth: Int)
  }

  /// `case … in … esac`, of the innermost commands.
  private enum CaseState { case subject, pattern, body }

  private struct Code {
    var command = ShellCommand()
    var cases: [CaseState] = []
  }

  private struct PendingDocument {
    var delimiter: [UInt8] = []
    var stripsTabs: Bool
    var isQuoted = false
  }

  private let text: [UInt8]
  private var place = 0
  private let end: Int
  private var frames: [Frame]
  /// One for each `.code` frame.
  private var codes = [Code()]
  private var pending: [PendingDocument] = []
  /// The next word ends a here-document.
  private var expectsDelimiter = false
  private var isUnclear = false
  private var backquoteDepth = 0
  private var isDocument = false
  private let hasIntegers: Bool

  private(set) var places: [ShellPlace] = []
  private(set) var lines: [DocumentLine] = []
  private(set) var commandWords: [CommandWord] = []

  /// `text` holds a `valueMark` for each value.
  init(_ text: [UInt8]) {
    self.text = text
    end = text.count
    frames = [.code(closer: 0)]
    hasIntegers = Self.declaresIntegers(text)
  }

  /// The body of a here-document whose `$` and backquotes count.
  private init(document text: [UInt8], _ range: Range<Int>, of outer: ShellScanner) {
    self.text = text
    place = range.lowerBound
    end = range.upperBound
    frames = [.doubleQuotes]
    isDocument = true
    isUnclear = outer.isUnclear
    backquoteDepth = outer.backquoteDepth
    hasIntegers = outer.hasIntegers
  }

  /// Whether some variable may calculate when it is assigned to.
  private static func declaresIntegers(_ text: [UInt8]) -> Bool {
    let words = text.split { $0 <= 32 || $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "(") }
    return zip(words, words.dropFirst()).contains { word, option in
      ShellWords.declarations.contains(String(decoding: word, as: UTF8.self))
        && option.first == UInt8(ascii: "-") && option.contains(UInt8(ascii: "i"))
    }
  }

  mutating func scan() {
    while place < end {
      switch frames.last {
      case .code(let closer, _): readCode(closer)
      case .doubleQuotes: readDoubleQuoted()
      case .parameter: readParameter()
      case .arithmetic(let depth): readArithmetic(depth)
      case nil: return
      }
      place = min(place, end)
    }
    endWord()
  }

  private var byte: UInt8 { text[place] }

  private func follows(_ scalar: Unicode.Scalar, at distance: Int = 1) -> Bool {
    place + distance < end && text[place + distance] == UInt8(ascii: scalar)
  }

  /// The innermost; there is always one.
  private var command: ShellCommand {
    _read { yield codes[codes.count - 1].command }
    _modify { yield &codes[codes.count - 1].command }
  }
}

// Commands.
extension ShellScanner {
  private mutating func readCode(_ closer: UInt8) {
    switch Unicode.Scalar(byte) {
    case " ", "\t": endWord()
    case "\n", "&", "|", "<", ">", "(", ")":
      guard command.isTest else { return readOperator(closer) }
      endWord()
    case ";": return readSeparator()
    case "#" where !command.hasWord: return skipComment()
    case "\\": return readEscape()
    case "'": return readSingleQuoted(escapes: false)
    case "\"":
      beginWord(isQuoted: true)
      frames.append(.doubleQuotes)
    case "`": return readBackquote(closer)
    case "$": return readDollar()
    case "\u{FF}": addValue()
    default: addByte(byte)
    }
    place += 1
  }

  private mutating func readOperator(_ closer: UInt8) {
    switch Unicode.Scalar(byte) {
    case "\n":
      endCommand()
      place += 1
      readDocuments()
    case "<", ">": readRedirection()
    case "(": openParenthesis()
    case ")": closeParenthesis(closer)
    default: readSeparator()
    }
  }

  private mutating func beginWord(isQuoted: Bool = false) {
    if !command.hasWord { command.wordStart = place }
    command.hasWord = true
    if isQuoted { command.isWordQuoted = true }
  }

  private mutating func addByte(_ byte: UInt8) {
    beginWord()
    command.word.append(byte)
  }

  private mutating func endWord() {
    guard command.hasWord else { return }
    let isQuoted = command.isWordQuoted
    let isFirst = command.position == .command && !command.isRedirected && !isQuoted
    let isCommand = command.position == .command && !command.isRedirected
    let start = command.wordStart
    guard let word = command.endWord() else { return }
    let named = word.prefix { $0 != valueMark }
    if isCommand, named.count < word.count, !ShellWords.isAssignment(named) {
      let isPattern = codes.last?.cases.last == .pattern
      commandWords.append(CommandWord(range: start..<place, isPattern: isPattern))
    }
    if expectsDelimiter, var document = pending.popLast() {
      document.delimiter = word
      document.isQuoted = isQuoted
      pending.append(document)
      expectsDelimiter = false
    } else {
      noteCase(word, isFirst: isFirst)
    }
  }

  private mutating func noteCase(_ word: [UInt8], isFirst: Bool) {
    let last = codes.count - 1
    if isFirst, word.elementsEqual("case".utf8) {
      codes[last].cases.append(.subject)
    } else if codes[last].cases.last == .subject, word.elementsEqual("in".utf8) {
      codes[last].cases[codes[last].cases.count - 1] = .pattern
      command = ShellCommand()
    } else if !codes[last].cases.isEmpty, word.elementsEqual("esac".utf8), isFirst {
      codes[last].cases.removeLast()
    }
  }

  private mutating func endCommand() {
    endWord()
    command = ShellCommand()
  }

  private mutating func readSeparator() {
    if byte == UInt8(ascii: "&"), follows(">") {
      endWord()
      place += 1
      return
    }
    endCommand()
    if byte == UInt8(ascii: ";"), follows(";") || follows("&") {
      let last = codes.count - 1
      if last >= 0, codes[last].cases.last == .body {
        codes[last].cases[codes[last].cases.count - 1] = .pattern
      }
      place += 1
    }
    place += 1
  }

  private mutating func readRedirection() {
    let isHereDocument = byte == UInt8(ascii: "<") && follows("<") && !follows("<", at: 2)
    if follows("(") {
      beginWord()
      place += 2
      return open(.code(closer: UInt8(ascii: ")")))
    }
    if command.hasWord, !command.word.allSatisfy(isDecimalDigit) || command.isWordQuoted {
      endWord()
    } else {
      command.word = []
      command.hasWord = false
    }
    while place < end, byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">") { place += 1 }
    if isHereDocument {
      if backquoteDepth > 0 || isDocument { isUnclear = true }
      let stripsTabs = place < end && byte == UInt8(ascii: "-")
      if stripsTabs { place += 1 }
      pending.append(PendingDocument(stripsTabs: stripsTabs))
      expectsDelimiter = true
    } else if place < end, byte == UInt8(ascii: "&") || byte == UInt8(ascii: "|") {
      place += 1
    }
    command.isRedirected = true
  }

  private mutating func openParenthesis() {
    let last = codes.count - 1
    if codes[last].cases.last == .pattern, !command.hasWord {
      place += 1
      return
    }
    if follows("("), !command.hasWord {
      place += 2
      return frames.append(.arithmetic(depth: 2))
    }
    if command.hasWord, command.word.last == UInt8(ascii: "="), command.isAssigning {
      place += 1
      open(.code(closer: UInt8(ascii: ")"), isGroup: true))
      // Words of an array: none of them is a command.
      command.hasWord = true
      endWord()
      return
    }
    endWord()
    place += 1
    open(.code(closer: UInt8(ascii: ")"), isGroup: true))
  }

  private mutating func open(_ frame: Frame) {
    frames.append(frame)
    codes.append(Code())
  }

  private mutating func closeParenthesis(_ closer: UInt8) {
    endWord()
    place += 1
    let last = codes.count - 1
    if codes[last].cases.last == .pattern {
      codes[last].cases[codes[last].cases.count - 1] = .body
      command = ShellCommand()
    } else if closer == UInt8(ascii: ")") {
      if !codes[last].cases.isEmpty { isUnclear = true }
      close()
    } else {
      isUnclear = true
    }
  }

  private mutating func close() {
    let isGroup = if case .code(_, true) = frames.last { true } else { false }
    frames.removeLast()
    codes.removeLast()
    if isGroup {
      command = ShellCommand()
      return
    }
    // What a substitution gives is part of the word around.
    if case .code = frames.last { beginWord() }
  }

  private mutating func skipComment() {
    if backquoteDepth > 0 { isUnclear = true }
    while place < end, byte != UInt8(ascii: "\n") {
      if byte == valueMark { add(ShellPlace(context: .comment)) }
      place += 1
    }
  }

  private mutating func readEscape() {
    if backquoteDepth > 0 { isUnclear = true }
    guard place + 1 < end else {
      place += 1
      return
    }
    if follows("\n") {
      place += 2
      // Without the line break the value may go on with a name before it.
      if place < end, byte == valueMark { isUnclear = true }
      return
    }
    beginWord(isQuoted: true)
    readEscaped()
    place += 1
  }
}

// Quotes, substitutions and formulas.
extension ShellScanner {
  /// The byte behind a backslash.
  private mutating func readEscaped() {
    guard place + 1 < end else { return }
    place += 1
    if byte == valueMark { add(ShellPlace(refusal: .escaped)) } else { addByte(byte) }
  }

  /// From the opening quote; `$'…'` knows escapes.
  private mutating func readSingleQuoted(escapes: Bool) {
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

  private var isInDoubleQuotes: Bool {
    frames.contains { if case .doubleQuotes = $0 { true } else { false } }
  }

  private mutating func readDoubleQuoted() {
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
    default: addByte(byte)
    }
    place += 1
  }

  /// Double quotes inside backquotes inside double quotes: shells do not agree.
  private var isNestedInBackquotes: Bool {
    frames.filter { if case .doubleQuotes = $0 { true } else { false } }.count > 1
  }

  private mutating func readBackquote(_ closer: UInt8) {
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

  private mutating func readDollar() {
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

  private var isInCode: Bool { if case .code = frames.last { true } else { false } }

  private mutating func readVariable() {
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
  private mutating func readParameter() {
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

  private mutating func readArithmetic(_ depth: Int) {
    switch Unicode.Scalar(byte) {
    case "(": frames[frames.count - 1] = .arithmetic(depth: depth + 1)
    case ")":
      if depth == 1 {
        frames.removeLast()
        beginWord()
      } else {
        frames[frames.count - 1] = .arithmetic(depth: depth - 1)
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

// Values.
extension ShellScanner {
  private mutating func add(_ new: ShellPlace) {
    var new = new
    if isUnclear { new.refusal = .unclear }
    if frames.contains(where: { if case .parameter = $0 { true } else { false } }) {
      new.refusal = new.refusal ?? .parameterExpansion
    }
    if frames.contains(where: { if case .arithmetic = $0 { true } else { false } }) {
      new.isNumeric = true
    }
    if new.context == .word, backquoteDepth > 0 { new.context = .backquotes }
    if new.context == .word || new.context == .quotes { readNeighbours(&new) }
    places.append(new)
    if new.context != .comment { addByte(valueMark) }
  }

  /// In code, outside of quotes.
  private mutating func addValue() {
    var new = ShellPlace()
    new.isBeforeRedirection =
      follows("<") || follows(">")
      ? command.word.allSatisfy { isDecimalDigit($0) || $0 == valueMark } : false
    add(new)
  }

  /// What the command around makes of the word, quoted or not.
  private func readNeighbours(_ new: inout ShellPlace) {
    if expectsDelimiter { new.refusal = new.refusal ?? .hereDocumentDelimiter }
    if command.position == .variable { new.refusal = new.refusal ?? .loopVariable }
    if command.isRedirected { return }
    if command.position == .command, !command.isAssigning, namesVariable {
      new.refusal = new.refusal ?? .assignedName
    }
    if command.isInBrackets || command.name == "let" || hasIntegers && command.isAssigning {
      new.isNumeric = true
    }
    if let name = command.name, ShellWords.tests.contains(name) { readTest(name, &new) }
    if let name = command.interpreter, new.context == .word { new.context = .codeArgument(name) }
    if let name = command.name, ShellWords.declarations.contains(name) {
      if command.hasOption("i") { new.isNumeric = true }
      if !command.isAssigning, new.context == .word { new.context = .codeArgument(name) }
    }
  }

  /// Whether `=` follows in the same word.
  private var namesVariable: Bool {
    let rest = text[place..<end].prefix { $0 > 32 && $0 != UInt8(ascii: ";") }
    guard let sign = rest.firstIndex(of: UInt8(ascii: "=")) else { return false }
    return rest[..<sign].allSatisfy {
      isNameByte($0) || $0 == valueMark || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "[")
        || $0 == UInt8(ascii: "]")
    }
  }

  private func readTest(_ name: String, _ new: inout ShellPlace) {
    let last = String(decoding: command.lastWord, as: UTF8.self)
    let next = nextWord
    if ShellWords.arithmeticTests.contains(last) || ShellWords.arithmeticTests.contains(next)
      || last == "-v" || last == "-R"
    {
      new.isNumeric = true
    }
    if command.lastWord.contains(valueMark) { new.refusal = new.refusal ?? .testOperator }
  }

  /// The word behind the one that holds this place.
  private var nextWord: String {
    let rest = text[place..<end].drop { $0 != 32 && $0 != 9 && $0 != 10 }.drop {
      $0 == 32 || $0 == 9
    }
    return String(decoding: rest.prefix { $0 > 32 }, as: UTF8.self)
  }
}

// Here-documents.
extension ShellScanner {
  private mutating func readDocuments() {
    if expectsDelimiter { isUnclear = true }
    expectsDelimiter = false
    let documents = pending
    pending = []
    for document in documents { readDocument(document) }
  }

  /// From the line behind the one that announced it.
  private mutating func readDocument(_ document: PendingDocument) {
    let start = place
    var logicalStart = place
    var bodyEnd = end
    while place < end {
      let lineStart = place
      while place < end, byte != UInt8(ascii: "\n") { place += 1 }
      let line = Array(text[lineStart..<place])
      let isContinued = !document.isQuoted && endsInBackslash(line)
      if place < end { place += 1 }
      let written = DocumentLine(
        range: lineStart..<lineStart + line.count, delimiter: document.delimiter,
        stripsTabs: document.stripsTabs)
      if !line.contains(valueMark), isEnd(line, document) {
        if logicalStart < lineStart { isUnclear = true }
        bodyEnd = lineStart
        break
      }
      if line.contains(valueMark) {
        lines.append(written)
        // A long one cannot become the delimiter: a value has at least one byte.
        let reach = 2 * document.delimiter.count + 256
        if logicalStart < lineStart, lineStart + line.count - logicalStart <= reach {
          lines.append(
            DocumentLine(
              range: logicalStart..<lineStart + line.count, delimiter: document.delimiter,
              stripsTabs: document.stripsTabs))
        }
      }
      if !isContinued { logicalStart = place }
    }
    scanBody(start..<bodyEnd, document)
  }

  private func isEnd(_ line: [UInt8], _ document: PendingDocument) -> Bool {
    let line = document.stripsTabs ? Array(line.drop { $0 == 9 }) : line
    return line == document.delimiter
  }

  private func endsInBackslash(_ line: [UInt8]) -> Bool {
    !line.reversed().prefix { $0 == UInt8(ascii: "\\") }.count.isMultiple(of: 2)
  }

  private mutating func scanBody(_ range: Range<Int>, _ document: PendingDocument) {
    if document.isQuoted {
      let count = text[range].filter { $0 == valueMark }.count
      let refusal: ShellPlace.Refusal? = isUnclear ? .unclear : nil
      places += Array(
        repeating: ShellPlace(refusal: refusal, context: .hereDocument), count: count)
      return
    }
    var body = ShellScanner(document: text, range, of: self)
    body.scan()
    places += body.places
    lines += body.lines
    commandWords += body.commandWords
    if body.isUnclear || body.frames.count > 1 { isUnclear = true }
  }
}
