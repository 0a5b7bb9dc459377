// Compares a rehearsed run with its expectations, and writes what happened as expectations.

package import Diagnostics
import Expressions
package import Plans
import Scheduling

/// The result of one case.
package struct CaseResult {
  /// A difference from what is expected.
  package struct Fault {
    package let message: String
    /// The part of the file that is to be changed.
    package let span: Span
    /// The right text; nil if there is none.
    package let actual: String?
    /// The right text without quotes, for a value of several lines.
    package var text: String?
    /// True if what happened can be written into the file, so that nothing is wrong then.
    package var canBeWritten: Bool { actual != nil || addsExpectations }
    /// True if the case has no expectations, and needs some.
    fileprivate var addsExpectations = false
  }

  package let test: TestCase
  package var faults: [Fault] = []
  /// One line for each incident, with its second.
  package var timeline: [String] = []
  /// The proposed lines of `expect`, if the case has none.
  package var proposal: [String] = []

  package init(_ test: TestCase) { self.test = test }

  package var isOK: Bool { faults.isEmpty }
}

extension CaseResult {
  /// The result of a case in which nothing ran, because of a message.
  package init(_ test: TestCase, exitStatus: Int32, message: String) {
    self.init(test)
    timeline = ["    nothing runs: \(message)", "    exit status \(exitStatus)"]
    proposal = ["exit: \(exitStatus)", "error: \(yamlScalar(message))"]
    compare(exitStatus, message)
  }

  /// Compares the message. One fault is enough if nothing runs.
  private mutating func compare(_ exitStatus: Int32, _ message: String) {
    var isExpected = false
    for expectation in test.expectations {
      switch expectation.kind {
      case .exit(Int(exitStatus)): isExpected = true
      case .error(let words) where message.containsText(words): isExpected = true
      case .exit: return fault(expectation, "nothing runs: \(message)", "\(exitStatus)")
      case .error, .outcome, .order, .blockedBy, .hooks, .attempts, .command, .variable, .output,
        .longest:
        return fault(expectation, "nothing runs: \(message)", nil)
      }
    }
    if isExpected { return }
    faults.append(Fault(message: "nothing runs: \(message)", span: test.firstKey, actual: nil))
  }

  /// Compares a run. `commands` are those that were started, by the names of stubs.
  package init(
    _ test: TestCase, _ record: CaseRecord,
    commands: [String: (text: String, variables: [EnvironmentVariable])]
  ) {
    self.init(test)
    timeline = record.timeline.map { "\(shownSeconds($0.time))  \($0.text)" }
    proposal = record.proposal
    let names = record.names
    for (name, _, span) in test.stubs where !record.knows(name) {
      faults.append(Fault(message: Self.unknownStep(name, names), span: span, actual: nil))
    }
    for expectation in test.expectations {
      if let step = expectation.step, !record.knows(step) {
        faults.append(
          Fault(
            message: Self.unknownStep(step, names),
            span: expectation.nameSpan ?? expectation.span, actual: nil))
      } else {
        check(expectation, record, commands)
      }
    }
    if test.checksNothing { faults.append(.checksNothing(test)) }
  }

  private static func unknownStep(_ name: String, _ known: [String]) -> String {
    "unknown step \(quoted(name)) in this run"
      + didYouMeanClause(suggestion(for: name, among: known))
  }

  private mutating func fault(_ expectation: Expectation, _ message: String, _ actual: String?) {
    faults.append(Fault(message: message, span: expectation.span, actual: actual))
  }

  private mutating func check(
    _ expectation: Expectation, _ record: CaseRecord,
    _ commands: [String: (text: String, variables: [EnvironmentVariable])]
  ) {
    switch expectation.kind {
    case .exit(let wanted):
      let status = Int(record.end?.exitStatus ?? 0)
      if status != wanted {
        fault(expectation, "the exit status is \(status), expected \(wanted)", "\(status)")
      }
    case .error: fault(expectation, "the run starts, expected an error", nil)
    case .outcome(let step, let wanted): checkOutcome(expectation, of: step, wanted, record)
    case .order(let steps): checkOrder(expectation, steps, record)
    case .blockedBy(let step, let wanted):
      guard let root = record.roots[step] else {
        return fault(expectation, "\(record.ending(of: step)), but not because of a step", nil)
      }
      if root != wanted {
        fault(
          expectation,
          "\(record.ending(of: step)), expected because of \(quoted(wanted))",
          yamlScalar(root))
      }
    case .hooks(let wanted):
      if record.hooks != wanted {
        fault(expectation, "the hooks that ran are \(list(record.hooks))", list(record.hooks))
      }
    case .attempts(let step, let wanted):
      let count = record.attempts[step] ?? 0
      if count != wanted {
        fault(
          expectation, "\(quoted(step)) was \(starts(count)), expected \(wanted)", "\(count)")
      }
    case .command(let step, let wanted):
      let found = commands[step]?.text
      // A script of several lines ends with a line break, and may be expected without one.
      if let found, found.withoutLineBreak == wanted.withoutLineBreak { return }
      compare(expectation, FoundText(what: "the command of \(quoted(step))", text: found), wanted)
    case .variable(let step, let name, let wanted):
      let value = commands[step]?.variables.last { $0.name == name }?.value
      compare(expectation, FoundText(what: "\(name) of \(quoted(step))", text: value), wanted)
    case .output(let name, let wanted):
      let output = FoundText(
        what: "the output \(quoted(name))", text: record.outputs[name], isJSON: true)
      compare(expectation, output, wanted.json)
    case .longest(let limit):
      if record.duration > limit {
        let shown = exactDuration(record.duration)
        fault(
          expectation, "the run takes \(shown), expected at most \(exactDuration(limit))", shown)
      }
    }
  }

  /// A text of the run, and what it is.
  private struct FoundText {
    let what: String
    /// The text; nil if there is none.
    let text: String?
    var isJSON = false
  }

  private mutating func compare(
    _ expectation: Expectation, _ found: FoundText, _ wanted: String
  ) {
    if found.text == wanted { return }
    guard let text = found.text else {
      return fault(expectation, "\(found.what) does not exist", nil)
    }
    faults.append(
      Fault(
        message: "\(found.what) is \(quoted(text)), expected \(quoted(wanted))",
        span: expectation.span, actual: found.isJSON ? text : yamlScalar(text), text: text))
  }

  private mutating func checkOutcome(
    _ expectation: Expectation, of step: String, _ wanted: String, _ record: CaseRecord
  ) {
    guard let outcome = record.outcomes[step] else {
      return fault(expectation, record.ending(of: step), nil)
    }
    if outcome.word != wanted {
      fault(expectation, "\(record.ending(of: step)), expected \(wanted)", outcome.word)
    }
  }

  private mutating func checkOrder(
    _ expectation: Expectation, _ steps: [String], _ record: CaseRecord
  ) {
    let started = record.starts.filter { steps.contains($0) }
    if started == steps { return }
    let missing = steps.filter { !started.contains($0) }
    let wrong = "the order of starts is \(list(started)), expected \(list(steps))"
    let message =
      missing.isEmpty
      ? wrong : "\(inWords(missing.map(quoted), last: "and")) did not start: " + wrong
    fault(expectation, message, list(started))
  }
}

extension TestCase {
  /// True if the case is as expected whatever happens, as long as the run starts.
  fileprivate var checksNothing: Bool {
    expectations.allSatisfy { expectation in
      if case .order(let steps) = expectation.kind { steps.isEmpty } else { false }
    }
  }
}

extension CaseResult.Fault {
  fileprivate static func checksNothing(_ test: TestCase) -> CaseResult.Fault {
    var fault = CaseResult.Fault(
      message: test.hasExpectations
        ? "the case checks nothing: its 'expect' is empty"
        : "the case checks nothing: it has no 'expect', which 'oprun test --update' adds",
      span: test.firstKey, actual: nil)
    fault.addsExpectations = !test.hasExpectations
    return fault
  }
}

extension Expectation {
  /// The step of the expectation; nil if it is about none.
  fileprivate var step: String? {
    switch kind {
    case .outcome(let step, _), .blockedBy(let step, _), .attempts(let step, _),
      .command(let step, _), .variable(let step, _, _):
      step
    case .exit, .error, .order, .hooks, .output, .longest: nil
    }
  }
}

extension CaseRecord {
  /// True if something with the name of a stub is in the run.
  fileprivate func knows(_ name: String) -> Bool {
    var step = name
    for suffix in HookKind.allCases.map(\.key) + ["wait_for"] {
      if name == suffix { return true }
      if name.hasSuffix("." + suffix) { step = String(name.dropLast(suffix.utf8.count + 1)) }
    }
    return names.contains { $0 == step || $0.hasPrefix(step + "[") }
  }

  fileprivate func ending(of step: String) -> String {
    guard let outcome = outcomes[step] else { return "\(quoted(step)) has no outcome" }
    let root = roots[step].map { " because of \(quoted($0))" } ?? ""
    return "\(quoted(step)) \(outcome.pastTense)\(root)"
  }

  fileprivate var proposal: [String] {
    ["exit: \(end?.exitStatus ?? 0)", "outcomes:"]
      + settled.map { "  \(yamlScalar($0)): \(outcomes[$0]?.word ?? "")" }
  }
}

/// Seconds with three decimal places, in a column.
private func shownSeconds(_ time: Nanoseconds) -> String {
  let milliseconds = time / 1_000_000
  let text = "\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst())s"
  return String(repeating: " ", count: max(0, 10 - text.utf8.count)) + text
}

private func list(_ names: [String]) -> String {
  "[\(names.map(yamlScalar).joined(separator: ", "))]"
}

extension String {
  fileprivate var withoutLineBreak: Substring { hasSuffix("\n") ? dropLast() : self[...] }
}

/// The number of starts: `started 3 times`.
private func starts(_ count: Int) -> String {
  switch count {
  case 0: "not started"
  case 1: "started once"
  default: "started \(count) times"
  }
}
