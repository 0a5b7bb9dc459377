// The `vars` of a pipeline that are not known before the run: the rest of them after planning, and
// how a run computes each once. docs/design-planning.md, “Derived values”.

import Diagnostics
import Expressions
package import Scheduling

/// Identifies one late variable: the number of its pipeline use, and its own number there.
/// Variables that it depends on have lower numbers.
package struct LateVarNumber: Hashable, Comparable, Sendable {
  package let pipeline: Int
  package let number: Int

  package init(pipeline: Int, number: Int) {
    self.pipeline = pipeline
    self.number = number
  }

  package static func < (left: LateVarNumber, right: LateVarNumber) -> Bool {
    (left.pipeline, left.number) < (right.pipeline, right.number)
  }
}

/// The late variables of one pipeline use, and of the enclosing one in the same file.
package final class LateVars: Sendable {
  package enum Source: Sendable {
    case value(ValueModel)
    /// The value is the text that the command of an operation printed; nil if the operation is not in the plan.
    case output(OperationID?)
  }

  package struct Entry: Sendable {
    package let source: Source
    /// The variables that it depends on, each after its own dependencies.
    package let others: [LateVarNumber]

    package init(source: Source, others: [LateVarNumber]) {
      self.source = source
      self.others = others
    }
  }

  private let entries: [Entry]
  private let numbers: [String: Int]
  private let pipeline: Int
  /// The inputs of the pipeline.
  fileprivate let inputs: LateInputs?
  private let enclosing: LateVars?

  package init(
    _ entries: [(name: String, entry: Entry)], of pipeline: Int, inputs: LateInputs?,
    in enclosing: LateVars?
  ) {
    self.entries = entries.map(\.entry)
    numbers = Dictionary(
      zip(entries.map(\.name), entries.indices), uniquingKeysWith: { first, _ in first })
    self.pipeline = pipeline
    self.inputs = inputs
    self.enclosing = enclosing
  }

  private init(_ other: LateVars, _ copier: inout PatternCopier) {
    var entries: [Entry] = []
    for entry in other.entries {
      let source: Source =
        switch entry.source {
        case .value: entry.source
        case .output(let operation): .output(operation.map { copier.copy($0) })
        }
      entries.append(
        Entry(source: source, others: entry.others.map { $0.copied(by: copier) }))
    }
    self.entries = entries
    numbers = other.numbers
    pipeline = copier.copy(pipeline: other.pipeline)
    inputs = other.inputs.map { copier.copy($0) }
    enclosing = other.enclosing.map { copier.copy($0) }
  }

  /// The variables for an instance of a group that is made while running.
  func copied(by copier: inout PatternCopier) -> LateVars {
    copier.isInside(pipeline) ? LateVars(self, &copier) : self
  }

  fileprivate func find(_ name: String) -> LateVarNumber? {
    numbers[name].map { LateVarNumber(pipeline: pipeline, number: $0) } ?? enclosing?.find(name)
  }

  /// The entry of a variable, with the `vars` that it may name.
  fileprivate subscript(number: LateVarNumber) -> (entry: Entry, vars: LateVars) {
    var vars = self
    while vars.pipeline != number.pipeline, let enclosing = vars.enclosing { vars = enclosing }
    return (vars.entries[number.number], vars)
  }
}

/// The `vars` that a part of a pipeline may name, and those that it does name.
package struct NeededVars: Sendable {
  fileprivate let all: LateVars
  fileprivate let numbers: [LateVarNumber]

  package init(_ numbers: [LateVarNumber], of all: LateVars) {
    self.numbers = numbers
    self.all = all
  }
}

extension LateBindings {
  /// The value of a name, which `checkVars` has computed.
  func derived(_ name: String) -> Resolution {
    guard let vars = scope.vars?.all, let number = vars.find(name) else { return .missing }
    if let known = facts.keptVar(number) { return .known(known) }
    try? compute(number, of: vars)
    return facts.keptVar(number).map { .known($0) } ?? .later
  }

  /// Throws if a variable that the scope names has no value.
  func checkVars() throws(EvaluationFailure) {
    guard let vars = scope.vars else { return }
    for number in vars.numbers where facts.keptVar(number) == nil {
      try compute(number, of: vars.all)
    }
  }

  /// Computes a value and its dependencies, each once in a run.
  private func compute(_ number: LateVarNumber, of all: LateVars) throws(EvaluationFailure) {
    for number in all[number].entry.others + [number] where facts.keptVar(number) == nil {
      let (entry, vars) = all[number]
      switch entry.source {
      case .value(let model):
        let scope = LateScope(inputs: vars.inputs, vars: NeededVars([], of: vars))
        let value = try outside(in: scope).value(of: model)
        try checkSize(of: value, model)
        facts.keepVar(value, number)
      case .output(let operation):
        guard let operation, facts.ending(of: operation)?.outcome == .succeeded else { continue }
        let printed = facts.outputs(of: operation)[capturedOutputName]
        facts.keepVar(printed ?? .string(""), number)
      }
    }
  }

  /// Throws if a value is too large. A value may contain another one repeatedly, so sizes can grow
  /// exponentially.
  private func checkSize(of value: Value, _ model: ValueModel) throws(EvaluationFailure) {
    guard facts.valueBudget?.allows(keeping: value) == false,
      let expression = model.templates.first?.expressions.first
    else { return }
    throw EvaluationFailure(
      UnlocatedFailure("'vars' hold more than 64 MiB, which is the limit"), in: expression,
      at: expression.range(of: expression.root))
  }
}

// Copies for an instance of a group that is made while running.
extension NeededVars {
  func copied(by copier: inout PatternCopier) -> NeededVars {
    NeededVars(numbers.map { $0.copied(by: copier) }, of: copier.copy(all))
  }

  func isSame(as other: NeededVars?) -> Bool { all === other?.all }
}

extension LateVarNumber {
  fileprivate func copied(by copier: PatternCopier) -> LateVarNumber {
    LateVarNumber(pipeline: copier.copy(pipeline: pipeline), number: number)
  }
}
