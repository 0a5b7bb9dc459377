// The rule for each value in text that a shell or an interpreter reads, and in arguments. It
// examines the value and the text before it in its word, never the meaning of the script.
// `ScriptChecker` examines the meaning that the line of a value gives it. docs/expressions.md,
// “Values in scripts”.

/// A value to be inserted into a script or an argument, and the expression that it comes from. Text
/// that the author of the file wrote is not such a value: see `TextPiece`.
package struct InsertedValue {
  package let text: String
  package let expression: Expression
  /// True for an argument that a person wrote for the commands of the pipeline, which may be an option.
  var isArgument = false
}

/// The position at which a value is inserted.
enum InsertionContext {
  /// The value is in text that is read as code.
  case script(WordStart, ScriptReader)
  /// The value is in an argument that is data to its program; `isOption` if a `-` at the start of the value
  /// would be the first character of the argument, and no `--` precedes it.
  case argument(isOption: Bool)
}

package enum ScriptRule {
  /// The objection to a value, or nil. Every value passes through here before it is inserted into a
  /// script or an argument.
  static func objection(to value: InsertedValue, in context: InsertionContext) -> UnlocatedFailure?
  {
    switch context {
    case .script(let start, let reader): objection(to: value, after: start, reader)
    case .argument(let isOption): objection(toArgument: value, isOption: isOption)
    }
  }

  private static func objection(
    to value: InsertedValue, after start: WordStart, _ reader: ScriptReader
  ) -> UnlocatedFailure? {
    guard let first = value.text.utf8.first else { return ScriptMessage.empty(value, reader) }
    var text = value.text
    let (isSafe, holdsEqual) = text.withUTF8 { bytes in
      (bytes.allSatisfy(isSafeInShell), bytes.contains(UInt8(ascii: "=")))
    }
    if !isSafe { return unsafe(value, reader) }
    switch start {
    case .nothing where first == UInt8(ascii: "-"): return ScriptMessage.option(value, reader)
    case .nothing where holdsEqual, .name where holdsEqual:
      return ScriptMessage.assignment(value, reader)
    case .nothing, .name, .other: return nil
    }
  }

  private static func unsafe(_ value: InsertedValue, _ reader: ScriptReader) -> UnlocatedFailure? {
    let found = value.text.first { !$0.utf8.allSatisfy(isSafeInShell) }
    return found.map { ScriptMessage.unsafe(value, found: $0, reader) }
  }

  private static func objection(
    toArgument value: InsertedValue, isOption: Bool
  ) -> UnlocatedFailure? {
    let bytes = value.text.utf8
    if isOption, !value.isArgument, bytes.first == UInt8(ascii: "-") {
      return ScriptMessage.optionArgument(value)
    }
    return bytes.contains(0) ? ScriptMessage.nul : nil
  }
}

/// The text between the beginning of a word and a value in it.
enum WordStart {
  case nothing
  /// Letters, digits, `_` and values, at the beginning or after an operator: before a `=`, the
  /// value would be part of the name of a variable.
  case name
  case other

  /// Moves past text that the author wrote. The text is examined from its end, no further back than
  /// a word extends.
  mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
    var isEmpty = true
    var place = text.count
    while place > 0 {
      place -= 1
      let byte = text[place]
      if Self.begins(byte) {
        self = isEmpty ? .nothing : .name
        return
      }
      // The value of `$name` may be empty, as those of `$@`, or of `$=name` in zsh.
      if byte == UInt8(ascii: "$")
        || !isNameByte(byte) && place > 0 && text[place - 1] == UInt8(ascii: "$")
      {
        self = .nothing
        return
      }
      guard isNameByte(byte) else {
        self = Self.precedesAssignment(byte) ? .name : .other
        return
      }
      isEmpty = false
    }
    if !isEmpty, case .nothing = self { self = .name }
  }

  /// Moves past a value that the rule accepted.
  mutating func append(_ value: InsertedValue) {
    if value.text.utf8.last == UInt8(ascii: ",") {
      self = .nothing
    } else if case .nothing = self {
      self = .name
    }
  }

  /// True if a variable can be set after the byte in the arithmetic of a shell: `a[x=1]`, `1?x=1`.
  private static func precedesAssignment(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "["), UInt8(ascii: "?"), UInt8(ascii: ":"), UInt8(ascii: "+"),
      UInt8(ascii: "-"), UInt8(ascii: "*"), UInt8(ascii: "%"), UInt8(ascii: "^"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }

  /// True if a word begins after the byte, in some position in some shell: after a comma, one of `{a,b}`.
  static func begins(_ byte: UInt8) -> Bool {
    switch byte {
    case 9...13, UInt8(ascii: " "), UInt8(ascii: ";"), UInt8(ascii: "&"), UInt8(ascii: "|"),
      UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "<"), UInt8(ascii: ">"),
      UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "'"), UInt8(ascii: "\""),
      UInt8(ascii: "`"), UInt8(ascii: "!"), UInt8(ascii: "\\"), UInt8(ascii: ","):
      true
    default: false
    }
  }
}
