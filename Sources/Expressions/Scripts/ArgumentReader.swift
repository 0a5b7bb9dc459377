// Finds the elements of an argument vector that are code to the programs that it starts. It goes
// from the first to the last, and when in doubt treats an element as code.

import Diagnostics

/// The role of an element.
enum ArgumentRole {
  /// Code, for a program of that name.
  case script(String)
  /// Data; `isBehindDashes` if a `--` precedes it.
  case data(isBehindDashes: Bool)
}

struct ArgumentReader {
  /// The programs that are reading options, until a `--`.
  private var interpreters: [Interpreter] = []
  /// The name of the last of them.
  private var name = ""
  /// How many of the next elements are certainly code.
  private var pending = 0
  /// The program whose next operand is code.
  private var operandOf: Interpreter?
  /// True if the next element belongs to the option before it.
  private var skipsNext = false
  private var isAllCode = false
  private var isBehindDashes = false
  private var isFirst = true

  /// The role of the next element. `text` is as much of it as is known; `holdsValue` is true if not
  /// all of it is the author's.
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
    // The word itself is no code: it may be a value.
    if text == "eval", operandOf == nil, !interpreters.isEmpty {
      pending = 1
      return .data(isBehindDashes: isBehindDashes)
    }
    if givesCode(text) {
      pending = 1 + optionArguments(in: text)
      // mawk's `-W` has an argument, which is not code.
      if !text.hasPrefix("-W") { operandOf = nil }
      isAllCode = interpreters.contains(where: \.optionIsWholeCommand)
      return .script(name)
    }
    if let interpreter = operandOf, isCodeOperand(text, of: interpreter) { return .script(name) }
    return .data(isBehindDashes: isBehindDashes)
  }

  /// In a shell, options may come between `-c` and the code.
  private mutating func pendingScript(_ text: String) -> ArgumentRole {
    let isOption = text.hasPrefix("-") || text.hasPrefix("+")
    if interpreters.contains(where: \.isShell), isOption {
      pending += optionArguments(in: text)
    } else if givesCode(text) {
      // The argument of the previous option was part of it: `perl -M5.010 -le`.
      pending = 1 + optionArguments(in: text)
    } else {
      pending -= 1
    }
    return .script(name)
  }

  /// The number of arguments of a shell option such as `-o pipefail`.
  private func optionArguments(in text: String) -> Int {
    guard interpreters.contains(where: \.isShell), !text.hasPrefix("--") else { return 0 }
    return text.utf8.count { $0 == UInt8(ascii: "o") || $0 == UInt8(ascii: "O") }
  }

  /// Whether it is an option that takes code, either in the same element or in the next one.
  private func givesCode(_ text: String) -> Bool {
    if interpreters.isEmpty { return false }
    if text.hasPrefix("--") {
      let word = text.dropFirst(2).prefix { $0 != "=" }
      return !word.isEmpty
        && interpreters.contains { $0.words.contains { $0.hasPrefix(word) } }
    }
    if text.hasPrefix("+") { return interpreters.contains { $0.letters.contains("+") } }
    guard text.hasPrefix("-") else { return false }
    return interpreters.contains { interpreter in
      let letters = interpreter.letters(of: text)
      return interpreter.letters.contains(where: letters.contains)
    }
  }

  /// Whether the element is code because it is the first that is not an option.
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
    let before = text.dropFirst().prefix { !interpreter.suffixLetters.contains($0) }
    guard let place = before.firstIndex(where: letters.contains) else { return false }
    skipsNext = text.index(after: place) == text.endIndex
    if text[place] == "f" || text[place] == "E" { endOperand() }
    return false
  }

  /// Called when the code is in a file.
  private mutating func endOperand() {
    operandOf = nil
    skipsNext = false
  }
}

extension Interpreter {
  /// The options in an element such as `-ne`.
  fileprivate func letters(of text: String) -> Substring {
    text.dropFirst().prefix {
      $0.isASCII && ($0.isLetter || $0.isNumber) && !suffixLetters.contains($0)
    }
  }

  /// The first word of a script that names a program which may run what it reads from its standard
  /// input.
  package static func reader(in script: String) -> String? {
    let words = script.utf8.split { !isProgramByte($0) }
      .map { String(decoding: $0, as: UTF8.self) }
    if let program = reader(among: words) { return program }
    let readsItself = words.contains("eval") || inputFiles.contains { script.containsText($0) }
    return readsItself ? "sh" : nil
  }

  /// The same for an argument vector, whose elements may be command lines.
  package static func reader(in arguments: [String]) -> String? {
    reader(among: arguments)
      ?? arguments.lazy.filter { $0.utf8.contains(UInt8(ascii: " ")) }.compactMap { reader(in: $0) }
      .first
  }

  /// awk and sed run their input with `-f -`.
  private static func reader(among words: [String]) -> String? {
    let namesFile = words.contains { $0.hasPrefix("-f") || $0.hasPrefix("--file") }
    let readers = words.filter { word in
      guard let interpreter = named(word) else { return false }
      if case .first = interpreter.operands, namesFile { return true }
      return interpreter.readsInput
    }
    // The rule for what is not a shell is the stricter one.
    return readers.first { named($0)?.readsShell == false } ?? readers.first
  }

  private static let inputFiles = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "$0"]

  private static func isProgramByte(_ byte: UInt8) -> Bool {
    isNameByte(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
      || byte == UInt8(ascii: "+")
  }
}
