// The jobs that finished runs still have, as their files and the database tell together.

import Diagnostics
import Execution
import Plans
import RunFiles
import State

extension Tool {
  /// The jobs that a run has in Slurm. Throws if they cannot be known.
  func openWork(of run: String, in store: StateStore) throws(OpenWork.Unknown) -> OpenWork {
    try openWork(of: run, in: store.folder, store)
  }

  /// The jobs that a run has in Slurm, where there may be no database, or none that can be opened:
  /// then only the files tell.
  func openWork(
    of run: String, in folder: StateFolder, _ store: StateStore?
  ) throws(OpenWork.Unknown) -> OpenWork {
    try OpenWork(of: folder.jobs(of: run), hadJobs: store?.lastHadJobs(run) ?? false)
  }

  func say(_ unknown: OpenWork.Unknown, of run: String) {
    say(unknown.message(of: run), help: unknown.help(for: run))
  }

  /// Refuses to resume a run whose rest other runs have, and says why; false if there are none.
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
    // A run that was not named was chosen because it has something to do that those runs did not
    // have.
    guard isNamed, (try? store.run(named: run))?.wasLeft == true else { return false }
    say(
      "run \(run) was left, and run \(newest.name) went on with it",
      help: "'oprun show \(newest.name)' shows what became of it")
    return true
  }

  /// True if a run that goes on with another one has jobs, or may have, that are lost if the other
  /// one is resumed again.
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
  /// True if a finished run must have had jobs of its own in Slurm at its end, and no other run
  /// goes on with it.
  func lastHadJobs(_ run: String) -> Bool {
    ((try? successors(of: run))?.isEmpty ?? true) && hadJobs(run)
  }

  /// True if a finished run must have had jobs of its own in Slurm at its end.
  private func hadJobs(_ run: String) -> Bool {
    switch try? jobsAtEnd(of: run) {
    case .some(.some): true
    // Files for other nodes are not always made: they count as lost only if no file of the run is
    // left.
    case .some(.possible): folder.run(named: run)?.isBare ?? true
    case .some(.none), nil: false
    }
  }

  /// True if open jobs need the directory of a run: they write there, and results in it that no run
  /// has taken yet are lost with it.
  func isDirectoryNeeded(of run: String) -> Bool {
    do throws(OpenWork.Unknown) {
      let work = try OpenWork(of: folder.jobs(of: run))
      if work.isEmpty { return false }
      // Jobs that other runs have taken over are found through those.
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
