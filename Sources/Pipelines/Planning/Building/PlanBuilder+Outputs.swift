// The outputs of pipelines, which are left for the run: they are known when all of its steps have
// ended.

import Expressions
import Plans

extension PlanBuilder {
  /// The outputs of the root pipeline; nil if there are none.
  func rootOutputs() -> LateStep? {
    let root = planner.pipelines[0]
    guard !root.model.outputs.isEmpty, isWhole(root) else { return nil }
    var parts = LateParts()
    do throws(EvaluationFailure) {
      try addOutputs(of: 0, to: &parts)
    } catch {
      return nil
    }
    return LateStep(parts, in: pipelineScope(0))
  }

  func addOutputs(
    of pipeline: Int, to parts: inout LateParts
  ) throws(EvaluationFailure) {
    // A part of the steps does not produce the outputs of the whole.
    guard isWhole(planner.pipelines[pipeline]) else { return }
    var rare = parts.rare
    rare.outputs = try planner.valuesForMatrix(at: StepAddress(pipeline: pipeline, step: 0))
      .fold(planner.pipelines[pipeline].model.outputs.map(\.member))
    rare.outputScope = pipelineScope(pipeline)
    parts.rare = rare
  }

  /// True if the plan contains all steps that run when none is named.
  private func isWhole(_ pipeline: PipelineUse) -> Bool {
    pipeline.usualSteps.allSatisfy { numbers[pipeline.operation(of: $0)] != nil }
  }
}
