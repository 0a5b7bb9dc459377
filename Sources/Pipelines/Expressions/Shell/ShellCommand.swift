// The words of a simple command as they come, so far as they decide what may be inserted: whether the
// next word names a command, and which command reads it.

/// Code between separators, with the word that is being read.
struct ShellCommand {
  enum Position {
    /// A command, an assignment or a word of the shell's own.
    case command
    case argument
    /// The variable of `for` and `select`.
    case variable
    /// Behind `function`.
    case function
  }

  private(set) var position = Position.command
  private(set) var name: String?
  /// Between `[[` and `]]`.
  var isTest: Bool { name == "[[" && !last.isTestEnd }
  /// What the word before says about the next.
  private(set) var last = LastWord()
  private var heads = CommandHeads()

  /// The word that is being read, quotes taken off; values are `valueMark`.
  private(set) var word: [UInt8] = []
  /// The word that ended last. The two take turns, so that words need no memory of their own.
  private(set) var endedWord: [UInt8] = []
  private var shape = WordShape()
  /// Something was read, be it empty quotes.
  var hasWord = false
  /// Where the word begins.
  var wordStart = 0
  var isWordQuoted = false
  /// The next word is a file's name, or what ends a here-document.
  var isRedirected = false

  /// A bracket of a pattern or an index is open.
  var isInBrackets: Bool { shape.isInBrackets }

  /// A word that assigns: `name=…`.
  var isAssigning: Bool { shape.assignment == .variable }

  /// The same, or `name[…]=…`.
  var isAssigningElement: Bool { isAssigning || shape.assignment == .element }

  /// What is assigned to is a number to the shell, whatever the script says.
  private(set) var assignsNumber = false

  /// A word `name=…` would set a variable of a shell.
  var mayAssign: Bool {
    position == .command || name.map { ShellWords.declarations.contains($0.utf8) } == true
  }

  /// An option of this letter was given, or may have been.
  func hasOption(_ letter: Unicode.Scalar) -> Bool { heads.hasOption(letter) }

  /// The interpreter that reads the words of the command, if there is one.
  var interpreter: String? { heads.interpreter }

  /// The shell for which the next word is a script.
  var scriptReader: String? { last.givesScript ? heads.scriptShell : nil }

  mutating func append(_ bytes: some Collection<UInt8>) {
    let wasAssigning = isAssigning
    for byte in bytes { shape.append(byte) }
    word += bytes
    if isAssigning, !wasAssigning {
      assignsNumber = ShellWords.integers.contains(word.prefix(while: isNameByte))
    }
  }

  /// The digits of a descriptor are no word.
  mutating func dropWord() {
    word.removeAll(keepingCapacity: true)
    (shape, hasWord, assignsNumber) = (WordShape(), false, false)
  }

  /// Ends the word, which there must be.
  mutating func endWord() {
    swap(&word, &endedWord)
    let wasRedirected = isRedirected
    let wasQuoted = isWordQuoted
    dropWord()
    (isWordQuoted, isRedirected) = (false, false)
    if !wasRedirected { note(endedWord, isQuoted: wasQuoted) }
  }

  private mutating func note(_ word: [UInt8], isQuoted: Bool) {
    last = LastWord(word)
    switch position {
    case .argument: heads.add(word)
    case .variable: position = .argument
    case .function: position = .command
    case .command:
      if ShellWords.isAssignment(word) { return }
      if !isQuoted, ShellWords.openers.contains(word) { return }
      if !isQuoted, ShellWords.loops.contains(word) {
        position = .variable
        return
      }
      if !isQuoted, ShellWords.definitions.contains(word) {
        position = .function
        return
      }
      heads.add(word)
      if heads.isPrefixed { return notePrefixed(word) }
      if ShellWords.prefixes.contains(ShellWords.program(word)) {
        heads.isPrefixed = true
        heads.addInterpreter(word)
        return
      }
      heads.addInterpreter(word)
      name = String(decoding: word, as: UTF8.self)
      position = .argument
    }
  }

  /// Behind `builtin` and `command` the shell's own commands keep their meaning.
  private mutating func notePrefixed(_ word: [UInt8]) {
    guard name == nil, heads.runsBuiltins, word.first != UInt8(ascii: "-"),
      !word.elementsEqual("[[".utf8)
    else { return }
    name = String(decoding: word, as: UTF8.self)
  }
}

/// What a word says about the next.
struct LastWord {
  private(set) var isTestEnd = false
  private(set) var isArithmeticTest = false
  private(set) var isVariableTest = false
  private(set) var holdsValue = false
  /// An option such as `-ec`.
  private(set) var givesScript = false

  init() {}

  init(_ word: [UInt8]) {
    holdsValue = word.contains(valueMark)
    givesScript = word.first == UInt8(ascii: "-") && word.contains(UInt8(ascii: "c"))
    guard word.count < 4 else { return }
    isTestEnd = word.elementsEqual("]]".utf8)
    isArithmeticTest = ShellWords.arithmeticTests.contains(word)
    isVariableTest = ShellWords.variableTests.contains(word)
  }
}

/// What the words of a command so far say about those that follow.
struct CommandHeads {
  /// The first word runs the command behind it.
  var isPrefixed = false
  /// It is `builtin` or `command`.
  private(set) var runsBuiltins = false
  private var isFirst = true
  private var options: UInt64 = 0
  private var reader: String?
  private var hasPrintf = false
  private var shell: String?

  /// `valueMark` in an option stands for any letter.
  func hasOption(_ letter: Unicode.Scalar) -> Bool {
    options & (Self.bit(UInt8(ascii: letter)) | Self.bit(valueMark)) != 0
  }

  /// The shell that was given `-c`.
  var scriptShell: String? { hasOption("c") ? shell : nil }

  var interpreter: String? {
    scriptShell ?? reader ?? (hasPrintf && hasOption("v") ? "printf" : nil)
  }

  mutating func add(_ word: [UInt8]) {
    defer { isFirst = false }
    if word.first == UInt8(ascii: "-"), word.dropFirst().first != UInt8(ascii: "-") {
      for byte in word.dropFirst() { options |= Self.bit(byte) }
    }
    let program = ShellWords.program(word)
    if isFirst { runsBuiltins = ShellWords.builtinRunners.contains(program) }
    if shell == nil, ShellWords.shells.contains(program) {
      shell = String(decoding: word, as: UTF8.self)
    }
    if isPrefixed { addInterpreter(word) }
  }

  /// A word that names a command.
  mutating func addInterpreter(_ word: [UInt8]) {
    let program = ShellWords.program(word)
    guard ShellWords.interpreters.contains(program) else { return }
    if program.elementsEqual("printf".utf8) {
      hasPrintf = true
    } else if reader == nil {
      reader = String(decoding: word, as: UTF8.self)
    }
  }

  private static func bit(_ byte: UInt8) -> UInt64 {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"): 1 << UInt64(byte - UInt8(ascii: "a"))
    case valueMark: 1 << 26
    default: 0
    }
  }
}

/// What is known of a word before its end, one byte after the other.
struct WordShape {
  enum Assignment {
    /// Of the name, of `name+`, and of an index behind it.
    case name, sign, index, indexEnd, elementSign
    /// What is assigned follows.
    case variable, element
    case none
  }

  private(set) var assignment = Assignment.name
  private(set) var isInBrackets = false
  private var isEmpty = true

  mutating func append(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "["): isInBrackets = true
    case UInt8(ascii: "]"): isInBrackets = false
    default: break
    }
    assignment = next(byte)
    isEmpty = false
  }

  private func next(_ byte: UInt8) -> Assignment {
    switch (assignment, Unicode.Scalar(byte)) {
    case (.variable, _), (.element, _), (.none, _): assignment
    case (.name, _) where isEmpty: isNameStart(byte) ? .name : .none
    case (.name, _) where isNameByte(byte): .name
    case (.name, "="), (.sign, "="): .variable
    case (.name, "+"): .sign
    case (.name, "["): .index
    case (.index, _): isInBrackets || byte != UInt8(ascii: "]") ? .index : .indexEnd
    case (.indexEnd, "]"): .indexEnd
    case (.indexEnd, "="), (.elementSign, "="): .element
    case (.indexEnd, "+"): .elementSign
    // An index may hold brackets of its own.
    case (.indexEnd, _): .index
    default: .none
    }
  }
}
