// What the words of a command say before all of them are read: kept as they come, so that each costs the
// same however long the command is. Knows no places of values.

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
