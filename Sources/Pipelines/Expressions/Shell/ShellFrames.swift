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
  let breaks = Set(";(){}&|".utf8)
  let quotes = Set(#"'"\"#.utf8)
  // The options of such a command are being read.
  var isDeclaring = false
  for word in text.split(whereSeparator: { $0 <= 32 || breaks.contains($0) }) {
    if !isDeclaring, word.count > 16 { continue }
    let bare = word.filter { !quotes.contains($0) }
    guard let first = bare.first else { continue }
    if isDeclaring, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
      let isNumber = bare.contains { "iEF".utf8.contains($0) || $0 == valueMark }
      if first == UInt8(ascii: "-"), isNumber { return true }
      continue
    }
    let name = String(decoding: bare, as: UTF8.self)
    if name == "integer" || name == "float" { return true }
    isDeclaring = ShellWords.declarations.contains(name)
  }
  return false
}
