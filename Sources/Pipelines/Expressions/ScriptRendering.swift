// From a template to the text of a script. A value is let in only if it cannot become code: it consists
// of characters without a meaning to any shell, or is quoted where a quoted word stays one word.

package import Diagnostics

/// What reads a script.
package enum ScriptLanguage: Sendable {
  /// sh, bash, dash, ash, ksh, mksh, zsh.
  case shell
  case other
}

extension Template {
  /// Reports what is wrong, types included, and expressions that stand where no value may.
  package func checkScript(
    for language: ScriptLanguage, in scope: some ExpressionScope, _ source: SourceText,
    log: inout DiagnosticLog
  ) {
    // What stands around a value is not known then.
    if isBroken { return checkText(in: scope, source, log: &log) }
    let script = ScriptText(self, language)
    var number = 0
    for part in parts where !part.isLiteral {
      let expression = expression(part)
      expression.checkText(in: scope, source, log: &log)
      if let words = script.objection(to: expression, number) {
        log.report(at: expression.span(in: source)) { words.diagnostic(at: $0) }
      }
      number += 1
    }
  }

  /// The script with all values inserted. Fails for a value that could become code.
  package func renderedScript(
    for language: ScriptLanguage, with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> String {
    guard let script = try script(for: language, .value, with: bindings) else {
      preconditionFailure("an evaluation that fails says so")
    }
    return script
  }

  /// Nil if some of the values are not known yet; those that are may fail already.
  package func renderedScriptIfKnown(
    for language: ScriptLanguage, with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> String? {
    try script(for: language, .knownValue, with: bindings)
  }

  private func script(
    for language: ScriptLanguage, _ goal: FoldingGoal, with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> String? {
    let script = ScriptText(self, language)
    // Those that other places depend on.
    var values: [String?] = []
    var number = 0
    let text = try self.text(for: goal, with: bindings) { expression, value in
      defer { number += 1 }
      if script.needsAllValues { values.append(value) }
      return script.objection(to: expression, number)
        ?? value.flatMap { script.objection(to: $0, of: expression, number) }
    }
    if let (words, number) = script.objection(toAll: values) {
      let expression = expressions[number]
      throw EvaluationFailure(words, in: expression, at: expression.range(of: expression.root))
    }
    return text
  }
}

/// What may go into a script, and where.
private struct ScriptText {
  private let language: ScriptLanguage
  /// Nil where each value is a part of a plain word.
  private let scan: ScriptScan?

  init(_ template: Template, _ language: ScriptLanguage) {
    self.language = language
    scan = language == .other || template.isPlainCommand ? nil : ScriptScan(template)
  }

  /// Whether values can mean something together that each of them does not.
  var needsAllValues: Bool { scan != nil }

  private func place(_ number: Int) -> ShellPlace { scan?.places[number] ?? ShellPlace() }

  /// To any value of an expression at its place.
  func objection(to expression: Expression, _ number: Int) -> FaultWords? {
    let place = place(number)
    if let refusal = place.refusal { return ExpressionMessage.refused(refusal) }
    guard expression.isQuote else { return nil }
    if language == .other { return ExpressionMessage.quoteForOtherLanguage }
    return place.allowsQuotes ? nil : ExpressionMessage.quote(in: place)
  }

  /// To one value at its place.
  func objection(to text: String, of expression: Expression, _ number: Int) -> FaultWords? {
    if expression.isQuote { return nil }
    let place = place(number)
    if text.isEmpty { return ExpressionMessage.emptyInScript(help: wayOut(of: place)) }
    if !text.utf8.allSatisfy(isInert) {
      return ExpressionMessage.unsafe(text, help: wayOut(of: place))
    }
    if place.isNumeric, !isInteger(text) { return ExpressionMessage.notNumeric(text) }
    if case .codeArgument(let command) = place.context, text.contains("=") {
      return ExpressionMessage.assignment(text, command)
    }
    if place.isBeforeRedirection, text.utf8.allSatisfy(isDecimalDigit) {
      return ExpressionMessage.descriptor(text)
    }
    return nil
  }

  /// What to do with a value that may be anything.
  private func wayOut(of place: ShellPlace) -> String {
    if language == .other { return ExpressionMessage.throughEnvironmentAlone }
    return place.allowsQuotes
      ? ExpressionMessage.throughEnvironmentOrQuoted : ExpressionMessage.throughEnvironment
  }

  /// To values that together make a word or a line which means something else; and the number of the
  /// first of them. Nil is a value that is not known.
  func objection(toAll values: [String?]) -> (FaultWords, Int)? {
    scan?.objection(to: values.map { $0.map { Array($0.utf8) } })
  }
}

/// A script with marks where values go, as the scanner sees it.
private struct ScriptScan {
  let places: [ShellPlace]
  private let marked: [UInt8]
  /// Offsets of the marks.
  private let marks: [Int]
  private let lines: [DocumentLine]
  private let commandWords: [CommandWord]

  init(_ template: Template) {
    var marked: [UInt8] = []
    var marks: [Int] = []
    for part in template.parts {
      if part.isLiteral {
        marked += template.content[part.range]
      } else {
        marks.append(marked.count)
        marked.append(valueMark)
      }
    }
    self.marked = marked
    self.marks = marks
    var scanner = ShellScanner(marked)
    scanner.scan()
    let isComplete = scanner.places.count == marks.count
    places =
      isComplete
      ? scanner.places : Array(repeating: ShellPlace(refusal: .unclear), count: marks.count)
    lines = scanner.lines
    commandWords = scanner.commandWords
  }

  func objection(to values: [[UInt8]?]) -> (FaultWords, Int)? {
    for line in lines {
      guard let text = inserting(values, in: line.range) else { continue }
      let joined = String(decoding: text, as: UTF8.self).replacing("\\\n", with: "")
      if line.isEnd(text) || line.isEnd(Array(joined.utf8)) {
        let delimiter = String(decoding: line.delimiter, as: UTF8.self)
        return (
          ExpressionMessage.endsDocument(delimiter), firstMark(atOrAfter: line.range.lowerBound)
        )
      }
    }
    for word in commandWords {
      if let text = inserting(values, in: word.range), word.isForbidden(text) {
        let text = String(decoding: text, as: UTF8.self)
        return (ExpressionMessage.shellWord(text), firstMark(atOrAfter: word.range.lowerBound))
      }
    }
    return nil
  }

  /// Nil if one of the values is not known.
  private func inserting(_ values: [[UInt8]?], in range: Range<Int>) -> [UInt8]? {
    var result: [UInt8] = []
    var number = firstMark(atOrAfter: range.lowerBound)
    for byte in marked[range] {
      if byte == valueMark {
        guard let value = values[number] else { return nil }
        result += value
        number += 1
      } else {
        result.append(byte)
      }
    }
    return result
  }

  private func firstMark(atOrAfter offset: Int) -> Int {
    var low = 0
    var high = marks.count
    while low < high {
      let middle = (low + high) / 2
      if marks[middle] < offset { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

private func isInteger(_ text: String) -> Bool {
  let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
  return text.utf8.count - digits.count <= 1 && !digits.isEmpty
    && digits.allSatisfy(isDecimalDigit)
}

extension Expression {
  /// The whole expression is `quote(…)`.
  var isQuote: Bool {
    nodes[root].kind == .call && nodes[root].detail == Function.quote.rawValue
  }
}
