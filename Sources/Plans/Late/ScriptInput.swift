// What a command reads from its input is a script where it is a shell or an interpreter: values go into
// it as into any script.

package import Expressions

extension LateParts {
  /// Fails if the command reads a script from its input in which a value is refused.
  func checkInput(
    of action: Action, _ bindings: LateBindings<some RunFacts>
  ) throws(EvaluationFailure) {
    guard let input, let reader = action.inputReader else { return }
    _ = try input.renderedScript(for: reader, with: bindings)
  }
}

extension Action {
  /// What may take its input for a script.
  package var inputReader: ScriptReader? {
    let program: String? =
      switch self {
      case .script(let text): Interpreter.reader(in: text.string)
      case .arguments(let words): Interpreter.reader(in: words)
      case .helper: nil
      }
    return program.map { ScriptReader(.standardInput, [$0]) }
  }
}
