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
    _ plan: Plan, _ invocation: Invocation, _ state: StateDirectory, _ resumed: ResumedRun?
  ) throws(ReportedFailure) -> StateLock? {
    let taken = try takeFreeLock(plan, invocation, state, isResumed: resumed != nil)
    if let taken { try checkLastHolder(of: taken.lock, in: taken.folder, resumed) }
    return taken?.lock
  }

  /// A run that was left, or died, has given the lock back, although its jobs may go on. For these, nobody can wait here.
  private func checkLastHolder(
    of lock: StateLock, in folder: StateFolder, _ resumed: ResumedRun?
  ) throws(ReportedFailure) {
    guard let run = lock.lastHolder, run != resumed?.earlier.name else { return }
    let store = resumed?.store ?? (try? StateStore.find(in: folder)) ?? nil
    let help = "'oprun resume \(run)' waits for them, 'oprun cancel \(run)' ends them"
    do throws(OpenWork.Unknown) {
      let work = try openWork(of: run, in: folder, store)
      guard work.mayHaveJobs, resumed?.openWork.map(work.hasMore) ?? true else { return }
      say("run \(run) is over, and jobs of it may go on: they hold the lock", help: help)
    } catch {
      // The jobs of a copy go on elsewhere.
      if case .copied = error { return }
      say(error, of: run)
    }
    throw ReportedFailure(status: ExitStatus.inUse)
  }

  private func takeFreeLock(
    _ plan: Plan, _ invocation: Invocation, _ state: StateDirectory, isResumed: Bool
  ) throws(ReportedFailure) -> (lock: StateLock, folder: StateFolder)? {
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
    if let held = pipelineLock.takeHeld(of: place.key) { return (held, folder) }
    let lock: StateLock
    do throws(SystemError) {
      lock = try StateLock(of: place.key, in: folder)
    } catch {
      say(error.message)
      throw ReportedFailure(status: ExitStatus.cannotWrite)
    }
    if lock.take() { return (lock, folder) }
    if invocation.isOn(Options.noWait) {
      // A child of an oprun that has just died holds it until its program is loaded.
      for _ in 0..<20 {
        usleep(10_000)
        if lock.take() { return (lock, folder) }
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
      return (lock, folder)
    }
    say("cannot wait for the lock: \(SystemError.reason(errno))")
    throw ReportedFailure(status: ExitStatus.cannotWrite)
  }

  private func holder(of lock: StateLock) -> String {
    lock.holder.map { "run \($0)" } ?? "another run"
  }
}
