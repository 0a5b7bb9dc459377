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
    let script = ScriptText(self, language)
    for (number, expression) in expressions.enumerated() {
      expression.checkText(in: scope, source, log: &log)
      if let words = script.objection(to: expression, number) {
        log.report(at: expression.span(in: source)) { words.diagnostic(at: $0) }
      }
    }
  }

  /// Reports values that are known, after folding, and must not stand where they would.
  package func checkKnownValues(
    for language: ScriptLanguage, _ source: SourceText, log: inout DiagnosticLog
  ) {
    let script = ScriptText(self, language)
    let expressions = expressions
    let values = expressions.map { $0.isQuote ? nil : $0.constant?.text }
    for (number, expression) in expressions.enumerated() {
      guard let text = values[number],
        let words = script.objection(to: text, of: expression, number)
      else { continue }
      log.report(at: expression.span(in: source)) { words.diagnostic(at: $0) }
    }
    if let (words, number) = script.objection(toAll: values.map { $0.map { Array($0.utf8) } }) {
      log.report(at: expressions[number].span(in: source)) { words.diagnostic(at: $0) }
    }
  }

  /// The script with all values inserted. Fails for a value that could become code.
  package func renderedScript(
    for language: ScriptLanguage, with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> String {
    let script = ScriptText(self, language)
    let expressions = expressions
    var values: [[UInt8]] = []
    var byteCount = 0
    for (number, expression) in expressions.enumerated() {
      let text = try expression.text(with: bindings)
      byteCount += text.utf8.count
      let isTooLong = byteCount > Function.maxResultByteCount
      if let words = script.objection(to: expression, number)
        ?? script.objection(to: text, of: expression, number)
        ?? (isTooLong ? ExpressionMessage.resultTooLong : nil)
      {
        throw EvaluationFailure(words, in: expression, at: expression.range(of: expression.root))
      }
      values.append(Array(text.utf8))
    }
    if let (words, number) = script.objection(toAll: values) {
      let expression = expressions[number]
      throw EvaluationFailure(words, in: expression, at: expression.range(of: expression.root))
    }
    return String(decoding: script.inserting(values, in: script.range) ?? [], as: UTF8.self)
  }
}

/// A script with marks where values go, and what may go there.
private struct ScriptText {
  private let marked: [UInt8]
  private let places: [ShellPlace]
  private let lines: [DocumentLine]
  private let commandWords: [CommandWord]
  private let language: ScriptLanguage
  /// Offsets of the marks.
  private let marks: [Int]

  /// All of it.
  var range: Range<Int> { 0..<marked.count }

  init(_ template: Template, _ language: ScriptLanguage) {
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
    self.language = language
    if marks.isEmpty || language == .other || isPlainCommand(marked) {
      places = Array(repeating: ShellPlace(), count: marks.count)
      lines = []
      commandWords = []
      return
    }
    var scanner = ShellScanner(marked)
    scanner.scan()
    let isComplete = scanner.places.count == marks.count
    places =
      isComplete
      ? scanner.places : Array(repeating: ShellPlace(refusal: .unclear), count: marks.count)
    lines = scanner.lines
    commandWords = scanner.commandWords
  }

  /// To any value of an expression at its place.
  func objection(to expression: Expression, _ number: Int) -> FaultWords? {
    if let refusal = places[number].refusal { return ExpressionMessage.refused(refusal) }
    guard expression.isQuote else { return nil }
    if language == .other { return ExpressionMessage.quoteForOtherLanguage }
    return places[number].allowsQuotes ? nil : ExpressionMessage.quote(in: places[number])
  }

  /// To one value at its place.
  func objection(to text: String, of expression: Expression, _ number: Int) -> FaultWords? {
    if expression.isQuote { return nil }
    let place = places[number]
    if text.isEmpty { return ExpressionMessage.emptyInScript }
    if !text.utf8.allSatisfy(isInert) { return ExpressionMessage.unsafe(text) }
    if place.isNumeric, !isInteger(text) { return ExpressionMessage.notNumeric(text) }
    if case .codeArgument(let command) = place.context, text.contains("=") {
      return ExpressionMessage.assignment(text, command)
    }
    if place.isBeforeRedirection, text.utf8.allSatisfy(isDecimalDigit) {
      return ExpressionMessage.descriptor(text)
    }
    return nil
  }

  /// To values that together make a word or a line which means something else.
  func objection(toAll values: [[UInt8]?]) -> (FaultWords, Int)? {
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
  func inserting(_ values: [[UInt8]?], in range: Range<Int>) -> [UInt8]? {
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
