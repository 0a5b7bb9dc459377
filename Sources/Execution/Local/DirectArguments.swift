// Decides which command lines need no shell, and splits them into words. It knows the grammar that
// dash and bash share; it starts nothing, and knows nothing about steps.

/// The words of a script that `sh -c` would run as one plain command with exactly these words; nil
/// if it needs a shell.
///
/// GNU make's rule (`job.c`: no metacharacters, and the first word is not a builtin), made exact:
/// quoted text needs no shell, and a character counts only where it is special. When in doubt, nil.
/// A step runs it directly only when its shell is plain `sh` or `bash`.
func directArguments(of script: String) -> [String]? {
  var script = script
  return script.withUTF8 { text in
    var reader = CommandLineReader(text)
    return reader.readWords()
  }
}

/// A position in a command line, which moves forward.
private struct CommandLineReader {
  private let text: UnsafeBufferPointer<UInt8>
  private let end: Int
  private var position = 0

  /// Blanks and newlines at the end have no meaning, because a YAML block scalar ends in a newline.
  init(_ text: UnsafeBufferPointer<UInt8>) {
    self.text = text
    var end = text.count
    while end > 0, isBlank(text[end - 1]) || text[end - 1] == UInt8(ascii: "\n") { end -= 1 }
    self.end = end
  }

  mutating func readWords() -> [String]? {
    var words: [String] = []
    skipBlanks()
    while position < end {
      guard let word = readWord() else { return nil }
      words.append(word)
      if words.count == 1, !isPlainCommandName(word) { return nil }
      skipBlanks()
    }
    guard let name = words.first else { return nil }
    if words.count > 1, isBuiltinAlone(name) { return nil }
    return words
  }

  private mutating func skipBlanks() {
    while position < end, isBlank(text[position]) { position += 1 }
  }

  /// The word that starts here, its quotes removed; nil if only a shell can tell.
  private mutating func readWord() -> String? {
    let start = position
    var isQuoted = false
    while position < end, !isBlank(text[position]) {
      switch text[position] {
      case UInt8(ascii: "'"), UInt8(ascii: "\""):
        isQuoted = true
        guard skipQuotation() else { return nil }
      default:
        guard isLiteral(at: position, inWordFrom: start) else { return nil }
        position += 1
      }
    }
    return isQuoted
      ? unquoted(start..<position) : String(decoding: text[start..<position], as: UTF8.self)
  }

  /// Skips a quotation; false if it does not end, or contains something that the shell would
  /// expand.
  private mutating func skipQuotation() -> Bool {
    let quote = text[position]
    let isExpanded = quote == UInt8(ascii: "\"")
    position += 1
    while position < end {
      let byte = text[position]
      if byte == quote {
        position += 1
        return true
      }
      if isControl(byte) || isExpanded && isSpecialInDoubleQuotes(byte) { return false }
      position += 1
    }
    return false
  }

  private func unquoted(_ range: Range<Int>) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    var quote: UInt8?
    for byte in text[range] {
      if byte == quote {
        quote = nil
      } else if quote == nil, byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
        quote = byte
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// True if an unquoted byte is literal at this position.
  private func isLiteral(at index: Int, inWordFrom start: Int) -> Bool {
    switch text[index] {
    case UInt8(ascii: "#"):
      index > start
    case UInt8(ascii: "~"):
      index > start && isPlain(text[index - 1])
    case UInt8(ascii: "{"):
      index + 1 < end && text[index + 1] == UInt8(ascii: "}")
    case UInt8(ascii: "}"):
      index > start && text[index - 1] == UInt8(ascii: "{")
    case UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "!"):
      true
    default:
      isPlain(text[index])
    }
  }
}

/// True if the shell would look for a program of this name, and do nothing else with it.
private func isPlainCommandName(_ word: String) -> Bool {
  guard let first = word.utf8.first, !leadingSpecials.contains(first) else { return false }
  var hasSlash = false
  for byte in word.utf8 {
    if byte == UInt8(ascii: "=") || byte == UInt8(ascii: "!") { return false }
    if byte == UInt8(ascii: "/") { hasSlash = true }
  }
  return hasSlash || !shellWords.contains(word)
}

private func isBlank(_ byte: UInt8) -> Bool {
  byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
}

/// True if a byte is a control character, none of which is trusted, because bash marks quoted text
/// with bytes 1 and 127 and loses some of them. A tab in quotes is accepted.
private func isControl(_ byte: UInt8) -> Bool {
  byte < 0x20 && byte != UInt8(ascii: "\t") || byte == 0x7F
}

private func isSpecialInDoubleQuotes(_ byte: UInt8) -> Bool {
  byte == UInt8(ascii: "$") || byte == UInt8(ascii: "`") || byte == UInt8(ascii: "\\")
}

/// True if a byte has no special meaning anywhere in a word.
private func isPlain(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...0xFF,
    UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"),
    UInt8(ascii: ","), UInt8(ascii: "+"), UInt8(ascii: "@"), UInt8(ascii: "%"),
    UInt8(ascii: "^"), UInt8(ascii: "]"):
    true
  default:
    false
  }
}

/// `%1` is a job to bash; `-x` and `+x` after `sh -c` are options of the shell itself.
private let leadingSpecials: [UInt8] = [UInt8(ascii: "%"), UInt8(ascii: "-"), UInt8(ascii: "+")]

/// True if a program does the same as the builtin of its name, as long as it gets no arguments:
/// `/bin/true --help` prints a page, the builtin does not.
func isBuiltinAlone(_ name: String) -> Bool { name == "true" || name == "false" }

/// Names that dash or bash handles itself instead of running a program of that name.
private let shellWords: Set<String> = {
  let reserved = [
    "!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while",
  ]
  // Builtins that change or query the shell, as a program cannot.
  let ofTheShell = [
    ".", ":", "alias", "bg", "bind", "break", "builtin", "caller", "cd", "chdir", "command",
    "compgen", "complete", "compopt", "continue", "declare", "dirs", "disown", "enable", "eval",
    "exec", "exit", "export", "fc", "fg", "getopts", "hash", "help", "history", "jobs", "let",
    "local", "logout", "mapfile", "popd", "pushd", "read", "readarray", "readonly", "return", "set",
    "shift", "shopt", "source", "suspend", "times", "trap", "type", "typeset", "ulimit", "umask",
    "unalias", "unset", "wait",
  ]
  // Programs of these names exist and differ: dash's `echo` and `printf` interpret backslashes in
  // their own way, `pwd` keeps symbolic links, `kill` knows jobs, and `test` and `[` differ in what
  // they accept.
  let differing = ["[", "echo", "kill", "printf", "pwd", "test"]
  return Set(reserved + ofTheShell + differing)
}()
