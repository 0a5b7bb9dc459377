// What runs that are over still have open, as their files and the database say together.

import Diagnostics
import Execution
import Plans
import RunFiles
import State

extension Tool {
  /// What a run has open with Slurm. Throws if that cannot be known.
  func openWork(of run: String, in store: StateStore) throws(OpenWork.Unknown) -> OpenWork {
    try openWork(of: run, in: store.folder, store)
  }

  /// The same where there may be no database, or none that can be opened: then the files alone say it.
  func openWork(
    of run: String, in folder: StateFolder, _ store: StateStore?
  ) throws(OpenWork.Unknown) -> OpenWork {
    try OpenWork(of: folder.jobs(of: run), hadJobs: store?.lastHadJobs(run) ?? false)
  }

  func say(_ unknown: OpenWork.Unknown, of run: String) {
    say(unknown.message(of: run), help: unknown.help(for: run))
  }

  /// Says why a run cannot be resumed of which others have the rest, or returns false.
  func refusesSuccessors(
    of run: String, in store: StateStore, isNamed: Bool
  ) throws(UsageFailure) -> Bool {
    let successors = try readingState { () throws(StoreFailure) in
      try store.successors(of: run)
    }
    guard let newest = successors.first else { return false }
    for successor in successors {
      if store.isInUse(successor.name) {
        say(
          "run \(successor.name), which goes on with run \(run), is still running",
          help: "wait for it to end, or cancel it: oprun cancel \(successor.name)")
        return true
      }
      if hasJobs(successor, of: run, in: store) {
        say(
          "run \(successor.name) goes on with run \(run), and has its jobs",
          help: "'oprun resume \(successor.name)' waits for them, 'oprun cancel \(successor.name)' "
            + "ends them")
        return true
      }
    }
    // A run that was not named was chosen because it has something that those did not have to do.
    guard isNamed, (try? store.run(named: run))?.wasLeft == true else { return false }
    say(
      "run \(run) was left, and run \(newest.name) went on with it",
      help: "'oprun show \(newest.name)' shows what became of it")
    return true
  }

  /// Whether a run that goes on with another one has jobs, or may have, that are lost if the other one is resumed again.
  private func hasJobs(_ successor: Successor, of run: String, in store: StateStore) -> Bool {
    do throws(OpenWork.Unknown) {
      let work = try openWork(of: successor.name, in: store)
      if work.isEmpty { return false }
      if !successor.hasEnded { return true }
      return work.hasMore(than: try openWork(of: run, in: store))
    } catch {
      return true
    }
  }
}

extension StateFolder {
  func jobs(of run: String) -> EarlierJobs {
    EarlierJobs(runID: run, folder: shown("runs/\(run)"))
  }
}

extension StateStore {
  /// Whether a run that is over must have had jobs of its own in Slurm at its end, and no other run goes on with it.
  func lastHadJobs(_ run: String) -> Bool {
    ((try? successors(of: run))?.isEmpty ?? true) && hadJobs(run)
  }

  /// Whether a run that is over must have had jobs of its own in Slurm at its end.
  private func hadJobs(_ run: String) -> Bool {
    switch try? jobsAtEnd(of: run) {
    case .some(.some): true
    // Files for other nodes are not always made: only if nothing of the run is there any more, these may be missing.
    case .some(.possible): folder.run(named: run)?.isBare ?? true
    case .some(.none), nil: false
    }
  }

  /// Whether something that is open needs the directory of a run: jobs write there, and results in it that no run has
  /// taken yet are lost with it.
  func isDirectoryNeeded(of run: String) -> Bool {
    do throws(OpenWork.Unknown) {
      let work = try OpenWork(of: folder.jobs(of: run))
      if work.isEmpty { return false }
      // What others have taken over is found by them.
      guard let successors = try? successors(of: run), !successors.isEmpty else { return true }
      guard work.homes.contains(run) else { return false }
      if work.hasJobsAtHome { return true }
      for successor in successors {
        let other = try OpenWork(of: folder.jobs(of: successor.name))
        if other.homes.contains(run) { return true }
      }
      return false
    } catch {
      return true
    }
  }
}
