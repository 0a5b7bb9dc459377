// A string of the file with expressions in it: `${{ … }}`. `$${{` stands for a literal `${{`. It
// knows no types and no shell.

package import Diagnostics

/// A parsed string, shared by its copies: there is one for each string in the file, and one for
/// what folding leaves of it.
package final class Template: Sendable {
  /// A part of the string.
  struct Part: Hashable, Sendable {
    /// The start of the part; an expression extends from `${{` to `}}`.
    package var start: UInt32
    package var end: UInt32
    /// The start of the expression itself; `UInt32.max` for literal text.
    package var base: UInt32
    /// The index of the expression's last node.
    package var root: UInt32

    package var isLiteral: Bool { base == .max }
    package var range: Range<Int> { Int(start)..<Int(end) }
  }

  /// The string, which is usually a part of the file itself.
  package let content: ArraySlice<UInt8>
  package let origin: TextOrigin
  let parts: [Part]
  /// The nodes of all its expressions.
  let nodes: [ExpressionNode]
  /// The constants that folding has inserted.
  let constants: [Value]
  /// True if the template is as it is written: nothing is folded, and nothing escaped.
  let isAsWritten: Bool
  /// True if some expressions could not be parsed, which has been reported: only the others are
  /// here, and their names and types are worth checking.
  package let isBroken: Bool

  init(
    content: ArraySlice<UInt8>, origin: TextOrigin, parts: [Part], nodes: [ExpressionNode],
    constants: [Value] = [], isAsWritten: Bool = false, isBroken: Bool = false
  ) {
    self.content = content
    self.origin = origin
    self.parts = parts
    self.nodes = nodes
    self.constants = constants
    self.isAsWritten = isAsWritten
    self.isBroken = isBroken
  }

  static func literal(_ range: Range<Int>) -> Part {
    Part(
      start: UInt32(truncatingIfNeeded: range.lowerBound),
      end: UInt32(truncatingIfNeeded: range.upperBound), base: .max, root: 0)
  }
}

extension Template: Hashable {
  package static func == (left: Template, right: Template) -> Bool {
    left === right
      || left.origin == right.origin && left.content == right.content && left.nodes == right.nodes
        && left.constants == right.constants
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(origin) }
}

extension Template {
  /// Parses the content of a scalar and reports all faults; nil if there are faults and no
  /// expression could be parsed.
  package convenience init?(
    parsing content: ArraySlice<UInt8>, _ origin: TextOrigin, in source: SourceText,
    _ known: ReadExpressions = ReadExpressions(), log: inout DiagnosticLog
  ) {
    var reader = TemplateReader(content: content, known)
    reader.read()
    if !reader.faults.isEmpty { reader = reader.readAgain() }
    let isBroken = !reader.faults.isEmpty
    let source = isBroken ? source.remembering : source
    for fault in reader.faults {
      log.report(fault.words.diagnostic(at: origin.span(of: fault.range, in: content, source)))
    }
    if isBroken, reader.parts.allSatisfy(\.isLiteral) { return nil }
    self.init(
      content: content, origin: origin, parts: reader.parts, nodes: reader.nodes,
      isAsWritten: !reader.hasEscapes, isBroken: isBroken)
  }

  /// The string itself, if there is no expression in it.
  package var literal: String? {
    parts.allSatisfy(\.isLiteral) ? literalText : nil
  }

  private var literalText: String {
    parts.map { String(decoding: content[$0.range], as: UTF8.self) }.joined()
  }

  /// The expression that is the whole string: its value keeps its type.
  package var single: Expression? {
    parts.count == 1 && !parts[0].isLiteral && !isBroken ? expression(parts[0]) : nil
  }

  /// The expressions in the order in which they are written.
  package var expressions: [Expression] {
    parts.filter { !$0.isLiteral }.map(expression)
  }

  /// Calls `body` with each of the `expressions`, without making a list of them.
  package func forEachExpression(_ body: (Expression) -> Void) {
    for part in parts where !part.isLiteral { body(expression(part)) }
  }

  func expression(_ part: Part) -> Expression {
    Expression(template: self, base: Int(part.base), root: Int(part.root))
  }
}

extension Template {
  /// The location of the string in the file, if it is there byte for byte; otherwise nil.
  package var writtenSpan: Span? { isAsWritten && origin.isWritten ? origin.span : nil }

  /// True if all expressions are like `steps.build.outputs.size`, in contexts of which only the run
  /// knows something: then there is nothing to insert.
  package func isOnly(of contexts: [ContextRoot]) -> Bool {
    parts.allSatisfy { part in
      if part.isLiteral { return true }
      let first = Int(part.root) + 1 - Int(nodes[Int(part.root)].size)
      guard first < part.root, nodes[first].kind == .root,
        contexts.contains(where: { $0.rawValue == nodes[first].detail })
      else { return false }
      return nodes[(first + 1)...Int(part.root)].allSatisfy { $0.kind == .member }
    }
  }
}

extension Expression {
  /// Parses a condition, one expression with or without `${{ … }}`, and reports all faults.
  package init?(
    parsingCondition content: ArraySlice<UInt8>, _ origin: TextOrigin, in source: SourceText,
    _ known: ReadExpressions = ReadExpressions(), log: inout DiagnosticLog
  ) {
    let text = content.drop { $0 == 32 || $0 == 10 || $0 == 9 || $0 == 13 }
    if text.starts(with: "${{".utf8) {
      self.init(parsingBraced: content, origin, in: source, known, log: &log)
      return
    }
    do throws(ExpressionFailure) {
      let entry = if let entry = known[content] { entry } else { try Self.read(content, known) }
      self.init(
        template: Template(
          content: content, origin: origin, parts: [], nodes: entry.nodes, isAsWritten: true),
        base: content.startIndex + entry.inset, root: entry.nodes.count - 1)
    } catch {
      log.report(error.words.diagnostic(at: origin.span(of: error.range, in: content, source)))
      return nil
    }
  }

  /// Parses a string that consists of one expression.
  private static func read(
    _ content: ArraySlice<UInt8>, _ known: ReadExpressions
  ) throws(ExpressionFailure) -> ReadExpressions.Entry {
    var parser = try ExpressionParser(
      content, at: content.startIndex, endsAtBraces: false, nodes: [])
    let base = try parser.parse().lowerBound
    let entry = ReadExpressions.Entry(
      text: content, inset: base - content.startIndex, nodes: parser.nodes)
    known.add(entry)
    return entry
  }

  private init?(
    parsingBraced content: ArraySlice<UInt8>, _ origin: TextOrigin, in source: SourceText,
    _ known: ReadExpressions, log: inout DiagnosticLog
  ) {
    guard let template = Template(parsing: content, origin, in: source, known, log: &log),
      !template.isBroken
    else { return nil }
    let parts = template.parts.filter { part in
      !part.isLiteral || content[part.range].contains { $0 > 32 }
    }
    guard parts.count == 1, let part = parts.first else {
      let stray = parts.first(where: \.isLiteral) ?? parts[1]
      log.report(
        ExpressionMessage.textAroundCondition.diagnostic(
          at: origin.span(of: stray.range, in: content, source)))
      return nil
    }
    self = template.expression(part)
  }
}

/// Finds the parts of a string.
private struct TemplateReader {
  let content: ArraySlice<UInt8>
  var parts: [Template.Part] = []
  var nodes: [ExpressionNode] = []
  var faults: [ExpressionFailure] = []
  var hasEscapes = false
  private let known: ReadExpressions
  /// True if each expression is parsed separately, so that those before a mistake are kept.
  private let isCareful: Bool

  init(content: ArraySlice<UInt8>, _ known: ReadExpressions, isCareful: Bool = false) {
    self.content = content
    self.known = known
    self.isCareful = isCareful
    parts.reserveCapacity(3)
  }

  /// A reader that starts again after a mistake, at which the nodes of the expressions before it
  /// were lost.
  func readAgain() -> TemplateReader {
    var reader = TemplateReader(content: content, known, isCareful: true)
    reader.read()
    return reader
  }

  package mutating func read() {
    var literalStart = content.startIndex
    var place = literalStart
    while faults.count < DiagnosticLog.limit, let opening = nextOpening(from: place) {
      let isEscaped = opening > literalStart && content[opening - 1] == UInt8(ascii: "$")
      addLiteral(literalStart..<(isEscaped ? opening - 1 : opening))
      literalStart = opening
      place = opening + 3
      if isEscaped {
        hasEscapes = true
        continue
      }
      place = readExpression(at: opening)
      literalStart = place
    }
    addLiteral(literalStart..<content.endIndex)
  }

  private func nextOpening(from start: Int) -> Int? {
    content[start...].withUnsafeBufferPointer { $0.expressionStart() }.map { start + $0 }
  }

  private mutating func addLiteral(_ range: Range<Int>) {
    if !range.isEmpty { parts.append(Template.literal(range)) }
  }

  /// Parses an expression; returns the offset after it.
  private mutating func readExpression(at opening: Int) -> Int {
    let start = opening + 3
    let closing = closing(from: start)
    if let closing, let entry = known[content[start..<closing]] {
      if nodes.isEmpty { nodes = entry.nodes } else { nodes += entry.nodes }
      return addExpression(opening..<closing + 2, base: start + entry.inset)
    }
    let first = nodes.count
    let end = readUnknownExpression(at: opening)
    if let closing, end == closing + 2, let part = parts.last, part.range == opening..<end {
      known.add(
        ReadExpressions.Entry(
          text: content[start..<closing], inset: Int(part.base) - start,
          nodes: first == 0 ? nodes : Array(nodes[first...])))
    }
    return end
  }

  /// The position of the braces that end an expression, not counting those in its strings. Nil if
  /// another expression seems to begin before.
  private func closing(from start: Int) -> Int? {
    content[start...].withUnsafeBufferPointer { rest in
      var next = 0
      while let place = rest.place(of: UInt8(ascii: "}"), from: next), place + 1 < rest.count {
        if rest[place + 1] == UInt8(ascii: "}") {
          let inside = UnsafeBufferPointer(rebasing: rest[..<place])
          return inside.expressionStart() == nil ? start + place : nil
        }
        next = place + 1
      }
      return nil
    }
  }

  /// Adds an expression whose nodes are the last ones.
  private mutating func addExpression(_ range: Range<Int>, base: Int) -> Int {
    parts.append(
      Template.Part(
        start: UInt32(truncatingIfNeeded: range.lowerBound),
        end: UInt32(truncatingIfNeeded: range.upperBound),
        base: UInt32(truncatingIfNeeded: base),
        root: UInt32(truncatingIfNeeded: nodes.count - 1)))
    return range.upperBound
  }

  private mutating func readUnknownExpression(at opening: Int) -> Int {
    do throws(ExpressionFailure) {
      // The nodes are moved, so that no second owner causes a copy.
      let known = isCareful ? [] : nodes
      if !isCareful { nodes = [] }
      var parser = try ExpressionParser(
        content, at: opening + 3, endsAtBraces: true, nodes: consume known)
      let range = try parser.parse()
      guard parser.end < content.endIndex else {
        throw ExpressionFailure(ExpressionMessage.openTemplate, at: opening..<opening + 3)
      }
      if isCareful { nodes += parser.nodes } else { nodes = parser.nodes }
      return addExpression(opening..<parser.end + 2, base: range.lowerBound)
    } catch {
      faults.append(error)
      return end(of: error, opening)
    }
  }

  /// The offset at which to continue after a mistake: after the next `}}`, or at the next `${{` before it.
  private func end(of fault: ExpressionFailure, _ opening: Int) -> Int {
    var place = max(opening + 3, fault.range.lowerBound)
    while place + 1 < content.endIndex {
      if content[place] == UInt8(ascii: "}"), content[place + 1] == UInt8(ascii: "}") {
        return place + 2
      }
      if content[place...].starts(with: "${{".utf8), content[place - 1] != UInt8(ascii: "$") {
        return place
      }
      place += 1
    }
    return content.endIndex
  }
}
