// The messages about names and edges.

import BuiltinSteps
import Diagnostics
import Expressions
import Scheduling

enum PlanningMessage {
  static func duplicateID(_ id: String, first: Span, at span: Span) -> Diagnostic {
    Diagnostic(
      "two steps have the id \(quoted(id))", at: span, secondary: [.init(first, "first here")])
  }

  static func unknownStep(
    _ name: String, of step: String, suggestion: String?, at span: Span
  ) -> Diagnostic {
    Diagnostic(
      "step \(quoted(step)) depends on \(quoted(name)), which does not exist", at: span,
      help: didYouMean(suggestion))
  }

  static func unknownDefault(_ name: String, help: String?, at span: Span) -> Diagnostic {
    Diagnostic("'default' names \(quoted(name)), which does not exist", at: span, help: help)
  }

  static func unknownCacheSecret(_ name: String, known: [String], at span: Span) -> Diagnostic {
    Diagnostic(
      "'cache_secret' names the secret \(quoted(name)), which does not exist", at: span,
      help: didYouMean(suggestion(for: name, among: known)))
  }

  static func nothingToUse(at span: Span) -> Diagnostic {
    Diagnostic(
      "every step of the file used here is manual, and the file has no 'default'", at: span,
      help: "set 'default' in that file to the steps to run when it is used")
  }

  static func everyStepIsManual(path: String, example: String) -> PlanningFailure {
    .emptySelection(
      message: "every step of \(quoted(path)) is manual, and the file has no 'default'",
      help: "name the steps to run, such as \(quoted(example))")
  }

  /// The message about a cycle of `vars`. The first name is also the last one.
  static func derivedCycle(_ names: [String], at span: Span) -> Diagnostic {
    let path = names.map(printable).joined(separator: " -> ")
    return Diagnostic("'vars' depend on each other in a cycle: \(path)", at: span)
  }

  static func derivedTwice(_ name: String, first: Span, at span: Span) -> Diagnostic {
    Diagnostic(
      "derived value \(quoted(name)) is already defined in the file", at: span,
      secondary: [.init(first, "first here")])
  }

  static func filesInVars(at span: Span) -> Diagnostic {
    Diagnostic(
      "'vars' are computed before any file is read", at: span,
      help: "call the function where the value is used")
  }

  static func listedTwice(_ name: String, by step: String, at span: Span) -> Diagnostic {
    Diagnostic("step \(quoted(step)) lists \(quoted(name)) twice in 'depends_on'", at: span)
  }

  /// The message about a step of a sequence that runs after a failure. The names are those of the
  /// step, of the one before it, and of the last one before that which may fail.
  static func runsAfterFailure(_ names: [String], _ between: Span, at span: Span) -> Diagnostic {
    Diagnostic(
      "\(quoted(names[0])) runs even if \(quoted(names[2])) fails: in this sequence it waits only for "
        + "\(quoted(names[1])), which does not pass that failure on", at: span,
      secondary: [.init(between, "the step before it")], help: waiting(names))
  }

  static func deafCondition(_ names: [String], _ between: Span, at span: Span) -> Diagnostic {
    Diagnostic(
      "the condition of \(quoted(names[0])) does not see whether \(quoted(names[2])) fails: in this sequence "
        + "it looks only at \(quoted(names[1])), which does not pass that failure on", at: span,
      secondary: [.init(between, "the step before it")], help: waiting(names))
  }

  private static func waiting(_ names: [String]) -> String {
    let (before, fallible) = (printable(names[1]), printable(names[2]))
    return
      "write 'depends_on: [\(fallible), \(before)]', or 'depends_on: [\(before)]' if that is meant"
  }

  static func tooMuch(at span: Span) -> Diagnostic {
    Diagnostic(
      "more than 1,000,000 operations or 10,000 groups and uses of pipelines once all steps are expanded, "
        + "which is the limit", at: span)
  }

  /// The message about an instance that a step does not have; `known` is nil if its instances are known later.
  static func noInstance(
    _ name: String, of step: String, known: [String]?, at span: Span
  ) -> Diagnostic {
    let help =
      if let known {
        known.isEmpty
          ? "\(quoted(step)) has no instances"
          : "the instances are " + firstNames(of: known.map { step + $0 }, most: 4)
      } else {
        "the instances of \(quoted(step)) are known only during the run; depend on all of them: \(step)"
      }
    return Diagnostic("unknown instance \(quoted(name))", at: span, help: help)
  }

  static func noMatch(isLate: Bool, at span: Span) -> Diagnostic {
    Diagnostic(
      "'match: matrix' needs a matrix on both steps that is known before the run", at: span,
      help: isLate
        ? "give both steps one matrix: put them into a group, a step with this 'matrix' and 'steps'"
        : nil)
  }

  static func unmatched(
    _ step: String, _ suffix: String, count: Int, at span: Span
  ) -> Diagnostic {
    count == 0
      ? Diagnostic("no instance of \(quoted(step)) has the values of \(suffix)", at: span)
      : Diagnostic(
        "\(count) instances of \(quoted(step)) have the values of \(suffix)", at: span,
        help: "'match: matrix' needs exactly one instance if all axes are the same")
  }

  static func tooManyEdges(at span: Span) -> Diagnostic {
    Diagnostic(
      "more than 4,000,000 dependencies once all steps are expanded, which is the limit", at: span)
  }

  static func tooManyInputs(at span: Span) -> Diagnostic {
    Diagnostic(
      "more than 500,000 parameters in all uses of pipeline files together, "
        + "which is the limit", at: span)
  }

  static func tooManyVariables(at span: Span) -> Diagnostic {
    Diagnostic(
      "more than 4,000,000 environment variables of all steps together, which is the limit",
      at: span)
  }

  static let tooMuchText = UnlocatedFailure(
    "expressions produce more than 64 MiB of text in all, which is the limit")

  static func textForInput(_ name: String, wanted: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "parameter \(quoted(name)) must be \(wanted), not a string", at: span,
      help: "remove the text around '${{ }}'")
  }

  static func twoPlaces(_ secret: String, first: Span, at span: Span) -> Diagnostic {
    Diagnostic(
      "secret \(quoted(secret)) is read from two places", at: span,
      secondary: [.init(first, "first here")])
  }

  static func badMatrix(_ step: String, _ fault: String, at span: Span) -> Diagnostic {
    Diagnostic("the matrix of \(quoted(step)) \(fault)", at: span)
  }

  static func noList(_ axis: String, _ found: String, at span: Span) -> Diagnostic {
    Diagnostic("axis \(quoted(axis)) must be a list, not \(quoted(found))", at: span)
  }

  static func lateAllowance(at span: Span) -> Diagnostic {
    Diagnostic(
      "'allow_failure' of a step that stands for several must be known before the run", at: span,
      help: "set it on the steps themselves")
  }

  static func lateMutex(at span: Span) -> Diagnostic {
    Diagnostic("the name of a mutex must be known before the run", at: span)
  }

  static func unknownInput(_ name: String, suggestion: String?, at span: Span) -> Diagnostic {
    Diagnostic(
      "the pipeline used here has no parameter \(quoted(name))", at: span,
      help: didYouMean(suggestion))
  }

  static func missingInput(_ name: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "the pipeline used here needs the parameter \(quoted(name))", at: span,
      help: "set it under 'with'")
  }

  static func badInput(_ name: String, _ fault: String, at span: Span) -> Diagnostic {
    Diagnostic("parameter \(quoted(name)) \(fault)", at: span)
  }

  static func noWidthInNested(at span: Span) -> Diagnostic {
    Diagnostic(
      "'max_parallel' must be at least 1 here: another pipeline uses this one, and waits for it",
      at: span)
  }

  static func unknownBuiltIn(_ name: String, known: [String], at span: Span) -> Diagnostic {
    let close = suggestion(for: name, among: known)
    return Diagnostic(
      "unknown built-in step \(quoted(name))", at: span,
      help: didYouMean(close)
        ?? "the built-in steps are \(inWords(known.map(quoted), last: "and")); write a pipeline file with a path: "
        + "./\(printable(name)).yml")
  }

  static func unknownKey(
    _ name: String, of step: String, known: [String], at span: Span
  ) -> Diagnostic {
    let close = suggestion(for: name, among: known)
    return Diagnostic(
      "built-in step \(quoted(step)) has no input \(quoted(name))", at: span,
      help: didYouMean(close))
  }

  static func badKey(
    _ name: String, wanted: String, _ fault: BuiltinType.Fault, at span: Span
  ) -> Diagnostic {
    Diagnostic(
      "\(quoted(name)) must be \(wanted), not \(fault.found)", at: span, help: fault.help)
  }

  /// The message about missing inputs: `names`, and one of each list of `choices`.
  static func missingKeys(
    _ names: [String], anyOf choices: [[String]], of step: String, at span: Span
  ) -> Diagnostic {
    let lead =
      names.isEmpty ? "" : names.count == 1 && choices.isEmpty ? "the input " : "the inputs "
    let items = names.map(quoted) + choices.map { "one of \(inWords($0.map(quoted)))" }
    return Diagnostic(
      "\(quoted(step)) needs \(lead)\(inWords(items, last: "and"))", at: span)
  }

  static func badKeys(_ fault: String, of step: String, at span: Span) -> Diagnostic {
    Diagnostic("inputs of \(quoted(step)): \(fault)", at: span)
  }

  static func unknownQueue(_ queue: Reference, suggestion: String?) -> Diagnostic {
    Diagnostic(
      "unknown queue \(quoted(queue.name))", at: queue.span,
      help: didYouMean(suggestion)
        ?? "declare it under 'queues' at top level")
  }

  static func unknownResource(_ resource: Reference, suggestion: String?) -> Diagnostic {
    Diagnostic(
      "unknown resource \(quoted(resource.name))", at: resource.span,
      help: didYouMean(suggestion)
        ?? "declare it under 'resources' at top level")
  }

  static func overCapacity(_ claim: ClaimModel, capacity: Int64) -> Diagnostic {
    Diagnostic(
      "\(quoted(claim.resource.name)) asks for \(decimal(claim.amount)), "
        + "but the pool has \(decimal(capacity))", at: claim.amountSpan)
  }

  private static func decimal(_ millionths: Int64) -> String {
    let (whole, rest) = millionths.quotientAndRemainder(dividingBy: 1_000_000)
    guard rest != 0 else { return String(whole) }
    var digits = String(rest + 1_000_000).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "\(whole).\(digits)"
  }

  /// The message about a cycle. `labels` describe each edge shown.
  static func cycle(_ names: [String], labels: [Diagnostic.Label]) -> Diagnostic {
    Diagnostic(
      "dependency cycle: \(names.joined(separator: " -> "))",
      at: labels[0].span, label: labels[0].text, secondary: Array(labels.dropFirst()))
  }

  /// A step, and the place where it names a file.
  struct StepPlace {
    let id: String
    let span: Span
    /// The pattern that covers the file, as the step gives it.
    let pattern: String
  }

  /// The message about a file that is read too early. `help` is nil if no dependency can be added.
  static func readTooEarly(
    _ path: String, of maker: StepPlace, by reader: StepPlace, help: String?
  ) -> Diagnostic {
    Diagnostic(
      "\(quoted(reader.id)) reads \(quoted(path)), an output of \(quoted(maker.id)), "
        + "but does not wait for that step", at: reader.span,
      secondary: beside(reader, maker), help: help ?? ownPaths)
  }

  static func madeTwice(
    _ path: String, by first: StepPlace, and second: StepPlace, help: String?
  ) -> Diagnostic {
    Diagnostic(
      "\(quoted(first.id)) and \(quoted(second.id)) both make \(quoted(path)), "
        + "and neither waits for the other", at: second.span,
      secondary: beside(second, first),
      help: help.map { "give each its own output, or \($0)" } ?? ownPaths)
  }

  /// The message about a file inside of the first step's output.
  static func madeBelow(
    _ path: String, by first: StepPlace, and second: StepPlace, help: String?
  ) -> Diagnostic {
    Diagnostic(
      "\(quoted(first.id)) and \(quoted(second.id)) both make \(quoted(path)), which "
        + "\(quoted(first.pattern)) of \(quoted(first.id)) covers, and neither waits for the other",
      at: first.span,
      secondary: beside(first, second),
      help: "name what \(quoted(first.id)) makes more closely, give it a directory of its own"
        + (help.map { ", or \($0)" } ?? ""))
  }

  private static let ownPaths =
    "give each instance its own output, such as 'out/${{ matrix.NAME }}'"

  private static func beside(_ step: StepPlace, _ other: StepPlace) -> [Diagnostic.Label] {
    step.span == other.span ? [] : [.init(other.span, "makes it")]
  }

  /// The help that adds a dependency. `user` is the enclosing step that has to wait, if it is not
  /// the step itself.
  static func addDependency(_ name: String, to user: String?) -> String {
    "add \(quoted(name)) to 'depends_on'" + (user.map { " of \(quoted($0))" } ?? "")
  }

  /// The help for a step, `name`, that does not run when none is named.
  static func runFirst(_ name: String) -> String {
    "run \(quoted(name)) first, in a run of its own"
  }

  /// The help for a condition that is a file of another step. `help` says how to wait for that step.
  static func waitsForFile(_ help: String) -> String {
    "'wait_for' is met by what an earlier run has left: \(help)"
  }

  static func outside(_ pattern: String, of step: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "\(quoted(pattern)), which \(quoted(step)) makes, is not below the directory that oprun was started in",
      at: span, help: "a result is kept only if all of it is in that directory")
  }

  static func waits(_ step: String, for target: String) -> String {
    "\(quoted(step)) waits for \(quoted(target))"
  }

  static func noService(_ step: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "'when: ready' needs a service, and \(quoted(step)) is not one", at: span,
      help: "give that step 'background', or leave out 'when'")
  }

  static func onlyServices(_ step: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "every step that \(quoted(step)) uses is a service, so \(quoted(step)) would never end",
      at: span,
      help: "add the steps that need the services, or give \(quoted(step)) 'background'")
  }

  static func noServiceInside(_ step: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "\(quoted(step)) has 'background', but none of its steps is a service", at: span,
      help: "set 'background' on the steps, or groups, in it that are services")
  }

  static func heldByServices(
    _ step: String, amount: Int64, of pool: PoolSpec, at span: Span
  ) -> Diagnostic {
    Diagnostic(
      "\(quoted(step)) cannot start: the step and the services that it depends on take "
        + "\(decimal(amount)) of \(quoted(pool.name)), which has \(decimal(pool.capacity))",
      at: span)
  }

  static func unknownSelection(_ name: String, path: String) -> String {
    "unknown step \(quoted(name)) in \(printable(path))"
  }

  static func lateInstances(of step: String) -> String {
    "the instances of \(quoted(step)) are known only during the run: name \(quoted(step))"
  }

  static func instances(_ ids: [String]) -> String {
    "there are " + ids.prefix(4).map(quoted).joined(separator: ", ") + (ids.count > 4 ? ", …" : "")
  }
}
