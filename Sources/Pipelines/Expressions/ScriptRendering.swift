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
      return value.flatMap { bindings.objection(toSecretIn: $0, of: expression) }
        ?? script.objection(to: expression, number)
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
  private let reading: ScriptReading

  init(_ template: Template, _ language: ScriptLanguage) {
    self.language = language
    reading =
      language == .other
      ? .plain(quoted: 0) : template.script ?? ScriptReading(template.content, template.parts)
  }

  /// Whether values can mean something together that each of them does not.
  var needsAllValues: Bool { reading.joined != nil }

  private func place(_ number: Int) -> ShellPlace { reading.place(number) }

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
    reading.joined?.objection(to: values.map { $0.map { Array($0.utf8) } })
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
