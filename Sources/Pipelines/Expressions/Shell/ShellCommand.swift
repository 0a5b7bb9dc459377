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
  var isTest: Bool { name == "[[" && lastWord != Array("]]".utf8) }
  private(set) var isPrefixed = false
  /// The word before.
  private(set) var lastWord: [UInt8] = []
  private var words: [String] = []

  /// The word that is being read, quotes taken off; values are `valueMark`.
  var word: [UInt8] = []
  /// Something was read, be it empty quotes.
  var hasWord = false
  /// Where the word begins.
  var wordStart = 0
  var isWordQuoted = false
  /// The next word is a file's name, or what ends a here-document.
  var isRedirected = false

  /// A bracket of a pattern or an index is open.
  var isInBrackets: Bool {
    let open = word.lastIndex(of: UInt8(ascii: "["))
    let close = word.lastIndex(of: UInt8(ascii: "]"))
    return open.map { open in close.map { open > $0 } ?? true } ?? false
  }

  /// A word that assigns: `name=…`.
  var isAssigning: Bool { ShellWords.isAssignment(word) }

  /// An option of this letter was given.
  func hasOption(_ letter: Character) -> Bool {
    words.contains { $0.hasPrefix("-") && !$0.hasPrefix("--") && $0.contains(letter) }
  }

  /// The interpreter that reads the words of the command, if there is one.
  var interpreter: String? {
    let heads = isPrefixed ? words : name.map { [$0] } ?? []
    return shell
      ?? heads.first { word in
        let program = ShellWords.program(word.utf8)
        return ShellWords.interpreters.contains(program) && (program != "printf" || hasOption("v"))
      }
  }

  /// The shell among the words that was given `-c`.
  private var shell: String? {
    guard hasOption("c") else { return nil }
    return words.first { ShellWords.shells.contains(ShellWords.program($0.utf8)) }
  }

  /// The shell for which the next word is a script.
  var scriptReader: String? {
    lastWord.first == UInt8(ascii: "-") && lastWord.contains(UInt8(ascii: "c")) ? shell : nil
  }

  /// Ends the word; returns it if there was one.
  @discardableResult
  mutating func endWord() -> [UInt8]? {
    guard hasWord else { return nil }
    let ended = word
    let wasRedirected = isRedirected
    let wasQuoted = isWordQuoted
    (word, hasWord, isWordQuoted, isRedirected) = ([], false, false, false)
    if !wasRedirected { note(ended, isQuoted: wasQuoted) }
    return ended
  }

  private mutating func note(_ word: [UInt8], isQuoted: Bool) {
    lastWord = word
    switch position {
    case .argument:
      if isPrefixed || words.count < 64 { words.append(text(word)) }
    case .variable: position = .argument
    case .function: position = .command
    case .command:
      let text = text(word)
      if ShellWords.isAssignment(word) { return }
      if !isQuoted, ShellWords.openers.contains(text) { return }
      if !isQuoted, text == "for" || text == "select" || text == "function" {
        position = text == "function" ? .function : .variable
        return
      }
      if isPrefixed || ShellWords.prefixes.contains(ShellWords.program(word)) {
        words.append(text)
        isPrefixed = true
        return
      }
      name = text
      words.append(text)
      position = .argument
    }
  }

  private func text(_ word: [UInt8]) -> String { String(decoding: word, as: UTF8.self) }
}
