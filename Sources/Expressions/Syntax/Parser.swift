// Turns tokens into nodes. Each function parses one level of precedence, the lowest first: ?:, ||,
// &&, comparisons, ??, !, and postfix operators. It knows no types, and no names except contexts
// and functions.

struct ExpressionParser {
  private var lexer: Lexer
  private var token: Token
  /// The end of the previous token.
  private var lastEnd: Int
  private let base: Int
  package private(set) var nodes: [ExpressionNode]
  private var depth = 0

  /// Starts at `place`, where an expression begins. Nodes are added to those given.
  package init(
    _ content: ArraySlice<UInt8>, at place: Int, endsAtBraces: Bool,
    nodes: consuming [ExpressionNode]
  ) throws(ExpressionFailure) {
    lexer = Lexer(content: content, place: place, endsAtBraces: endsAtBraces)
    self.nodes = nodes
    if self.nodes.isEmpty { self.nodes.reserveCapacity(4) }
    token = try lexer.next()
    base = token.start
    lastEnd = token.start
  }

  /// Parses the whole expression; returns where it begins and ends.
  package mutating func parse() throws(ExpressionFailure) -> Range<Int> {
    guard token.kind != .end else {
      throw ExpressionFailure(ExpressionMessage.emptyExpression, at: token.range)
    }
    try parseConditional()
    guard token.kind == .end else { throw unexpected() }
    return base..<lastEnd
  }

  /// The position of the closing braces, or the end of the text.
  package var end: Int { token.start }
}

// Nodes and tokens.
extension ExpressionParser {
  private mutating func advance() throws(ExpressionFailure) {
    lastEnd = token.end
    token = try lexer.next()
    if token.end - base > Expression.maxByteCount {
      throw ExpressionFailure(ExpressionMessage.expressionTooLong, at: base..<base + 1)
    }
  }

  private mutating func expect(_ kind: Token.Kind, _ sign: String) throws(ExpressionFailure) {
    guard token.kind == kind else { throw unexpected(wanted: sign) }
    try advance()
  }

  private func unexpected(wanted: String? = nil) -> ExpressionFailure {
    if token.kind == .name, let words = foreignWord(token.range) {
      return ExpressionFailure(words, at: token.range)
    }
    let range = token.kind == .end ? lastEnd..<lastEnd : token.range
    let found =
      token.kind == .end ? nil : String(decoding: lexer.content[token.range], as: UTF8.self)
    return ExpressionFailure(ExpressionMessage.unexpected(found, wanted: wanted), at: range)
  }

  /// The message about an operator of other languages, in a position where an operator is possible.
  private func foreignWord(_ range: Range<Int>) -> UnlocatedFailure? {
    let word = String(decoding: lexer.content[range], as: UTF8.self)
    if let sign = foreignOperators[word.lowercased()] {
      return ExpressionMessage.foreignOperator(word, sign: sign)
    }
    return Function.named(lexer.content[range]).map { ExpressionMessage.infixFunction($0.row) }
  }

  /// Checks for `not x` and `not (x)`; `place` is the range of the word.
  private func checkNegation(_ place: Range<Int>) throws(ExpressionFailure) {
    guard place.count == 3,
      [.name, .number, .string, .openParenthesis, .openBracket, .not].contains(token.kind)
    else { return }
    let word = String(decoding: lexer.content[place], as: UTF8.self)
    guard word.lowercased() == "not" else { return }
    throw ExpressionFailure(ExpressionMessage.foreignOperator(word, sign: "!"), at: place)
  }

  /// Adds a node over all nodes since `first`, which spans from `start` to here.
  private mutating func add(
    _ kind: ExpressionNode.Kind, detail: UInt8 = 0, first: Int, start: Int
  ) {
    nodes.append(
      ExpressionNode(
        kind: kind, detail: detail, size: UInt16(clamping: nodes.count - first + 1),
        start: UInt16(clamping: start - base), end: UInt16(clamping: lastEnd - base)))
  }

  private mutating func addToken(_ kind: ExpressionNode.Kind, detail: UInt8 = 0)
    throws(ExpressionFailure)
  {
    let start = token.start
    try advance()
    add(kind, detail: detail, first: nodes.count, start: start)
  }

  private mutating func enter() throws(ExpressionFailure) {
    depth += 1
    if depth > Expression.maxDepth {
      throw ExpressionFailure(ExpressionMessage.tooDeep, at: token.range)
    }
  }
}

// The levels of precedence.
extension ExpressionParser {
  private mutating func parseConditional() throws(ExpressionFailure) {
    try enter()
    defer { depth -= 1 }
    let (first, start) = (nodes.count, token.start)
    try parseChain(.or)
    guard token.kind == .question else { return }
    try advance()
    try parseConditional()
    try expect(.colon, ":")
    try parseConditional()
    add(.conditional, first: first, start: start)
  }

  /// Parses `x || y || z` and the like into one node with all operands.
  private mutating func parseChain(_ chain: BinaryOperator) throws(ExpressionFailure) {
    let (first, start) = (nodes.count, token.start)
    let sign = chain == .or ? Token.Kind.or : chain == .and ? .and : .coalesce
    try parseOperand(of: chain)
    guard token.kind == sign else { return }
    while token.kind == sign {
      try advance()
      try parseOperand(of: chain)
    }
    add(.binary, detail: chain.rawValue, first: first, start: start)
  }

  private mutating func parseOperand(of chain: BinaryOperator) throws(ExpressionFailure) {
    switch chain {
    case .or: try parseChain(.and)
    case .and: try parseComparison()
    case .coalesce, .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .in:
      try parseNot()
    }
  }

  private mutating func parseComparison() throws(ExpressionFailure) {
    let (first, start) = (nodes.count, token.start)
    try parseChain(.coalesce)
    guard let comparison else { return }
    try advance()
    try parseChain(.coalesce)
    if self.comparison != nil {
      throw ExpressionFailure(ExpressionMessage.comparisonChain, at: token.range)
    }
    add(.binary, detail: comparison.rawValue, first: first, start: start)
  }

  private var comparison: BinaryOperator? {
    switch token.kind {
    case .equal: .equal
    case .notEqual: .notEqual
    case .less: .less
    case .lessOrEqual: .lessOrEqual
    case .greater: .greater
    case .greaterOrEqual: .greaterOrEqual
    case .name where lexer.content[token.range].elementsEqual("in".utf8): .in
    default: nil
    }
  }

  private mutating func parseNot() throws(ExpressionFailure) {
    guard token.kind == .not else { return try parsePostfix() }
    let (first, start) = (nodes.count, token.start)
    try enter()
    defer { depth -= 1 }
    try advance()
    try parseNot()
    add(.not, first: first, start: start)
  }

  private mutating func parsePostfix() throws(ExpressionFailure) {
    let (first, start, outerDepth) = (nodes.count, token.start, depth)
    defer { depth = outerDepth }
    try parsePrimary()
    while true {
      switch token.kind {
      case .dot:
        try enter()
        try parseMember()
        add(.member, first: first, start: start)
      case .openBracket:
        try enter()
        try advance()
        try parseConditional()
        try expect(.closeBracket, "]")
        add(.index, first: first, start: start)
      default: return
      }
    }
  }

  private mutating func parseMember() throws(ExpressionFailure) {
    lastEnd = token.end
    guard let name = lexer.memberName() else {
      throw ExpressionFailure(ExpressionMessage.noNameAfterDot, at: token.range)
    }
    token = name
    try advance()
  }

  private mutating func parsePrimary() throws(ExpressionFailure) {
    switch token.kind {
    case .number: try addToken(.number)
    case .string: try addToken(.string)
    case .name: try parseName()
    case .openParenthesis: try parseParentheses()
    case .openBracket:
      let (first, start) = (nodes.count, token.start)
      try advance()
      try parseItems(until: .closeBracket, "]")
      add(.list, first: first, start: start)
    default: throw unexpected(wanted: "a value")
    }
  }

  /// Parses an expression in parentheses, which leave no node: messages underline only the operand.
  private mutating func parseParentheses() throws(ExpressionFailure) {
    try advance()
    try parseConditional()
    try expect(.closeParenthesis, ")")
  }

  private mutating func parseName() throws(ExpressionFailure) {
    let name = lexer.content[token.range]
    if name.count == 4, name.elementsEqual("null".utf8) { return try addToken(.null) }
    if name.count == 4, name.elementsEqual("true".utf8) { return try addToken(.true) }
    if name.count == 5, name.elementsEqual("false".utf8) { return try addToken(.false) }
    let (first, start, place) = (nodes.count, token.start, token.range)
    try advance()
    try checkNegation(place)
    if token.kind == .openParenthesis {
      try advance()
      try parseItems(until: .closeParenthesis, ")")
      let function = Function.named(name)
      let kind = function == nil ? ExpressionNode.Kind.unknownCall : .call
      add(kind, detail: function?.rawValue ?? 0, first: first, start: start)
    } else if let root = ContextRoot.named(name) {
      add(.root, detail: root.rawValue, first: first, start: start)
    } else {
      add(.unknownName, first: first, start: start)
    }
  }

  private mutating func parseItems(
    until end: Token.Kind, _ sign: String
  ) throws(ExpressionFailure) {
    if token.kind == end { return try advance() }
    while true {
      try parseConditional()
      if token.kind == end { return try advance() }
      guard token.kind == .comma else { throw unexpected(wanted: "',' or '\(sign)'") }
      try advance()
    }
  }
}

/// The operators of other languages, in lower case, and their equivalents.
private let foreignOperators = [
  "and": "&&", "or": "||", "not": "!", "is": "==", "eq": "==", "ne": "!=", "lt": "<", "le": "<=",
  "gt": ">", "ge": ">=",
]
