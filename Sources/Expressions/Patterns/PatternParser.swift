// Reads the patterns of `matches`. The syntax is described in docs/expressions.md, “Patterns”.

/// Why a string is not a pattern of `matches`, in words that follow “the pattern is invalid: ”.
struct TextPatternFailure: Error, Hashable {
  let reason: String
}

/// A part of a pattern.
indirect enum PatternNode: Hashable {
  case set(ScalarSet)
  case start
  case end
  case sequence([PatternNode])
  case choice([PatternNode])
  /// A repetition; `maximum` nil means any number.
  case repeated(PatternNode, minimum: Int, maximum: Int?)
}

struct PatternParser {
  static let maxByteCount = 4096
  static let maxDepth = 64
  static let maxRepetition = 1000

  private let scalars: [Unicode.Scalar]
  private var index = 0
  private var depth = 0

  private init(_ pattern: String) { scalars = Array(pattern.unicodeScalars) }

  static func node(of pattern: String) throws(TextPatternFailure) -> PatternNode {
    guard pattern.utf8.count <= maxByteCount else {
      throw TextPatternFailure(
        reason: "it is longer than \(maxByteCount) bytes, which is the limit")
    }
    var parser = PatternParser(pattern)
    let node = try parser.choice()
    if parser.index < parser.scalars.count {
      throw TextPatternFailure(reason: "')' closes nothing; write '\\)' for the character")
    }
    return node
  }

  private var next: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    index += 1
    return true
  }

  private mutating func choice() throws(TextPatternFailure) -> PatternNode {
    var branches = [try sequence()]
    while take("|") { branches.append(try sequence()) }
    return branches.count == 1 ? branches[0] : .choice(branches)
  }

  private mutating func sequence() throws(TextPatternFailure) -> PatternNode {
    var nodes: [PatternNode] = []
    while let scalar = next, scalar != "|", scalar != ")" {
      let node = try single()
      nodes.append(try repeated(node))
    }
    return nodes.count == 1 ? nodes[0] : .sequence(nodes)
  }

  private mutating func single() throws(TextPatternFailure) -> PatternNode {
    let scalar = scalars[index]
    index += 1
    switch scalar {
    case ".": return .set(.all)
    case "^": return .start
    case "$": return .end
    case "(": return try group()
    case "[": return .set(try scalarClass())
    case "\\": return .set(try escaped())
    case "*", "+", "?":
      throw TextPatternFailure(
        reason: "'\(scalar)' repeats nothing; write '\\\(scalar)' for the character")
    case "{":
      throw TextPatternFailure(reason: "'{' repeats nothing; write '\\{' for the character")
    default: return .set(ScalarSet([scalar.value...scalar.value]))
    }
  }

  private mutating func group() throws(TextPatternFailure) -> PatternNode {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.maxDepth else {
      throw TextPatternFailure(
        reason: "groups are nested more than \(Self.maxDepth) levels deep, which is the limit")
    }
    if take("?"), !take(":") {
      throw TextPatternFailure(
        reason: "'(?' is allowed only in '(?:'; a group begins with '(' or '(?:'")
    }
    let node = try choice()
    guard take(")") else {
      throw TextPatternFailure(reason: "'(' is not closed; write '\\(' for the character")
    }
    return node
  }

  // MARK: Repetitions

  private mutating func repeated(_ node: PatternNode) throws(TextPatternFailure) -> PatternNode {
    let result: PatternNode
    switch next {
    case "*": result = .repeated(node, minimum: 0, maximum: nil)
    case "+": result = .repeated(node, minimum: 1, maximum: nil)
    case "?": result = .repeated(node, minimum: 0, maximum: 1)
    case "{":
      let (minimum, maximum) = try bounds()
      result = .repeated(node, minimum: minimum, maximum: maximum)
    default: return node
    }
    index += 1
    if let second = next, "*+?{".unicodeScalars.contains(second) {
      throw TextPatternFailure(
        reason: "'\(second)' follows another repetition; put what it repeats in parentheses")
    }
    return result
  }

  /// Reads `{2}`, `{2,}` or `{2,5}` up to its closing brace.
  private mutating func bounds() throws(TextPatternFailure) -> (Int, Int?) {
    index += 1
    let minimum = number()
    var maximum = minimum
    if take(",") { maximum = next == "}" ? nil : number() ?? -1 }
    guard let minimum, next == "}" else {
      throw TextPatternFailure(
        reason: "'{' begins a repetition such as {2} or {2,5}; write '\\{' for the character")
    }
    guard max(minimum, maximum ?? 0) <= Self.maxRepetition else {
      throw TextPatternFailure(
        reason: "a repetition of more than \(Self.maxRepetition), which is the limit")
    }
    if let maximum, maximum < minimum {
      throw TextPatternFailure(reason: "the repetition {\(minimum),…} ends before it begins")
    }
    return (minimum, maximum)
  }

  /// Reads digits; a number that is too large is clamped to one that is still too large.
  private mutating func number() -> Int? {
    var value: Int?
    while let digit = next, ("0"..."9").contains(digit) {
      value = min(1_000_000, (value ?? 0) * 10 + Int(digit.value - 0x30))
      index += 1
    }
    return value
  }

  // MARK: Characters

  private mutating func escaped() throws(TextPatternFailure) -> ScalarSet {
    guard let scalar = next else {
      throw TextPatternFailure(reason: "'\\' at its end; write '\\\\' for the character")
    }
    index += 1
    switch scalar {
    case "d": return .digits
    case "D": return ScalarSet.digits.inverted
    case "w": return .words
    case "W": return ScalarSet.words.inverted
    case "s": return .blanks
    case "S": return ScalarSet.blanks.inverted
    case "n": return ScalarSet([0x0A...0x0A])
    case "r": return ScalarSet([0x0D...0x0D])
    case "t": return ScalarSet([0x09...0x09])
    default: break
    }
    guard !ScalarSet.words.contains(scalar.value) || scalar == "_" else {
      throw TextPatternFailure(reason: "'\\\(scalar)' has no meaning")
    }
    return ScalarSet([scalar.value...scalar.value])
  }

  /// Reads a class after its `[`.
  private mutating func scalarClass() throws(TextPatternFailure) -> ScalarSet {
    let isInverted = take("^")
    var ranges: [ClosedRange<UInt32>] = []
    while true {
      guard let scalar = next else {
        throw TextPatternFailure(reason: "'[' is not closed; write '\\[' for the character")
      }
      if scalar == "]" { break }
      let first = try item()
      guard next == "-", index + 1 < scalars.count, scalars[index + 1] != "]" else {
        ranges += first.ranges
        continue
      }
      index += 1
      let last = try item()
      guard let low = first.single, let high = last.single else {
        throw TextPatternFailure(reason: "a range in brackets is from one character to another")
      }
      guard low <= high else {
        throw TextPatternFailure(reason: "a range in brackets ends before it begins")
      }
      ranges.append(low...high)
    }
    index += 1
    guard !ranges.isEmpty else {
      throw TextPatternFailure(reason: "the brackets are empty; write '\\]' for the character")
    }
    let set = ScalarSet(ranges)
    return isInverted ? set.inverted : set
  }

  private mutating func item() throws(TextPatternFailure) -> ScalarSet {
    let scalar = scalars[index]
    index += 1
    if scalar == "\\" { return try escaped() }
    if scalar == "[", next == ":" {
      throw TextPatternFailure(reason: "'[:' has no meaning; write a range such as a-z")
    }
    return ScalarSet([scalar.value...scalar.value])
  }
}
