// Finds steps of a sequence that would run after a failure because the step between does not pass it on.

import Diagnostics
import Expressions
import Plans
import Scheduling

extension Planner {
  /// A step of a sequence waits for the one before it, whose outcome says nothing about those before that if it runs
  /// whatever theirs is. A step that names one of the two in `depends_on` means what it says.
  mutating func checkSequences() {
    var checked: Set<Span> = []
    for pipeline in pipelines where pipeline.model.hasSequence {
      let fallible = pipeline.lastFallibleSteps
      for step in pipeline.model.steps.indices {
        guard let before = pipeline.sequenceBefore(step).required else { continue }
        let distant = fallible[before]
        if distant == before || pipeline.names(before, or: distant, at: step) { continue }
        let condition = pipeline.controlFlow(of: step)?.condition
        let asks = condition?.callsStatusFunction ?? false
        if asks, condition?.asksForSuccess == false { continue }
        let place = pipeline.model.steps[step].id.span
        guard checked.insert(place).inserted else { continue }
        let names = [step, before, distant].map { pipeline.id(of: $0, text) }
        let between = pipeline.model.steps[before].id.span
        log.report(at: place) { span in
          asks
            ? PlanningMessage.deafCondition(names, between, at: span)
            : PlanningMessage.runsAfterFailure(names, between, at: span)
        }
      }
    }
  }
}

extension PipelineUse {
  /// For each step the last one in its sequence, up to it, whose failure it passes on by not running.
  fileprivate var lastFallibleSteps: [Int] {
    var last: [Int] = []
    for step in model.steps.indices {
      let before = sequenceBefore(step).required
      last.append(before.flatMap { isDeaf(step, to: $0) ? last[$0] : nil } ?? step)
    }
    return last
  }

  /// Whether a step of a sequence runs although the one before it has failed.
  private func isDeaf(_ step: Int, to before: Int) -> Bool {
    let isFree = controlFlow(of: step)?.condition?.callsStatusFunction ?? false
    let written = model.dependencies[model.dependencyRange(of: step)].first {
      index.find($0.step.span) == before
    }
    guard let written, !written.traits.contains(.implicit) else { return isFree }
    switch written.condition {
    case .failed, .done, .readyOrDone: return true
    case .ok, .succeeded, .ready: return false
    }
  }

  fileprivate func names(_ first: Int, or second: Int, at step: Int) -> Bool {
    model.dependencies[model.dependencyRange(of: step)].contains { dependency in
      guard let named = index.find(dependency.step.span) else { return false }
      return named == first || named == second
    }
  }
}
