// Turns a template into text that a shell or an interpreter reads. `ScriptRule` decides which
// values are accepted.

import Diagnostics

/// The program that reads a script.
package struct ScriptReader: Sendable {
  package enum Form {
    /// The text of `run`, a hook or a probe.
    case text
    /// An element of a list.
    case element
    case standardInput
  }

  package let form: Form
  /// The words that start the program: the shell and its options, or the name of an interpreter.
  package let words: [String]

  package init(_ form: Form, _ words: [String]) {
    self.form = form
    self.words = words
  }

  /// A reader of the text of `run`, a hook or a probe, started by the words of `shell`.
  package init(shell words: [String]) { self.init(.text, words) }

  /// True if the program reads the code as a shell does.
  var isShell: Bool {
    if words == Self.usual { return true }
    if form != .text { return words.first.flatMap { Interpreter.named($0) }?.readsShell ?? false }
    return Interpreter.running(words)?.readsShell == true && Interpreter.areShells(words)
  }

  /// The shell of most steps, which is not looked up in the table of programs.
  private static let usual = ["/bin/sh", "-e"]

  /// True if a pattern can have code in parentheses at its end.
  var hasGlobQualifiers: Bool {
    words.contains { Interpreter.named($0)?.hasGlobQualifiers == true }
  }
}

extension Template {
  /// The script with all values inserted. Fails for a value that could be more than data.
  package func renderedScript(
    for reader: ScriptReader, with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> String {
    guard let script = try script(for: reader, .value, with: bindings) else {
      preconditionFailure("an evaluation that fails says so")
    }
    return String(decoding: script, as: UTF8.self)
  }

  /// The script in UTF-8, as a plan keeps it; nil if some of the values are not known yet. The
  /// known ones can already fail.
  package func renderedScriptIfKnown(
    for reader: ScriptReader, with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> [UInt8]? {
    try script(for: reader, .knownValue, with: bindings)
  }

  private func script(
    for reader: ScriptReader, _ goal: FoldingGoal, with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> [UInt8]? {
    var checker = ScriptChecker(for: reader)
    let script = try utf8(
      for: goal, with: bindings, literal: { checker.append($0) },
      objection: { bindings.objection(toSecretIn: $0) ?? checker.objection(to: $0) })
    try checker.checkLines()
    return script
  }
}
