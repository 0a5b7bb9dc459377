// The answers of the recorder to the questions of the loop about the run that is resumed.

package import Plans
package import Scheduling

extension RunRecorder: RunMemory {
  package var isOfEarlierRun: Bool { run.resumption != nil }

  package var idleSteps: IdleSteps { run.resumption?.foreseen.idleSteps ?? IdleSteps() }

  package func reasonToLeaveOut(_ operation: OperationID) -> String? {
    run.resumption?.reasonToLeaveOut(planned(operation), named: name(of: operation))
  }

  package func leavesGap(_ operation: OperationID) -> Bool {
    run.resumption?.leavesGap(planned(operation), named: name(of: operation)) ?? false
  }

  package func noteResolved(_ operation: OperationID, as step: ReadyStep) {
    resolved[operation] = fingerprints.resolved(step)
  }

  package func noteResult(_ operation: OperationID, _ number: Int) { results[operation] = number }

  package func kept(_ operation: OperationID, as step: ReadyStep) -> KeptStep? {
    run.resumption?.kept(
      operation, of: planned(operation), as: remembered(operation, step.settings.allowFailure))
  }

  package func keptGivenUp(_ operation: OperationID, with other: OperationID) -> KeptStep? {
    run.resumption?.keptGivenUp(
      operation, of: planned(operation), with: other, as: remembered(operation, .never))
  }

  /// A step as it would run now, as far as it is known.
  private func remembered(
    _ operation: OperationID, _ allowance: AllowFailure
  ) -> RememberedStep {
    let step = run.plan.steps[planned(operation).index]
    let number = results[operation] ?? resolved[operation]
    return RememberedStep(
      id: name(of: operation), written: fingerprints.written(step),
      resolved: step.settings.cache == nil ? number ?? 0 : number, allowance: allowance)
  }

  package func isUpstreamUnchanged(of operation: OperationID, since name: String) -> Bool {
    guard let resumption = run.resumption else { return false }
    let known = name == resumption.earlier.name ? resumption.earlier.number : nil
    guard let number = known ?? (try? run.store?.number(ofRun: name)) else { return false }
    return resumption.isUpstreamUnchanged(
      of: operation, planned(operation), since: Moment(number).endOfRun)
  }

  package func held(_ operation: OperationID, _ allowance: AllowFailure) -> KeptStep? {
    run.resumption?.held(
      operation, of: planned(operation), named: name(of: operation), allowance)
  }

  package func mayHold(_ operation: OperationID) -> Bool {
    run.resumption?.mayHold(planned(operation), named: name(of: operation)) ?? false
  }

  package func hooks(of group: OperationID) -> GroupHookDuty {
    run.resumption?.hooks(of: group, named: name(of: group)) ?? .asUsual
  }

  package func hadTimedOut(_ group: OperationID) -> Bool {
    run.resumption?.hadTimedOut(group) ?? false
  }
}
