// What surrounds a place in a shell script, and what the text ahead of it says. Knows no values.

/// What surrounds the place that is being read, from the outermost.
struct Frames {
  enum Frame {
    /// Commands, up to a closing byte; 0 is the end of the script. A group is no part of a word.
    case code(closer: UInt8, isGroup: Bool = false)
    case doubleQuotes
    case parameter
    /// A formula with this many open parentheses.
    case arithmetic(depth: Int)
  }

  private var stack: [Frame] = []
  private(set) var quoteCount = 0
  private(set) var parameterCount = 0
  private(set) var formulaCount = 0

  init(_ first: Frame) { append(first) }

  var last: Frame? { stack.last }
  var count: Int { stack.count }

  mutating func append(_ frame: Frame) {
    stack.append(frame)
    tally(frame, 1)
  }

  mutating func removeLast() {
    if let last = stack.popLast() { tally(last, -1) }
  }

  /// Of the innermost formula.
  mutating func setDepth(_ depth: Int) { stack[stack.count - 1] = .arithmetic(depth: depth) }

  private mutating func tally(_ frame: Frame, _ change: Int) {
    switch frame {
    case .code: break
    case .doubleQuotes: quoteCount += change
    case .parameter: parameterCount += change
    case .arithmetic: formulaCount += change
    }
  }
}

/// Ends of what was looked at ahead: a place before one of them need not look again.
struct LookAhead {
  /// The first byte that cannot stand before the `=` of an assignment.
  private var nameEnd = 0
  /// The first blank.
  private var wordEnd = 0

  mutating func nameEnd(in text: [UInt8], from place: Int, to end: Int) -> Int {
    if nameEnd <= place { nameEnd = text[place..<end].firstIndex { !isPartOfTarget($0) } ?? end }
    return nameEnd
  }

  mutating func wordEnd(in text: [UInt8], from place: Int, to end: Int) -> Int {
    if wordEnd <= place {
      wordEnd = text[place..<end].firstIndex { $0 == 32 || $0 == 9 || $0 == 10 } ?? end
    }
    return wordEnd
  }
}

/// Of what is assigned to: `name`, `name+`, `name[…]`.
private func isPartOfTarget(_ byte: UInt8) -> Bool {
  isNameByte(byte) || byte == valueMark || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "[")
    || byte == UInt8(ascii: "]")
}

/// Whether some variable of a script may calculate when it is assigned to.
func declaresIntegers(_ text: [UInt8]) -> Bool {
  var search = DeclarationSearch()
  for byte in text where search.isFound(at: byte) { return true }
  return search.endWord()
}

/// Reads words without their quotes, and looks for `declare -i`, `integer` and their like.
private struct DeclarationSearch {
  private var word: [UInt8] = []
  /// The options of such a command are being read.
  private var isDeclaring = false

  mutating func isFound(at byte: UInt8) -> Bool {
    switch Unicode.Scalar(byte) {
    case "\0"..." ", ";", "(", ")", "{", "}", "&", "|": return endWord()
    case "'", "\"", "\\": return false
    default:
      word.append(byte)
      return false
    }
  }

  mutating func endWord() -> Bool {
    guard let first = word.first else { return false }
    defer { word.removeAll(keepingCapacity: true) }
    if isDeclaring, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
      return first == UInt8(ascii: "-") && word.contains(where: isNumberOption)
    }
    isDeclaring = ShellWords.declarations.contains(word)
    return isDeclaring && ShellWords.numberDeclarations.contains(word)
  }

  private func isNumberOption(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "i") || byte == UInt8(ascii: "E") || byte == UInt8(ascii: "F")
      || byte == valueMark
  }
}
