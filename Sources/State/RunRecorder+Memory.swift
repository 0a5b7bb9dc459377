// What the recorder knows of the run that is resumed, for the loop that asks.

package import Plans
package import Scheduling

extension RunRecorder: RunMemory {
  package var isOfEarlierRun: Bool { run.resumption != nil }

  package func reasonToLeaveOut(_ operation: OperationID) -> String? {
    run.resumption?.reasonToLeaveOut(planned(operation), named: name(of: operation))
  }

  package func leavesGap(_ operation: OperationID) -> Bool {
    reasonToLeaveOut(operation) != nil
      && run.resumption?.earlier.steps[name(of: operation)]?.wasSkipped != true
  }

  package func noteResolved(_ operation: OperationID, as step: ReadyStep) {
    resolved[operation] = fingerprints.resolved(step)
  }

  package func kept(_ operation: OperationID, as step: ReadyStep) -> KeptStep? {
    guard let resumption = run.resumption else { return nil }
    let base = planned(operation)
    let written = fingerprints.written(run.plan.steps[base.index])
    return resumption.kept(
      operation, of: base,
      as: RememberedStep(
        id: name(of: operation), written: written, resolved: resolved[operation] ?? 0,
        allowance: step.settings.allowFailure))
  }

  package func owesHooks(_ group: OperationID) -> Bool {
    run.resumption?.owesHooks(group, named: name(of: group)) ?? false
  }

  package func hadTimedOut(_ group: OperationID) -> Bool {
    run.resumption?.hadTimedOut(group) ?? false
  }
}
