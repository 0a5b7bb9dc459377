// What conditions of `wait_for` must look like, whether they are literal or known only later.

import Diagnostics
package import Expressions

extension ProbeModel.Kind {
  /// What such a condition must look like; nil if the string could be one.
  package func wanted(insteadOf text: String) -> String? {
    switch self {
    case .tcp: isAddress(text) ? nil : "'host:port'"
    case .http: isURL(text) ? nil : "an http or https URL"
    case .file: text.isEmpty ? "a path" : nil
    case .command: nil
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
    let found = kind == .http ? shownURL(text) : text
    throw EvaluationFailure(
      UnlocatedFailure("\(quoted("\(kind)")) must be \(wanted), not \(quoted(found))"),
      in: expression,
      at: expression.range(of: expression.root))
  }
}

private func isAddress(_ text: String) -> Bool {
  guard let colon = text.lastIndex(of: ":"), colon > text.startIndex else { return false }
  return UInt16(text[text.index(after: colon)...]) ?? 0 > 0
}

private func isURL(_ text: String) -> Bool {
  let start = text.lowercased()
  return ["http://", "https://"].contains { start.hasPrefix($0) && start.count > $0.count }
}
