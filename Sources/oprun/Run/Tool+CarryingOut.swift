// How a run that has begun is shown and recorded while it goes on, and what it comes to.

import Caching
import Diagnostics
import Execution
import Plans
import Reporting
import RunFiles
import Scheduling
import State

extension Tool {
  /// Runs to the end, and returns the exit status.
  func carryOut(_ run: AssembledRun) -> Int32 {
    let (plan, invocation, directory) = (run.plan, run.invocation, run.options.directory)
    let recorders: RunRecorders
    do throws(SystemError) {
      recorders = try RunRecorders(invocation, plan, run.options, run.recorder)
    } catch {
      return giveUp(run, error, ExitStatus.cannotWrite)
    }
    let shown = RunScreen(
      invocation, directory, run.options.secrets,
      resume: {
        [command = resumeCommand(invocation, of: run.options.runID), recorder = run.recorder] in
        recorder.isRecorded ? command : nil
      })
    let screen = shown.screen
    let unplanned = UnplannedStepsWatch(run.note?.rest, isShown: shown.mode.showsProgress)
    let console = Console(
      plan: unplanned.added(to: plan), directory: directory, screen: screen, mode: shown.mode)
    unplanned.show(on: console, behind: plan.steps.count)
    let unchanged = run.note.map { _ in UnchangedRunWatch() }
    var options = run.options
    if screen.hasColoredOutput { options.environment = colorVariables }
    options.tellAtOnce = { [self] message in
      say(message)
      errors.flush()
    }
    do throws(SystemError) {
      let watches: [any RunObserver] = unchanged.map { [$0] } ?? []
      let end = try Execution.run(
        plan, options, observers: watches + recorders.observers + [console, unplanned],
        outlets: recorders.outlets + screen.outlets)
      if let note = run.note, let unchanged { note.keep(run, unchanged) }
      return conclude(run, end, recorders, screen)
    } catch {
      return giveUp(run, error, ExitStatus.internalError)
    }
  }

  /// Says what is to be said after a run. The exit status is another one if not all of the run could be told.
  private func conclude(
    _ run: AssembledRun, _ end: RunEnd, _ recorders: RunRecorders, _ screen: Screen
  ) -> Int32 {
    for warning in recorders.conclude() + (run.options.cache?.lateNotices ?? []) { say(warning) }
    let status = end.passedOn?.status ?? end.exitStatus
    if case .stateFailure(let words) = end.stopReason {
      run.recorder.spoil(end.exitStatus, because: words)
    }
    guard let loss = sayLoss(screen, recorders) else { return status }
    // The logs have the output, but nothing else has the events.
    let counts = loss.isOfEvents && (!end.wasStopped || end.isDetached)
    guard status == ExitStatus.success || counts else { return status }
    run.recorder.spoil(ExitStatus.cannotWrite, because: loss.words)
    return ExitStatus.cannotWrite
  }

  /// Says why a run cannot go on, and removes its directory if it never began.
  private func giveUp(_ run: AssembledRun, _ error: SystemError, _ status: Int32) -> Int32 {
    say(error.message)
    if !run.recorder.hasBegun { run.options.directory.removeAll() }
    return status
  }
}

/// Programs whose output goes to a log do not see the terminal behind it.
private let colorVariables = [
  EnvironmentVariable(name: "CLICOLOR_FORCE", value: "1"),
  EnvironmentVariable(name: "FORCE_COLOR", value: "1"),
]
