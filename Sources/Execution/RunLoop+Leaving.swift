// How a run ends while jobs of it go on: because the terminal is gone, because the user wanted that
// from the start or does not want to wait for their ends, or because another run has taken them
// over. docs/design-slurm.md, “Leaving”.

import Glibc
import Plans
import Running
import Scheduling

extension RunLoop {
  /// Handles a signal: the first one asks everything to end, except HUP, because users who log out
  /// want their jobs to go on.
  func signalled(_ signal: Int32, at time: Nanoseconds) {
    if machine.signalCount == 0, signal == SIGHUP {
      let left = executor.openJobs?.leave(at: time) ?? []
      return machine.leave(left, because: signal, at: time)
    }
    hurryIfAskedBefore(at: time)
    machine.signalled(signal, at: time)
  }

  /// Stops waiting for jobs elsewhere if the end of the run is requested for the second time.
  func hurryIfAskedBefore(at time: Nanoseconds) {
    if machine.signalCount > 0 { executor.openJobs?.hurry(at: time) }
  }

  /// Leaves a detached run as soon as jobs alone go on; false if the run is not detached, or has
  /// other work yet. Called when nothing is left to do in a turn.
  func leavesJobs(at time: Nanoseconds) -> Bool {
    guard options.isDetached, jobs == nil || !machine.lacksGrant(),
      let openJobs = executor.openJobs,
      let commands = machine.commandsAlone(), openJobs.areElsewhere(commands)
    else { return false }
    let left = openJobs.leave(at: time)
    for item in executor.takeNews() { hear(item, at: time) }
    machine.leave(left, at: time)
    return true
  }

  /// Ends the run, because an observer has failed. If it failed because another run goes on with
  /// this one, that run gets the jobs.
  func hear(_ failure: ObserverFailure, at time: Nanoseconds) {
    guard let run = failure.successor else { return machine.stateFailed(failure.message, at: time) }
    let left = executor.openJobs?.leave(to: run, at: time) ?? []
    for item in executor.takeNews() { hear(item, at: time) }
    machine.overtaken(failure.message, leaving: left, at: time)
  }
}
