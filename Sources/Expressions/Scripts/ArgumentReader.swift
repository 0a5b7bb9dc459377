// Finds the elements of an argument vector that are code to the programs that it starts. It reads
// the elements in order, and treats one as code when in doubt.

import Diagnostics

/// The role of an element.
enum ArgumentRole {
  /// Code for the program of that name.
  case script(String)
  /// Data; `isBehindDashes` if a `--` precedes it.
  case data(isBehindDashes: Bool)
}

struct ArgumentReader {
  /// The programs that read options until a `--`, with their names.
  private var programs: [(interpreter: Interpreter, name: String)] = []
  /// The program to which the next elements are code.
  private var codeReader = ""
  /// The number of the next elements that are certainly code.
  private var pending = 0
  /// The program whose next operand is code.
  private var operandOf: Interpreter?
  /// True if the next element belongs to the option before it.
  private var skipsNext = false
  private var isAllCode = false
  private var isBehindDashes = false
  private var isFirst = true

  /// The role of the next element. `text` is the beginning of it that is known; `holdsValue` is
  /// true if not all of it is the author's.
  mutating func role(of text: String, holdsValue: Bool) -> ArgumentRole {
    let role = roleNow(of: text, holdsValue: holdsValue)
    let program = programName(in: text)
    if let interpreter = Interpreter.named(program) {
      add(interpreter, named: program)
    } else if isFirst, holdsValue {
      add(.any, named: text)
    }
    isFirst = false
    return role
  }

  /// The part of an element that may name a program: in `-mtimeit` to Python, the text after the letter.
  private func programName(in text: String) -> String {
    guard text.hasPrefix("-"), !text.hasPrefix("--") else {
      return Interpreter.programName(in: text)
    }
    for letter in interpreters.compactMap(\.programLetter) {
      if let place = text.firstIndex(of: letter) {
        return String(text[text.index(after: place)...])
      }
    }
    return Interpreter.programName(in: text)
  }

  private mutating func add(_ interpreter: Interpreter, named text: String) {
    programs.append((interpreter, text))
    if isAllCode { codeReader = strictest { !$0.optionIsWholeCommand } ?? codeReader }
    switch interpreter.operands {
    case .all:
      if !isAllCode { codeReader = strictest { !$0.optionIsWholeCommand } ?? text }
      isAllCode = true
    case .first:
      operandOf = interpreter
      skipsNext = false
    case .data: break
    }
  }

  private var interpreters: some Sequence<Interpreter> { programs.lazy.map(\.interpreter) }

  /// The name of the last program that meets a condition; of one that is not a shell, if there is
  /// one, because its rule is stricter.
  private func strictest(_ isMeant: (Interpreter) -> Bool) -> String? {
    let programs = programs.filter { isMeant($0.interpreter) }
    return (programs.first { !$0.interpreter.readsShell } ?? programs.last)?.name
  }

  private mutating func roleNow(of text: String, holdsValue: Bool) -> ArgumentRole {
    if isAllCode { return .script(codeReader) }
    if pending > 0 { return pendingScript(text) }
    if text == "--", !holdsValue {
      isBehindDashes = true
      programs = programs.filter(\.interpreter.passesOptionsOn)
      return .data(isBehindDashes: true)
    }
    // The word `eval` itself is no code: it may be a value.
    if text == "eval", operandOf == nil, !programs.isEmpty {
      pending = 1
      codeReader = strictest { !$0.optionIsWholeCommand } ?? programs[0].name
      return .data(isBehindDashes: isBehindDashes)
    }
    if let reader = reader(ofOption: text) {
      codeReader = reader
      pending = 1 + optionArguments(in: text)
      // mawk's `-W` has an argument, which is not code.
      if !text.hasPrefix("-W") { operandOf = nil }
      isAllCode = interpreters.contains(where: \.optionIsWholeCommand)
      return .script(codeReader)
    }
    if let interpreter = operandOf, isCodeOperand(text, of: interpreter) {
      return .script(strictest { !$0.optionIsWholeCommand } ?? "")
    }
    return .data(isBehindDashes: isBehindDashes)
  }

  /// The role of an element after `-c`: in a shell, options may come between it and the code.
  private mutating func pendingScript(_ text: String) -> ArgumentRole {
    let isOption = text.hasPrefix("-") || text.hasPrefix("+")
    if interpreters.contains(where: \.isShell), isOption {
      pending += optionArguments(in: text)
    } else if let reader = reader(ofOption: text) {
      codeReader = reader
      // The argument of the previous option was part of it: `perl -M5.010 -le`.
      pending = 1 + optionArguments(in: text)
    } else {
      pending -= 1
    }
    return .script(codeReader)
  }

  /// The number of arguments of a shell option such as `-o pipefail`.
  private func optionArguments(in text: String) -> Int {
    guard interpreters.contains(where: \.isShell), !text.hasPrefix("--") else { return 0 }
    return text.utf8.count { $0 == UInt8(ascii: "o") || $0 == UInt8(ascii: "O") }
  }

  /// The program that takes code from this option, or from the element after it; nil if none does.
  private func reader(ofOption text: String) -> String? {
    if programs.isEmpty { return nil }
    if text.hasPrefix("--") {
      let word = text.dropFirst(2).prefix { $0 != "=" }
      return word.isEmpty ? nil : strictest { $0.words.contains { $0.hasPrefix(word) } }
    }
    if text.hasPrefix("+") { return strictest { $0.letters.contains("+") } }
    guard text.hasPrefix("-") else { return nil }
    return strictest { interpreter in
      let letters = interpreter.letters(of: text)
      return interpreter.letters.contains(where: letters.contains)
    }
  }

  /// True if the element is code because it is the first one that is not an option.
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

  /// Ends the search for an operand that is code, because the code is in a file.
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

  /// The first word of a script that names a program which may run its standard input.
  package static func reader(in script: String) -> String? {
    let words = script.utf8.split { !isProgramByte($0) }
      .map { String(decoding: $0, as: UTF8.self) }
    if let program = reader(among: words) { return program }
    let readsItself = words.contains("eval") || inputFiles.contains { script.containsText($0) }
    return readsItself ? "sh" : nil
  }

  /// The first element of an argument vector that names such a program; elements may be command lines.
  package static func reader(in arguments: [String]) -> String? {
    reader(among: arguments)
      ?? arguments.lazy.filter { $0.utf8.contains(UInt8(ascii: " ")) }.compactMap { reader(in: $0) }
      .first
  }

  /// The first of the words that names a program which may run its input; awk and sed do so with `-f -`.
  private static func reader(among words: [String]) -> String? {
    let namesFile = words.contains { $0.hasPrefix("-f") || $0.hasPrefix("--file") }
    let readers = words.lazy.map(Interpreter.programName).filter { word in
      guard let interpreter = named(word) else { return false }
      if let (letters, names) = interpreter.inputOptions {
        return words.contains { word in
          names.contains(word)
            || word.hasPrefix("-") && !word.hasPrefix("--")
              && word.contains(where: letters.contains)
        }
      }
      if case .first = interpreter.operands, namesFile { return true }
      return interpreter.readsInput
    }
    // The rule for programs that are not shells is stricter.
    return readers.first { named($0)?.readsShell == false } ?? readers.first
  }

  private static let inputFiles = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "$0"]

  private static func isProgramByte(_ byte: UInt8) -> Bool {
    isNameByte(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
      || byte == UInt8(ascii: "+")
  }
}
