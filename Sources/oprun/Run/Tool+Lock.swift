// `--lock` and `mutex: pipeline`: runs of one pipeline that do not overlap.

import Diagnostics
import Execution
import Glibc
import Plans
import Reporting
import RunFiles
import State

extension Tool {
  /// The lock of the pipeline, if the run needs it. Throws the exit status if the run cannot have
  /// it, which has been reported, or if everything is to be read again after the wait for it.
  func takeLock(
    _ plan: Plan, _ invocation: Invocation, _ state: StateDirectory, _ resumed: ResumedRun?
  ) throws(ReportedFailure) -> StateLock? {
    let taken = try takeFreeLock(plan, invocation, state, isResumed: resumed != nil)
    if let taken { try checkLastHolder(of: taken.lock, in: taken.folder, resumed) }
    return taken?.lock
  }

  /// Refuses to run while jobs of the last holder go on: a run that was left, or died, has given
  /// the lock back. Nobody can wait for these jobs here.
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
      // In a copy of the directory, the jobs belong to the original.
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
    // Standard input can be read only once.
    let canBeginAgain = file != "-"
    let mayResume = isResumed || invocation.isOn(Options.resume)
    var hasWaited = false
    while true {
      let folder = try madeFolder(state)
      let place = place(of: file, in: folder)
      if let held = pipelineLock.takeHeld(of: place.key), held.isInPlace { return (held, folder) }
      let lock = try openedLock(of: place.key, in: folder)
      if try take(lock, of: place.file, mayWait: !invocation.isOn(Options.noWait)) {
        hasWaited = true
      }
      // If the state directory is removed, the lock is removed with it, and other runs take another
      // one.
      if !lock.isInPlace { continue }
      if hasWaited, mayResume || canBeginAgain && hasChanged(plan) {
        pipelineLock.beginAgain(holding: lock, of: place.key)
        throw ReportedFailure(status: ExitStatus.success)
      }
      return (lock, folder)
    }
  }

  private func madeFolder(_ state: StateDirectory) throws(ReportedFailure) -> StateFolder {
    do throws(StateFailure) {
      return try state.make()
    } catch {
      say(error.message, help: error.help)
      throw ReportedFailure(status: ExitStatus.cannotWrite)
    }
  }

  private func openedLock(
    of key: String, in folder: StateFolder
  ) throws(ReportedFailure) -> StateLock {
    do throws(SystemError) {
      return try StateLock(of: key, in: folder)
    } catch {
      say(error.message)
      throw ReportedFailure(status: ExitStatus.cannotWrite)
    }
  }

  /// Takes the lock of a pipeline file; true if it was waited for.
  private func take(
    _ lock: StateLock, of path: String, mayWait: Bool
  ) throws(ReportedFailure) -> Bool {
    if lock.take() { return false }
    if !mayWait {
      // A child of an oprun that has just died holds the lock until its program is loaded.
      for _ in 0..<20 {
        usleep(10_000)
        if lock.take() { return false }
      }
      say("\(holder(of: lock)) of \(quoted(path)) holds the lock")
      throw ReportedFailure(status: ExitStatus.inUse)
    }
    say("waiting for \(holder(of: lock)) of \(quoted(path)), which holds the lock")
    errors.flush()
    if lock.waitAndTake() { return true }
    say("cannot wait for the lock: \(SystemError.reason(errno))")
    throw ReportedFailure(status: ExitStatus.cannotWrite)
  }

  private func holder(of lock: StateLock) -> String {
    lock.holder.map { "run \($0)" } ?? "another run"
  }
}
