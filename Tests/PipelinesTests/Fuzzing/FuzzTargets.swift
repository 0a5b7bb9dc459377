// What must be true for any input. Each target throws a description of what is not.

import Diagnostics
import ExpressionSamples
import Scheduling

@testable import Expressions
@testable import Pipelines
@testable import Plans

/// What a target found wrong with an input.
struct FuzzFinding: Error, CustomStringConvertible {
  let description: String
}

private func demand(_ isTrue: Bool, _ words: @autoclosure () -> String) throws(FuzzFinding) {
  if !isTrue { throw FuzzFinding(description: words()) }
}

/// Checks that every fault has a message and a location in one of the files, and can be shown.
private func examine(_ log: [Diagnostic], in sources: SourceMap) throws(FuzzFinding) {
  let end = sources.files.last.map(\.range.upperBound) ?? 0
  for diagnostic in log {
    for label in [diagnostic.primary] + diagnostic.secondary {
      let span = label.span
      try demand(
        span.start <= span.end && Int(span.end) <= end,
        "'\(diagnostic.message)' has the place \(span), beyond the file's \(end) bytes")
    }
    try demand(!diagnostic.message.isEmpty, "a message without words")
    try demand(!diagnostic.message.contains("\n"), "a message of more than one line")
  }
  let text = render(log, in: sources)
  try demand(log.isEmpty || text.contains("error"), "nothing is shown")
}

/// Reads, checks, folds, prints and evaluates.
func fuzzExpression(_ bytes: [UInt8]) throws(FuzzFinding) {
  guard let text = String(validating: bytes, as: UTF8.self) else { return }
  let file = SampleFile(text)
  var log = DiagnosticLog()
  let expression = file.sources.withText(at: file.origin.span) { source in
    let expression = Expression(
      parsingCondition: file.bytes[...], file.origin, in: source, log: &log)
    expression?.checkCondition(in: SampleScope(), source, log: &log)
    return expression
  }
  let faults = log.sorted()
  try examine(faults, in: file.sources)
  try demand(expression != nil || !faults.isEmpty, "refused without a fault")
  if let expression { try examine(expression, file, isChecked: faults.isEmpty) }
  try fuzzTemplate(file)
}

private func examine(
  _ expression: Expression, _ file: SampleFile, isChecked: Bool
) throws(FuzzFinding) {
  let printed = expression.description
  let again = SampleFile(printed)
  var log = DiagnosticLog()
  let second = again.sources.withText(at: again.origin.span) { source in
    Expression(parsingCondition: again.bytes[...], again.origin, in: source, log: &log)
  }
  // Printed strings may be longer than what was written.
  if printed.utf8.count < Expression.maxByteCount {
    try demand(second?.description == printed, "printed as '\(printed)', which reads otherwise")
  }
  _ = (expression.references, expression.callsStatusFunction)
  let value = try evaluate(expression, file)
  let folded: Expression
  do throws(EvaluationFailure) {
    folded = try expression.folded(with: SampleBindings())
  } catch {
    try examine([error.diagnostic(in: file.sources)], in: file.sources)
    return try demand(value == nil, "only folding fails: \(error.words.message)")
  }
  guard isChecked, let value else { return }
  let later = try evaluate(folded, file)
  try demand(
    value == later,
    "\(value.literal) becomes \(later?.literal ?? "nothing") folded to '\(folded.description)'")
}

private func evaluate(_ expression: Expression, _ file: SampleFile) throws(FuzzFinding) -> Value? {
  let failure: EvaluationFailure
  do throws(EvaluationFailure) {
    return try expression.evaluated(with: afterwards)
  } catch {
    failure = error
  }
  try examine([failure.diagnostic(in: file.sources)], in: file.sources)
  return nil
}

private let fuzzedShell = ScriptReader(shell: ["/bin/sh", "-e"])

/// The same bytes as a text and as a script.
private func fuzzTemplate(_ file: SampleFile) throws(FuzzFinding) {
  var log = DiagnosticLog()
  let template = file.sources.withText(at: file.origin.span) { source in
    let template = Template(parsing: file.bytes[...], file.origin, in: source, log: &log)
    template?.checkText(in: SampleScope(), source, log: &log)
    return template
  }
  try examine(log.sorted(), in: file.sources)
  guard let template else { return }
  var failures: [EvaluationFailure] = []
  do throws(EvaluationFailure) { _ = try template.rendered(with: afterwards) } catch {
    failures.append(error)
  }
  do throws(EvaluationFailure) {
    _ = try template.renderedScript(for: fuzzedShell, with: afterwards)
  } catch {
    failures.append(error)
  }
  do throws(EvaluationFailure) {
    let folded = try template.folded(with: SampleBindings())
    _ = folded.description
    _ = try template.renderedScriptIfKnown(for: fuzzedShell, with: SampleBindings())
    _ = try folded.renderedScript(for: fuzzedShell, with: afterwards)
  } catch {
    failures.append(error)
  }
  try examine(failures.map { $0.diagnostic(in: file.sources) }, in: file.sources)
}

/// Reads a pipeline file and plans it.
func fuzzPipeline(_ bytes: [UInt8]) throws(FuzzFinding) {
  do throws(PlanningFailure) {
    _ = try makePlan(path: "p.yml", bytes: bytes, options: PlanningOptions())
  } catch {
    switch error {
    case .invalid(let diagnostics, let sources):
      try demand(!diagnostics.isEmpty, "invalid without a fault")
      try examine(diagnostics, in: sources)
    case .emptySelection, .unknownSteps:
      throw FuzzFinding(description: "an empty selection of everything")
    case .badParameters(let faults):
      try demand(faults.messages.allSatisfy { !$0.isEmpty }, "a parameter's fault without words")
    }
  }
}

/// Reads a file of outputs.
func fuzzOutputs(_ bytes: [UInt8]) throws(FuzzFinding) {
  for declared in [nil, [OutputDeclaration(name: "a", type: .string)]] as [[OutputDeclaration]?] {
    do throws(OutputFailure) {
      let values = try readOutputs(bytes, declared: declared)
      _ = Value.map(values).json
    } catch {
      try demand(
        error.message.contains("OPRUN_OUTPUT") || error.message.contains("output"),
        "a fault without a place: \(error.message)")
    }
  }
}
