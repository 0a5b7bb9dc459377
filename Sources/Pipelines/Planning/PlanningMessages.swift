// The wording of everything that can be wrong with names and edges.

import Diagnostics

enum PlanningMessage {
  static func duplicateID(_ id: String, first: Span, at span: Span) -> Diagnostic {
    Diagnostic(
      "two steps have the id \(quoted(id))", at: span, secondary: [.init(first, "first here")])
  }

  static func unknownStep(
    _ name: String, of step: String, suggestion: String?, at span: Span
  ) -> Diagnostic {
    Diagnostic(
      "step \(quoted(step)) depends on \(quoted(name)), which is no step", at: span,
      help: suggestion.map { "did you mean \(quoted($0))?" })
  }

  static func listedTwice(_ name: String, by step: String, at span: Span) -> Diagnostic {
    Diagnostic("step \(quoted(step)) lists \(quoted(name)) twice in 'depends_on'", at: span)
  }

  static func unknownQueue(_ queue: Reference, known: [String]) -> Diagnostic {
    let close = suggestion(for: queue.name, among: known)
    return Diagnostic(
      "no queue \(quoted(queue.name))", at: queue.span,
      help: close.map { "did you mean \(quoted($0))?" } ?? "queues are listed under 'queues'")
  }

  static func unknownResource(_ resource: Reference, known: [String]) -> Diagnostic {
    let close = suggestion(for: resource.name, among: known)
    return Diagnostic(
      "no resource \(quoted(resource.name))", at: resource.span,
      help: close.map { "did you mean \(quoted($0))?" }
        ?? "resources are listed under 'resources' at top level")
  }

  static func overCapacity(_ claim: ClaimModel, capacity: Int64) -> Diagnostic {
    Diagnostic(
      "\(quoted(claim.resource.name)) asks for \(decimal(claim.amount)), "
        + "the pool has \(decimal(capacity))", at: claim.amountSpan)
  }

  private static func decimal(_ millionths: Int64) -> String {
    let (whole, rest) = millionths.quotientAndRemainder(dividingBy: 1_000_000)
    guard rest != 0 else { return String(whole) }
    var digits = String(rest + 1_000_000).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "\(whole).\(digits)"
  }

  /// `labels` tell of each edge shown.
  static func cycle(_ names: [String], labels: [Diagnostic.Label]) -> Diagnostic {
    Diagnostic(
      "steps depend on each other in a circle: \(names.joined(separator: " -> "))",
      at: labels[0].span, label: labels[0].text, secondary: Array(labels.dropFirst()))
  }

  static func waits(_ step: String, for target: String) -> String {
    "\(quoted(step)) waits for \(quoted(target))"
  }

  static func unknownSelection(_ name: String, path: String, suggestion: String?) -> String {
    let help = suggestion.map { ", did you mean \(quoted($0))?" } ?? ""
    return "no step \(quoted(name)) in \(printable(path))\(help)"
  }
}
