// Finds steps of a sequence that would run after a failure because the step between does not pass it on.

import Diagnostics
import Expressions
import Plans
import Scheduling

extension Planner {
  /// A step of a sequence waits for the one before it, whose outcome says nothing about those before that if it runs
  /// whatever theirs is. A step that names one of the two in `depends_on` means what it says.
  mutating func checkSequences() {
    // With the other policies nothing starts after a failure.
    guard pipelines[0].model.failurePolicy == .continue else { return }
    var checked: Set<Span> = []
    for pipeline in pipelines
    where pipeline.model.hasSequence && pipeline.model.failurePolicy == .continue {
      let fallible = pipeline.lastFallibleSteps
      for step in pipeline.model.steps.indices {
        guard let before = pipeline.sequenceBefore(step).required else { continue }
        let last = fallible[before]
        guard last.passing != before, let distant = last.failing else { continue }
        if pipeline.names([before, last.passing, distant], at: step) { continue }
        let condition = pipeline.controlFlow(of: step)?.condition
        let asks = condition?.callsStatusFunction ?? false
        if asks, condition?.asksForSuccess == false { continue }
        let name = pipeline.id(of: distant, text)
        if let condition,
          condition.references.contains(where: { $0.root == .steps && $0.member == name })
        {
          continue
        }
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
  /// For each step the last one in its sequence, up to it, that passes on failures by not running; and the last one whose
  /// failure it passes on, which is another one if its own is allowed.
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

  fileprivate func names(_ steps: [Int], at step: Int) -> Bool {
    model.dependencies[model.dependencyRange(of: step)].contains { dependency in
      index.find(dependency.step.span).map(steps.contains) ?? false
    }
  }
}
