// What earlier runs say about a run before it begins.

import Execution
import Plans
import RunFiles
import State

extension Tool {
  /// The database, if it says something of use before the run.
  func history(for plan: Plan, _ directory: RunDirectory) -> StateStore? {
    guard plan.steps.count > 1, let state = directory.state else { return nil }
    return try? StateStore.findForRun(named: directory.name, in: state)
  }

  /// The plan with the durations of earlier runs, for a dry run, which changes nothing to learn them. To it, instances that
  /// become known while running are one step.
  func expecting(_ plan: Plan, _ invocation: Invocation) -> Plan {
    let state = try? StateDirectory(path: stateDirectory(invocation)).open()
    return expecting(
      plan, state.flatMap(StateStore.look), invocation, expanded: plan.expandedSteps)
  }

  func expecting(
    _ plan: Plan, _ store: StateStore?, _ invocation: Invocation, expanded: Set<String> = []
  ) -> Plan {
    guard let store, let file = invocation.operands.first, file != "-",
      let durations = try? store.durations(
        of: place(of: file, in: store.folder), stepCount: plan.stepCount, expanded: expanded)
    else { return plan }
    return plan.expecting { durations[$0] }
  }
}
