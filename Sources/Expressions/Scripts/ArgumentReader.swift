// Which elements of an argument vector are code to the programs that it starts. It goes from the first to
// the last, and when in doubt takes an element for code.

/// What an element is.
enum ArgumentRole {
  /// Code, for a program of that name.
  case script(String)
  /// `isBehindDashes`: a `--` stands before it.
  case data(isBehindDashes: Bool)
}

struct ArgumentReader {
  /// Programs that read options now: a `--` ends that.
  private var interpreters: [Interpreter] = []
  /// The last of them that was named.
  private var name = ""
  /// How many of the elements that come next are code for sure.
  private var pending = 0
  /// The next operand is code.
  private var operandOf: Interpreter?
  /// The next element belongs to the option before it.
  private var skipsNext = false
  private var isAllCode = false
  private var isBehindDashes = false
  private var isFirst = true

  /// `text` is as much of the element as is known; `holdsValue` if not all of it is the author's.
  mutating func role(of text: String, holdsValue: Bool) -> ArgumentRole {
    let role = roleNow(of: text, holdsValue: holdsValue)
    if let interpreter = Interpreter.named(text) {
      add(interpreter, named: text)
    } else if isFirst, holdsValue {
      add(.any, named: text)
    }
    isFirst = false
    return role
  }

  private mutating func add(_ interpreter: Interpreter, named text: String) {
    interpreters.append(interpreter)
    name = text
    switch interpreter.operands {
    case .all: isAllCode = true
    case .first:
      operandOf = interpreter
      skipsNext = false
    case .data: break
    }
  }

  private mutating func roleNow(of text: String, holdsValue: Bool) -> ArgumentRole {
    if isAllCode { return .script(name) }
    if pending > 0 { return pendingScript(text) }
    if text == "--", !holdsValue {
      isBehindDashes = true
      interpreters = interpreters.filter(\.passesOptionsOn)
      return .data(isBehindDashes: true)
    }
    if givesCode(text) {
      pending = 1 + optionArguments(in: text)
      // mawk's `-W` has an argument, which is no code.
      if !text.hasPrefix("-W") { operandOf = nil }
      isAllCode = interpreters.contains(where: \.optionIsWholeCommand)
      return .script(name)
    }
    if let interpreter = operandOf, isCodeOperand(text, of: interpreter) { return .script(name) }
    return .data(isBehindDashes: isBehindDashes)
  }

  /// Of a shell, options may stand between `-c` and the code.
  private mutating func pendingScript(_ text: String) -> ArgumentRole {
    let isOption = text.hasPrefix("-") || text.hasPrefix("+")
    if interpreters.contains(where: \.isShell), isOption {
      pending += optionArguments(in: text)
    } else if givesCode(text) {
      // The argument of the option before it stood in that: `perl -M5.010 -le`.
      pending = 1 + optionArguments(in: text)
    } else {
      pending -= 1
    }
    return .script(name)
  }

  /// `-o pipefail` of a shell.
  private func optionArguments(in text: String) -> Int {
    guard interpreters.contains(where: \.isShell), !text.hasPrefix("--") else { return 0 }
    return text.utf8.count { $0 == UInt8(ascii: "o") || $0 == UInt8(ascii: "O") }
  }

  /// Whether it is an option that takes code, which may stand in it or behind it.
  private func givesCode(_ text: String) -> Bool {
    if interpreters.isEmpty { return false }
    if text == "eval" { return true }
    if text.hasPrefix("--") {
      let word = text.dropFirst(2).prefix { $0 != "=" }
      return !word.isEmpty
        && interpreters.contains { $0.words.contains { $0.hasPrefix(word) } }
    }
    if text.hasPrefix("+") { return interpreters.contains { $0.letters.contains("+") } }
    guard text.hasPrefix("-") else { return false }
    let letters = text.dropFirst().prefix { $0.isASCII && ($0.isLetter || $0.isNumber) }
    return interpreters.contains { $0.letters.contains(where: letters.contains) }
  }

  /// Whether the element is code because of its place: the first that is no option.
  private mutating func isCodeOperand(_ text: String, of interpreter: Interpreter) -> Bool {
    guard case .first(let letters, let words) = interpreter.operands else { return false }
    if skipsNext {
      skipsNext = false
      return false
    }
    guard text.hasPrefix("-"), text != "-", !isBehindDashes else {
      operandOf = nil
      return true
    }
    if text.hasPrefix("--") {
      let word = text.dropFirst(2).prefix { $0 != "=" }
      guard let known = words.first(where: { $0.hasPrefix(word) }) else { return false }
      skipsNext = !text.contains("=")
      if known == "file" || known == "exec" { endOperand() }
      return false
    }
    guard let place = text.dropFirst().firstIndex(where: letters.contains) else { return false }
    skipsNext = text.index(after: place) == text.endIndex
    if text[place] == "f" || text[place] == "E" { endOperand() }
    return false
  }

  /// The code is in a file.
  private mutating func endOperand() {
    operandOf = nil
    skipsNext = false
  }
}

extension Interpreter {
  /// The first word of a script that names a program which may run what it reads from its input.
  package static func reader(in script: String) -> String? {
    let words = script.utf8.split { !isProgramByte($0) }
      .map { String(decoding: $0, as: UTF8.self) }
    if let program = reader(among: words) { return program }
    let readsItself = words.contains("eval") || inputFiles.contains { script.contains($0) }
    return readsItself ? "sh" : nil
  }

  /// The same of an argument vector, whose elements may be command lines.
  package static func reader(in arguments: [String]) -> String? {
    reader(among: arguments)
      ?? arguments.lazy.filter { $0.utf8.contains(UInt8(ascii: " ")) }.compactMap { reader(in: $0) }
      .first
  }

  /// awk and sed run their input with `-f -`.
  private static func reader(among words: [String]) -> String? {
    let namesFile = words.contains { $0.hasPrefix("-f") || $0.hasPrefix("--file") }
    return words.first { word in
      guard let interpreter = named(word) else { return false }
      if case .first = interpreter.operands, namesFile { return true }
      return interpreter.readsInput
    }
  }

  private static let inputFiles = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "$0"]

  private static func isProgramByte(_ byte: UInt8) -> Bool {
    isNameByte(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
      || byte == UInt8(ascii: "+")
  }
}
