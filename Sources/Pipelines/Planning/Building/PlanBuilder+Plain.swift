// Fast paths for steps that specify only their command, when they run, and their matrix: most steps
// of a large plan.

import Expressions
import Plans

extension PlanBuilder {
  /// A step with only an id, a script that is in the file unchanged, and dependencies, in the root
  /// pipeline. Nil for any other.
  func writtenStep(at address: StepAddress) -> PlannedStep? {
    let pipeline = planner.pipelines[address.pipeline]
    let step = pipeline.model.steps[address.step]
    guard step.attributes < 0, case .written(let start, let byteCount) = step.action,
      address.instance == nil, !address.isGroup, pipeline.parent == nil,
      let settings = sharedSettings[address.pipeline].plainSettings(address)
    else { return nil }
    return PlannedStep(
      id: planner.text.string(step.id.span), span: step.id.span,
      work: .known(.script(scriptText(at: start, byteCount))), settings: settings.settings)
  }

  /// The command of a step with only an id, a script, keys about when it runs, and perhaps a
  /// matrix, in the root pipeline. Nil for any other.
  func plainCommand(at address: StepAddress) throws(EvaluationFailure) -> StepCommand? {
    let pipeline = planner.pipelines[address.pipeline]
    guard !address.isGroup, pipeline.parent == nil,
      let settings = sharedSettings[address.pipeline].plainSettings(address)
    else { return nil }
    let step = pipeline.model.steps[address.step]
    guard step.attributes < 0 || pipeline.model.attributes[Int(step.attributes)].isPlain else {
      return nil
    }
    switch step.action {
    case .uses: return nil
    case .written(let start, let byteCount): return script(at: start, byteCount)
    case .kept(let number):
      return try fold(pipeline.model.actions[Int(number)], planner.values(at: address), settings)
    }
  }

  /// A plain step; nil if a part of it is left for the run.
  func plainStep(
    at address: StepAddress, _ command: StepCommand
  ) throws(EvaluationFailure) -> PlannedStep? {
    let pipeline = planner.pipelines[address.pipeline]
    guard case .known(let action) = command,
      let settings = sharedSettings[address.pipeline].plainSettings(address),
      try isSureToRun(pipeline.controlFlow(of: address.step), at: address)
    else { return nil }
    let span = pipeline.model.steps[address.step].id.span
    var id = planner.text.string(span)
    if let instance = address.instance { id += planner.instances[instance].suffix }
    return PlannedStep(id: id, span: span, work: .known(action), settings: settings.settings)
  }

  private func isSureToRun(
    _ controlFlow: ControlFlowModel?, at address: StepAddress
  ) throws(EvaluationFailure) -> Bool {
    guard let controlFlow else { return true }
    guard !controlFlow.hasProbes else { return false }
    guard let condition = controlFlow.condition else { return true }
    // The condition of an instance may name the matrix.
    if address.instance != nil { return false }
    if let latestCondition, latestCondition.expression.isWritten(as: condition) {
      return latestCondition.isTrue
    }
    let isTrue = try condition.valueIfKnown(with: planner.values(at: address)) == .bool(true)
    latestCondition = (condition, isTrue)
    return isTrue
  }
}
