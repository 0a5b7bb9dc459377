// Where in a shell script a value is to be inserted, and what may be inserted there. Knows bytes,
// nothing of templates.

/// What stands for a value in the text that is scanned: a byte that no UTF-8 text holds.
let valueMark: UInt8 = 0xFF

/// One place for a value.
struct ShellPlace: Hashable, Sendable {
  /// A place where no value may stand, whatever it is.
  enum Refusal: Hashable, Sendable {
    case unclear
    case escaped
    case parameterExpansion
    case variableName(String)
    case hereDocumentDelimiter
    case assignedName
    case loopVariable
    case testOperator
    case script(String)
  }

  /// What the shell makes of the text around.
  enum Context: Hashable, Sendable {
    case word, quotes, backquotes, comment, hereDocument
    /// An argument of a command that reads it as code or as the name of a variable.
    case codeArgument(String)
  }

  var refusal: Refusal?
  var context = Context.word
  /// The shell calculates with it: a name would be taken for a variable, and its text for a formula.
  var isNumeric = false
  /// `<` or `>` follows at once: digits would be taken for a descriptor.
  var isBeforeRedirection = false

  /// Whether a quoted value stays one word here.
  var allowsQuotes: Bool { context == .word && !isNumeric && refusal == nil }
}

/// A line of a here-document that holds values: it must not become the line that ends it.
struct DocumentLine: Hashable, Sendable {
  /// In the scanned text.
  let range: Range<Int>
  let delimiter: [UInt8]
  let stripsTabs: Bool

  /// Whether the line, with its values inserted, may end the document for some shell.
  func isEnd(_ line: [UInt8]) -> Bool {
    var rest = line[...]
    if stripsTabs { rest = rest.drop { $0 == UInt8(ascii: "\t") } }
    if rest.elementsEqual(delimiter) { return true }
    // In a command substitution bash before 5.2 also takes the delimiter with what closes it.
    while let last = rest.last, last == UInt8(ascii: ")") || last == UInt8(ascii: "`") || last == 32
    {
      rest.removeLast()
    }
    return rest.elementsEqual(delimiter)
  }
}

/// A word with values that stands where a command does, or a pattern of `case`.
struct CommandWord: Hashable, Sendable {
  /// In the scanned text.
  let range: Range<Int>
  let isPattern: Bool

  /// Whether the word, with its values inserted, is one of the shell's own or assigns a variable.
  /// Quotes take their meaning from words of the grammar, but not from commands.
  func isForbidden(_ word: [UInt8]) -> Bool {
    if ShellWords.grammar.contains(word) { return true }
    if isPattern { return false }
    return ShellWords.commands.contains(word.filter { !ShellWords.isQuote($0) })
      || ShellWords.isAssignment(word)
  }
}

/// Words of the shells.
enum ShellWords {
  /// After them a command follows.
  static let openers = NameTable([
    "if", "then", "else", "elif", "do", "while", "until", "!", "{", "time", "coproc",
  ])
  /// After them the name of a variable follows.
  static let loops = NameTable(["for", "select"])
  /// After them the name of a function follows.
  static let definitions = NameTable(["function"])
  /// Commands that run the command behind them.
  static let prefixes = NameTable([
    "builtin", "chroot", "command", "doas", "env", "eval", "exec", "nice", "nohup", "setsid",
    "stdbuf", "sudo", "timeout", "xargs",
  ])
  /// Of them those that run the shell's own commands as well.
  static let builtinRunners = NameTable(["builtin", "command"])
  static let grammar = NameTable(
    openers.names + ["case", "done", "esac", "fi", "for", "function", "in", "select"])
  /// Commands of the shell that change what the script does; a value must not name one.
  static let commands = NameTable([
    ".", ":", "alias", "bg", "break", "builtin", "cd", "command", "continue", "declare", "disown",
    "enable", "eval", "exec", "exit", "export", "fc", "fg", "getopts", "hash", "let", "local",
    "mapfile", "read", "readarray", "readonly", "return", "set", "shift", "shopt", "source",
    "suspend", "times", "trap", "typeset", "ulimit", "umask", "unalias", "unset",
  ])
  /// Read arguments as code, or as names of variables whose index is code to bash.
  static let interpreters = NameTable([
    ".", "alias", "ash", "bash", "busybox", "dash", "enable", "eval", "fc", "getopts", "ksh",
    "let", "mapfile", "mksh", "parallel", "printf", "read", "readarray", "rsh", "sh", "source",
    "ssh", "su", "trap", "unset", "wait", "watch", "xargs", "zsh",
  ])
  /// Take a script behind `-c`.
  static let shells = NameTable([
    "ash", "bash", "busybox", "dash", "fish", "ksh", "mksh", "sh", "su", "zsh",
  ])
  /// Variables that are numbers to some shell from the start.
  static let integers = NameTable([
    "BASHPID", "COLUMNS", "EPOCHSECONDS", "EUID", "HISTCMD", "HISTSIZE", "KEYTIMEOUT", "LINENO",
    "LINES", "MAILCHECK", "OPTIND", "PPID", "RANDOM", "SAVEHIST", "SECONDS", "SHLVL", "SRANDOM",
    "TMOUT", "UID",
  ])
  /// Take `name=value`.
  static let declarations = NameTable([
    "declare", "export", "float", "integer", "local", "readonly", "typeset",
  ])
  /// Of them those whose variables are numbers without any option.
  static let numberDeclarations = NameTable(["float", "integer"])
  static let tests = NameTable(["[", "[[", "test"])
  static let arithmeticTests = NameTable(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"])
  static let variableTests = NameTable(["-v", "-R"])

  /// A command without the directory it is in.
  static func program<Word: BidirectionalCollection<UInt8>>(_ word: Word) -> Word.SubSequence {
    let slash = UInt8(ascii: "/")
    guard let last = word.lastIndex(where: { $0 != slash }) else { return word[word.endIndex...] }
    let path = word[...last]
    let start = path.lastIndex(of: slash).map { path.index(after: $0) } ?? path.startIndex
    return word[start...last]
  }

  static func isQuote(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  /// Whether `bytes` is a name and `=` or `+=` stands behind it.
  static func isAssignment(_ bytes: some Collection<UInt8>) -> Bool {
    guard let first = bytes.first, isNameStart(first) else { return false }
    var rest = bytes.drop(while: isNameByte)
    if rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
    return rest.first == UInt8(ascii: "=")
  }
}
