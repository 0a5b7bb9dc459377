// The types of `vars`, with which all other expressions are checked, and the reasons why some have
// no value.

import Diagnostics
import Expressions
import Plans

extension Planner {
  mutating func checkDerivedValues(of pipeline: PipelineUse) {
    guard let derived = pipeline.inputs.derived else { return }
    checkNames(of: pipeline, derived)
    for index in derived.hasCycle ? [] : derived.order {
      let model = pipeline.model.vars[index]
      guard case .value(let value) = model.source else {
        derived.types[model.name] = .string
        continue
      }
      let scope = StepScope(
        pipeline: pipeline, text: text, kind: .derived, step: nil, matrix: nil,
        suggester: log.suggester)
      var faults = DiagnosticLog()
      derived.types[model.name] = checkedType(of: value, in: scope, &faults)
      for expression in model.templates.flatMap(\.expressions) where expression.looksAtFiles {
        faults.report(at: expression.span(in: text)) { PlanningMessage.filesInVars(at: $0) }
      }
      for fault in faults.sorted() { log.report(fault) }
      if faults.isEmpty, let failure = derived.failures[index] { report(failure) }
    }
  }

  /// Refuses a pipeline of a file that hides names of the file: a value of the file would have
  /// another meaning in it.
  private mutating func checkNames(of pipeline: PipelineUse, _ derived: DerivedValues) {
    guard let file = pipeline.enclosing, derived.enclosing != nil else { return }
    let known = Dictionary(
      file.model.vars.map { ($0.name, $0.span) }, uniquingKeysWith: { first, _ in first })
    for model in pipeline.model.vars {
      guard let other = known[model.name] else { continue }
      log.report(at: model.span) { PlanningMessage.derivedTwice(model.name, first: other, at: $0) }
    }
  }

  private func checkedType(
    of value: ValueModel, in scope: StepScope, _ log: inout DiagnosticLog
  ) -> ExpressionType {
    switch value {
    case .constant(let value): return ExpressionType(of: value)
    case .template(let template):
      if let single = template.single { return single.check(in: scope, text, log: &log) }
      template.checkText(in: scope, text, log: &log)
      return .string
    case .list(let items):
      var item: ExpressionType?
      for next in items {
        let type = checkedType(of: next, in: scope, &log)
        item = item?.union(type) ?? type
      }
      return item.map(ExpressionType.list(of:)) ?? ExpressionType(.list)
    case .map(let members):
      var types: [(String, ExpressionType)] = []
      for member in members {
        types.append((member.name, checkedType(of: member.value, in: scope, &log)))
      }
      return .map(types)
    }
  }
}
