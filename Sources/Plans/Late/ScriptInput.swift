// The standard input of a shell or an interpreter is a script: values are inserted into it as into
// any script.

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
  /// The program that may take its standard input as a script.
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
