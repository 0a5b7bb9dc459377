// Reserves the run that is to be resumed, and reports if another process has it.

import Diagnostics
import Glibc
import Reporting
import RunFiles

extension Tool {
  /// Reserves a run. For a moment, it may seem to be in progress after its oprun died: a child that
  /// had not loaded its program yet still holds the lock. That moment is waited for; with
  /// `--no-wait`, only as long as it takes where processors are free. If `isPatient`, the wait has
  /// no limit: a job that Slurm has restarted on another node may go on for a while on the first
  /// one, and nobody else would go on with its run.
  func claim(
    _ directory: RunDirectory, _ invocation: Invocation, isPatient: Bool
  ) -> Bool {
    let isDryRun = invocation.isOn(Options.dryRun)
    for _ in 0..<(invocation.isOn(Options.noWait) ? 20 : 200) {
      if isDryRun ? !directory.isTaken : directory.takeClaim() { return true }
      usleep(10_000)
    }
    guard isPatient, !isDryRun, directory.lockFailure == nil else { return false }
    // The process that has the run may be waiting for the lock of the pipeline.
    pipelineLock.free()
    say("run \(directory.name) is still running; it is resumed when it has ended")
    errors.flush()
    while !directory.takeClaim() { usleep(200_000) }
    return true
  }

  /// Says that another process has the run, or that this is not known; returns the exit status.
  func sayInUse(_ directory: RunDirectory) -> Int32 {
    if let failure = directory.lockFailure {
      say("\(failure.message): whether another oprun resumes the run is unknown")
      return ExitStatus.cannotWrite
    }
    if directory.isInUse {
      say(
        "run \(directory.name) is still running",
        help: "wait for it to end, or cancel it: oprun cancel \(directory.name)")
    } else {
      // The other process's own run has no record yet.
      say("another oprun is resuming run \(directory.name)", help: "wait for it to end")
    }
    return ExitStatus.inUse
  }
}
