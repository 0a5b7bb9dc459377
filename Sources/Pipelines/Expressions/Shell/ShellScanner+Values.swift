// The places of values, and the bodies of here-documents that hold some.

extension ShellScanner {
  mutating func add(_ new: ShellPlace) {
    var new = new
    if isUnclear { new.refusal = .unclear }
    if frames.parameterCount > 0 { new.refusal = new.refusal ?? .parameterExpansion }
    if frames.formulaCount > 0 { new.isNumeric = true }
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
  mutating func readNeighbours(_ new: inout ShellPlace) {
    if expectsDelimiter { new.refusal = new.refusal ?? .hereDocumentDelimiter }
    if command.position == .variable { new.refusal = new.refusal ?? .loopVariable }
    if command.isRedirected { return }
    if command.position == .command, !command.isAssigning, namesVariable() {
      new.refusal = new.refusal ?? .assignedName
    }
    if command.isInBrackets || command.name == "let"
      || command.assignsNumber && command.mayAssign
      || mayBecomeInteger && hasIntegers()
    {
      new.isNumeric = true
    }
    if let name = command.name, ShellWords.tests.contains(name.utf8) { readTest(&new) }
    if command.word.isEmpty, let shell = command.scriptReader {
      new.refusal = new.refusal ?? .script(shell)
    }
    if let name = command.interpreter, new.context == .word { new.context = .codeArgument(name) }
    if let name = command.name, ShellWords.declarations.contains(name.utf8) {
      readDeclaration(name, &new)
    }
  }

  /// The word may end up in a variable: it is assigned, of an array, what a loop runs over, or given
  /// to `printf -v`.
  private var mayBecomeInteger: Bool {
    command.isAssigningElement || codes.last?.isArray == true
      || command.position == .argument && command.name == nil || command.interpreter == "printf"
  }

  private mutating func hasIntegers() -> Bool {
    let found = integers ?? declaresIntegers(text)
    integers = found
    return found
  }

  private func readDeclaration(_ name: String, _ new: inout ShellPlace) {
    if ShellWords.numberDeclarations.contains(name.utf8) || command.hasOption("i") {
      new.isNumeric = true
    }
    if !command.isAssigning, new.context == .word { new.context = .codeArgument(name) }
    // A reference: what it names is what is assigned to.
    if command.isAssigning, command.hasOption("n"), name != "export" {
      new.refusal = new.refusal ?? .assignedName
    }
  }

  /// Whether `=` follows in the same word.
  private mutating func namesVariable() -> Bool {
    let sign = ahead.nameEnd(in: text, from: place, to: end)
    return sign < end && text[sign] == UInt8(ascii: "=")
  }

  private mutating func readTest(_ new: inout ShellPlace) {
    if command.last.isArithmeticTest || command.last.isVariableTest
      || ShellWords.arithmeticTests.contains(nextWord())
    {
      new.isNumeric = true
    }
    if command.last.holdsValue { new.refusal = new.refusal ?? .testOperator }
  }

  /// The start of the word behind the one that holds this place, as long as an operator.
  private mutating func nextWord() -> ArraySlice<UInt8> {
    text[ahead.wordEnd(in: text, from: place, to: end)..<end].drop { $0 == 32 || $0 == 9 }
      .prefix(4).prefix { $0 > 32 }
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
    integers = body.integers
    places += body.places
    lines += body.lines
    commandWords += body.commandWords
    if body.isUnclear || body.frames.count > 1 { isUnclear = true }
  }
}
