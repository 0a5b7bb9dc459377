// The places of values, and the bodies of here-documents that hold some.

extension ShellScanner {
  mutating func add(_ new: ShellPlace) {
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
  mutating func addValue() {
    var new = ShellPlace()
    new.isBeforeRedirection =
      follows("<") || follows(">")
      ? command.word.allSatisfy { isDecimalDigit($0) || $0 == valueMark } : false
    add(new)
  }

  /// What the command around makes of the word, quoted or not.
  func readNeighbours(_ new: inout ShellPlace) {
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
    if command.word.isEmpty, let shell = command.scriptReader {
      new.refusal = new.refusal ?? .script(shell)
    }
    if let name = command.interpreter, new.context == .word { new.context = .codeArgument(name) }
    if let name = command.name, ShellWords.declarations.contains(name) {
      if command.hasOption("i") { new.isNumeric = true }
      if !command.isAssigning, new.context == .word { new.context = .codeArgument(name) }
    }
  }

  /// Whether `=` follows in the same word.
  var namesVariable: Bool {
    let rest = text[place..<end].prefix { $0 > 32 && $0 != UInt8(ascii: ";") }
    guard let sign = rest.firstIndex(of: UInt8(ascii: "=")) else { return false }
    return rest[..<sign].allSatisfy {
      isNameByte($0) || $0 == valueMark || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "[")
        || $0 == UInt8(ascii: "]")
    }
  }

  func readTest(_ name: String, _ new: inout ShellPlace) {
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
  var nextWord: String {
    let rest = text[place..<end].drop { $0 != 32 && $0 != 9 && $0 != 10 }.drop {
      $0 == 32 || $0 == 9
    }
    return String(decoding: rest.prefix { $0 > 32 }, as: UTF8.self)
  }
}

// Here-documents.
extension ShellScanner {
  mutating func readDocuments() {
    if expectsDelimiter { isUnclear = true }
    expectsDelimiter = false
    let documents = pending
    pending = []
    for document in documents { readDocument(document) }
  }

  /// From the line behind the one that announced it.
  mutating func readDocument(_ document: PendingDocument) {
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

  func isEnd(_ line: [UInt8], _ document: PendingDocument) -> Bool {
    let line = document.stripsTabs ? Array(line.drop { $0 == 9 }) : line
    return line == document.delimiter
  }

  func endsInBackslash(_ line: [UInt8]) -> Bool {
    !line.reversed().prefix { $0 == UInt8(ascii: "\\") }.count.isMultiple(of: 2)
  }

  mutating func scanBody(_ range: Range<Int>, _ document: PendingDocument) {
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
