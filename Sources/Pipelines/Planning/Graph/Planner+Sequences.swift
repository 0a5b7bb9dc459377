// Finds steps of a sequence that would run after a failure because the step between does not pass
// it on.

import Diagnostics
import Expressions
import Plans
import Scheduling

extension Planner {
  /// Checks the steps of sequences. A step waits only for the one before it; if that one runs
  /// whatever happens, its outcome says nothing about earlier steps. A step that names one of the
  /// two in `depends_on` is as intended.
  mutating func checkSequences() {
    var checked: Set<Span> = []
    for pipeline in pipelines where pipeline.model.hasSequence && goesOn(pipeline) {
      let fallible = pipeline.lastFallibleSteps
      for step in pipeline.model.steps.indices {
        guard let before = pipeline.sequenceBefore(step).required else { continue }
        let last = fallible[before]
        guard last.passing != before, let distant = last.failing else { continue }
        // Every step from the distant one to the passing one passes the failure on.
        let passing = distant...last.passing
        if pipeline.names(at: step, text, { passing.contains($0) || $0 == before }) { continue }
        let condition = pipeline.controlFlow(of: step)?.condition
        let asks = condition?.callsStatusFunction ?? false
        if asks, condition?.asksForSuccess == false { continue }
        if condition?.names(passing, of: pipeline) == true { continue }
        let place = pipeline.model.steps[step].id.span
        guard checked.insert(place).inserted else { continue }
        let shown = [step, before, distant].map { pipeline.id(of: $0, text) }
        let between = pipeline.model.steps[before].id.span
        log.report(at: place) { span in
          asks
            ? PlanningMessage.deafCondition(shown, between, at: span)
            : PlanningMessage.runsAfterFailure(shown, between, at: span)
        }
      }
    }
  }

  /// True if steps of a pipeline use start after a failure in it. With another policy, of the
  /// pipeline or of one around it, none do.
  private func goesOn(_ pipeline: PipelineUse) -> Bool {
    var next: PipelineUse? = pipeline
    while let use = next {
      if use.model.failurePolicy != .continue { return false }
      next = use.parent.map { pipelines[$0.pipeline] }
    }
    return true
  }
}

extension PipelineUse {
  /// For each step the last step in its sequence, up to itself, that passes on failures by not
  /// running; and the last step whose failure it passes on, which is another one if its own is
  /// allowed.
  fileprivate var lastFallibleSteps: [(passing: Int, failing: Int?)] {
    var last: [(passing: Int, failing: Int?)] = []
    for step in model.steps.indices {
      let before = sequenceBefore(step).required
      let earlier = before.map { last[$0] }
      if let before, let earlier, isDeaf(step, to: before) {
        last.append(earlier)
      } else {
        last.append((step, isAllowedToFail(step) ? earlier?.failing : step))
      }
    }
    return last
  }

  private func isAllowedToFail(_ step: Int) -> Bool {
    let number = settings(ofStep: step)
    let own = number < 0 ? [] : model.settings[Int(number)]
    for case .allowFailure(let allowed) in own + model.defaultSettings { return allowed == .always }
    return false
  }

  /// True if a step of a sequence runs although the one before it has failed.
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

  /// True if a step's `depends_on` lists a step that meets a condition, or an instance or a member of one.
  fileprivate func names(
    at step: Int, _ text: SourceText, _ isMeant: (Int) -> Bool
  ) -> Bool {
    model.dependencies[model.dependencyRange(of: step)].contains { dependency in
      let path = text.string(dependency.step.span)
      return index.find(String(StepPath(path[...]).id)).map(isMeant) ?? false
    }
  }
}

extension Expression {
  /// True if the expression asks for the outcome or outputs of one of these steps.
  fileprivate func names(_ steps: ClosedRange<Int>, of pipeline: PipelineUse) -> Bool {
    references.contains { reference in
      reference.root == .steps
        && reference.member.flatMap { pipeline.index.find($0) }.map(steps.contains) ?? false
    }
  }
}
