// Values that must be known before the run: the names that their expressions may use.

import Diagnostics
import Expressions
import Plans

extension Planner {
  mutating func checkEarlyValues(of pipeline: PipelineUse) {
    let model = pipeline.model
    let scope = StepScope(
      pipeline: pipeline, text: text, kind: .early, step: nil, matrix: nil,
      suggester: log.suggester)
    if let value = model.earlyTimeout { check(value, in: scope) }
    if case .early(let value)? = model.width { check(value, in: scope) }
    for case .early(let value) in model.queues.map(\.width) { check(value, "queues", in: scope) }
    for value in model.resources.compactMap(\.early) { check(value, "resources", in: scope) }
  }

  /// Checks a value that is used once for the run, whatever uses the file.
  private mutating func check(_ value: EarlyValue, _ what: String, in scope: StepScope) {
    guard scope.pipeline.parent == nil else {
      return report(value, EarlyMessage.ofUsedFile(what))
    }
    check(value, in: scope)
  }

  /// The expressions for when a step runs.
  func earlyValues(
    _ attributes: AttributesModel, of pipeline: PipelineUse, _ isVarStep: Bool
  ) -> [EarlyValue] {
    let defaults = pipeline.model.defaultPlacement
    guard attributes.placement >= 0 else { return isVarStep ? [] : defaults.early }
    let own = pipeline.model.placements[Int(attributes.placement)]
    return own.early.isEmpty && defaults.early.isEmpty ? [] : own.filled(from: defaults).early
  }

  /// Checks a value; `place` is the scope of the other values at its location.
  mutating func check(_ value: EarlyValue, in place: StepScope) {
    let scope = StepScope(
      pipeline: place.pipeline, text: text, kind: .early, step: place.step, matrix: place.matrix,
      suggester: log.suggester)
    if let single = value.template.single {
      let key = value.key
      var checker = ExpressionChecker(single, scope)
      checker.check(for: key.kinds, text, log: &log) { wanted, found in
        key.isDuration && found == ExpressionType.number.words
          ? EarlyMessage.noUnit(key.name, wanted: key.wanted)
          : ExpressionMessage.wrongValue(wanted: wanted, found: found)
      }
    } else {
      value.template.checkText(in: scope, text, log: &log)
    }
    for expression in value.template.expressions {
      if expression.looksAtFiles { report(value, EarlyMessage.filesTooEarly) }
      for reference in expression.references where !isKnownEarly(reference, in: place) {
        report(
          EvaluationFailure(
            EarlyMessage.tooLate(value.key.name), in: expression, at: reference.range))
      }
    }
  }

  /// True if the value of the reference is known when a run begins. The scope refuses other names.
  private func isKnownEarly(_ reference: Expression.Reference, in place: StepScope) -> Bool {
    let address = StepAddress(pipeline: place.pipeline.number, step: place.step ?? 0)
    switch reference.root {
    case .matrix where place.step == nil: return true
    case .params, .matrix, .vars: return isOpen(reference, at: address)
    case .env, .host, .run, .steps, .secrets: return true
    }
  }

  private mutating func report(_ value: EarlyValue, _ words: UnlocatedFailure) {
    guard let expression = value.expression else { return }
    report(
      EvaluationFailure(words, in: expression, at: expression.range(of: expression.root)))
  }
}
