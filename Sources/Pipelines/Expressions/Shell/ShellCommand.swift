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
