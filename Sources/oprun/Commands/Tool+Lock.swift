// `--lock` and `mutex: pipeline`: runs of one pipeline that do not overlap.

import Diagnostics
import Execution
import Glibc
import Plans
import Reporting
import RunFiles
import State

extension Tool {
  /// The lock of the pipeline, if the run is to have it. Throws the exit status if it cannot have it,
  /// which has been reported, or if everything is to be read again, because it was waited for.
  func takeLock(
    _ plan: Plan, _ invocation: Invocation, _ state: StateDirectory, isResumed: Bool
  ) throws(ReportedFailure) -> StateLock? {
    guard plan.isExclusive || invocation.isOn(Options.lock), let file = invocation.operands.first
    else { return nil }
    let folder: StateFolder
    do throws(StateFailure) {
      folder = try state.make()
    } catch {
      say(error.message, help: error.help)
      throw ReportedFailure(status: ExitStatus.cannotWrite)
    }
    let place = place(of: file, in: folder)
    let path = place.file
    if let held = pipelineLock.takeHeld(of: place.key) { return held }
    let lock: StateLock
    do throws(SystemError) {
      lock = try StateLock(of: place.key, in: folder)
    } catch {
      say(error.message)
      throw ReportedFailure(status: ExitStatus.cannotWrite)
    }
    if lock.take() { return lock }
    if invocation.isOn(Options.noWait) {
      // A child of an oprun that has just died holds it until its program is loaded.
      for _ in 0..<20 {
        usleep(10_000)
        if lock.take() { return lock }
      }
      say("\(holder(of: lock)) of \(quoted(path)) holds the lock")
      throw ReportedFailure(status: ExitStatus.inUse)
    }
    say("waiting for \(holder(of: lock)) of \(quoted(path)), which holds the lock")
    errors.flush()
    if lock.waitAndTake() {
      // Standard input can be read only once.
      let mayResume = isResumed || invocation.isOn(Options.resume)
      if mayResume || file != "-" && hasChanged(plan) {
        pipelineLock.beginAgain(holding: lock, of: place.key)
        throw ReportedFailure(status: ExitStatus.success)
      }
      return lock
    }
    say("cannot wait for the lock: \(SystemError.reason(errno))")
    throw ReportedFailure(status: ExitStatus.cannotWrite)
  }

  private func holder(of lock: StateLock) -> String {
    lock.holder.map { "run \($0)" } ?? "another run"
  }
}
