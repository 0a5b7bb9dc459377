// What a step's commands read from their input is a script where one of them is a shell or an interpreter:
// values go into it as into any script.

import Expressions
import Plans
import Scheduling

extension PlanBuilder {
  /// Fails for a value that is known and refused. What is left to be looked at during the run, when
  /// the commands are known.
  func lateInput(
    _ values: KnownValues, _ settings: PlannedSettings, _ command: StepCommand,
    _ probes: [LateProbe]
  ) throws(EvaluationFailure) -> Template? {
    guard let input = settings.input else { return nil }
    var isLate = settings.late?.hooks.isEmpty == false
    var actions =
      isLate
      ? [] : HookKind.allCases.flatMap { settings.settings.hooks[$0].compactMap(\.work.known) }
    switch command {
    case .known(let action): actions.append(action)
    case .late: isLate = true
    case .none: break
    }
    for probe in probes where probe.model.kind == .command {
      if let action = probe.model.target.constant { actions.append(action) } else { isLate = true }
    }
    for reader in actions.compactMap(\.inputReader)
    where try input.renderedScriptIfKnown(for: reader, with: values) == nil {
      isLate = true
    }
    return isLate ? try input.folded(with: values) : nil
  }
}
