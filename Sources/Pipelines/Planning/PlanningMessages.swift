// The wording of everything that can be wrong with names and edges.

import Diagnostics

enum PlanningMessage {
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

  /// `steps` wait for each other, each for the next one and the last for the first.
  static func cycle(_ steps: [Int], of model: PipelineModel) -> Diagnostic {
    let shown = steps.prefix(8)
    let names = shown.map { printable(model.steps[$0].id) }
    let rest = steps.count > 8 ? ["…"] : []
    let path = (names + rest + names.prefix(1)).joined(separator: " -> ")
    let labels = shown.indices.map { index in
      label(steps[index], waitsFor: steps[(index + 1) % steps.count], of: model)
    }
    return Diagnostic(
      "steps depend on each other in a circle: \(path)", at: labels[0].span,
      label: labels[0].text, secondary: Array(labels.dropFirst()))
  }

  private static func label(
    _ step: Int, waitsFor target: Int, of model: PipelineModel
  ) -> Diagnostic.Label {
    let words = "\(quoted(model.steps[step].id)) waits for \(quoted(model.steps[target].id))"
    guard let dependency = model.dependency(of: step, on: target) else {
      return .init(model.steps[step].idSpan, words + ", because of 'sequence'")
    }
    return .init(model.dependencies[dependency].span, words)
  }

  static func unknownSelection(_ name: String, path: String, suggestion: String?) -> String {
    let help = suggestion.map { ", did you mean \(quoted($0))?" } ?? ""
    return "no step \(quoted(name)) in \(printable(path))\(help)"
  }
}
