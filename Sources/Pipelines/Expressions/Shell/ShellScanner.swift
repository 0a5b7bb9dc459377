// Reads a shell script as far as is needed to say what a value would be at each place: a word, a part
// of quotes, a formula, a line of a here-document. Where shells differ, or the text is too involved,
// the answer is "unclear", and nothing may be inserted.
//
// The grammar is POSIX, 2.2 "Quoting" to 2.10, with bash's additions:
// https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html

struct ShellScanner {
  /// `case … in … esac`, of the innermost commands.
  enum CaseState { case subject, pattern, body }

  struct Code {
    var command = ShellCommand()
    var cases: [CaseState] = []
    /// Between the parentheses of `name=(…)`.
    var isArray = false
  }

  struct PendingDocument {
    var delimiter: [UInt8] = []
    var stripsTabs: Bool
    var isQuoted = false
  }

  let text: [UInt8]
  var place = 0
  let end: Int
  var frames: Frames
  /// One for each `.code` frame.
  var codes = [Code()]
  var pending: [PendingDocument] = []
  /// The next word ends a here-document.
  var expectsDelimiter = false
  var isUnclear = false
  var backquoteDepth = 0
  var isDocument = false
  /// Whether some variable may calculate when it is assigned to; nil until somebody asks.
  var integers: Bool?
  /// What was found ahead, so that it is looked for once.
  var ahead = LookAhead()

  var places: [ShellPlace] = []
  var lines: [DocumentLine] = []
  var commandWords: [CommandWord] = []

  /// `text` holds a `valueMark` for each value.
  init(_ text: [UInt8]) {
    self.text = text
    end = text.count
    frames = Frames(.code(closer: 0))
  }

  /// The body of a here-document whose `$` and backquotes count.
  init(document text: [UInt8], _ range: Range<Int>, of outer: ShellScanner) {
    self.text = text
    place = range.lowerBound
    end = range.upperBound
    frames = Frames(.doubleQuotes)
    isDocument = true
    isUnclear = outer.isUnclear
    backquoteDepth = outer.backquoteDepth
    integers = outer.integers
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

  var byte: UInt8 { text[place] }

  func follows(_ scalar: Unicode.Scalar, at distance: Int = 1) -> Bool {
    place + distance < end && text[place + distance] == UInt8(ascii: scalar)
  }

  /// The innermost; there is always one.
  var command: ShellCommand {
    _read { yield codes[codes.count - 1].command }
    _modify { yield &codes[codes.count - 1].command }
  }
}

// Commands.
extension ShellScanner {
  mutating func readCode(_ closer: UInt8) {
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
    default: addText()
    }
    place += 1
  }

  mutating func readOperator(_ closer: UInt8) {
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

  mutating func beginWord(isQuoted: Bool = false) {
    if !command.hasWord { command.wordStart = place }
    command.hasWord = true
    if isQuoted { command.isWordQuoted = true }
  }

  mutating func addByte(_ byte: UInt8) {
    beginWord()
    command.append(CollectionOfOne(byte))
  }

  /// The byte, and those behind it that have no meaning in code or quotes. Stays on the last.
  mutating func addText() {
    beginWord()
    let start = place
    while place + 1 < end, isInert(text[place + 1]) { place += 1 }
    command.append(text[start...place])
  }

  mutating func endWord() {
    guard command.hasWord else { return }
    let isQuoted = command.isWordQuoted
    let isFirst = command.position == .command && !command.isRedirected && !isQuoted
    let isCommand = command.position == .command && !command.isRedirected
    let start = command.wordStart
    command.endWord()
    let word = command.endedWord
    if isCommand, let mark = word.firstIndex(of: valueMark), !ShellWords.isAssignment(word[..<mark])
    {
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

  mutating func noteCase(_ word: [UInt8], isFirst: Bool) {
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

  mutating func endCommand() {
    endWord()
    command = ShellCommand()
  }

  mutating func readSeparator() {
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

  mutating func readRedirection() {
    let isHereDocument = byte == UInt8(ascii: "<") && follows("<") && !follows("<", at: 2)
    if follows("(") {
      beginWord()
      place += 2
      return open(.code(closer: UInt8(ascii: ")")))
    }
    if command.hasWord, !command.word.allSatisfy(isDecimalDigit) || command.isWordQuoted {
      endWord()
    } else {
      command.dropWord()
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

  mutating func openParenthesis() {
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
      codes[codes.count - 1].isArray = true
      // Words of an array: none of them is a command.
      command.hasWord = true
      endWord()
      return
    }
    endWord()
    place += 1
    open(.code(closer: UInt8(ascii: ")"), isGroup: true))
  }

  mutating func open(_ frame: Frames.Frame) {
    frames.append(frame)
    codes.append(Code())
  }

  mutating func closeParenthesis(_ closer: UInt8) {
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

  mutating func close() {
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

  mutating func skipComment() {
    if backquoteDepth > 0 { isUnclear = true }
    while place < end, byte != UInt8(ascii: "\n") {
      if byte == valueMark { add(ShellPlace(context: .comment)) }
      place += 1
    }
  }

  mutating func readEscape() {
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
