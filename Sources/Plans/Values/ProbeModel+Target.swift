// What conditions of `wait_for` must look like, whether they are literal or known only later.

import BuiltinSteps
import Diagnostics
package import Expressions

extension ProbeModel.Kind {
  /// What such a condition must look like; nil if the string could be one.
  package func wanted(insteadOf text: String) -> String? {
    switch self {
    case .tcp: HostAndPort(text) != nil ? nil : "'host:port'"
    case .http: isWebURL(text) ? nil : "an http or https URL"
    case .file: text.isEmpty ? "a path" : nil
    case .command: nil
    }
  }

  /// The target of such a condition without anything that gives access.
  package func shown(_ text: String) -> String {
    switch self {
    case .tcp: withoutCredentials(text)
    case .http: shownURL(text)
    case .file, .command: text
    }
  }
}

extension ProbeModel {
  /// Throws for a value that can never be satisfied, in a condition with expressions; one without
  /// was checked before.
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
