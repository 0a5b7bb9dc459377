// The standard input of a step is a script if one of its commands is a shell or an interpreter:
// values are inserted into it as into any script.

import Expressions
import Plans
import Scheduling

extension PlanBuilder {
  /// The part of the input that must be checked during the run, when the commands are known. Fails
  /// for a known value that is refused.
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
