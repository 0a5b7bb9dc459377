// The rules for conditions of `wait_for`, whether they are literal or known only later.

import BuiltinSteps
import Diagnostics
package import Expressions

extension ProbeModel.Kind {
  /// The form of a condition of this kind, for a message; nil if the string has that form.
  package func wanted(insteadOf text: String) -> String? {
    switch self {
    case .tcp: HostAndPort(text) != nil ? nil : "'host:port'"
    case .http: isWebURL(text) ? nil : "an http or https URL"
    case .file: text.isEmpty ? "a path" : nil
    case .command: nil
    }
  }

  /// The target of a condition of this kind, without its parts that give access.
  package func shown(_ text: String) -> String {
    switch self {
    case .tcp: withoutCredentials(text)
    case .http: shownURL(text)
    case .file, .command: text
    }
  }
}

extension ProbeModel {
  /// Throws for a value with which a condition with expressions can never be satisfied; conditions
  /// without expressions were checked before.
  package func check(_ text: String) throws(EvaluationFailure) {
    guard let wanted = kind.wanted(insteadOf: text), case .script(.template(let template)) = target,
      let expression = template.expressions.first
    else { return }
    throw EvaluationFailure(
      UnlocatedFailure(
        "\(quoted(kind.rawValue)) must be \(wanted), not \(quoted(kind.shown(text)))"),
      in: expression,
      at: expression.range(of: expression.root))
  }
}
