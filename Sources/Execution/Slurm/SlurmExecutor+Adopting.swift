// Jobs of an earlier run that go on: a resumed run takes them over instead of submitting their commands
// again.

import Diagnostics
import Plans
import Running
import Scheduling

/// Something that an earlier run has given to Slurm, and whose end it has not recorded.
struct AdoptableTask {
  let entry: JournalEntry
  /// The run to which its files belong.
  let origin: JournalEntry.Origin
  /// The number in the journal of this run.
  let number: Int
}

extension SlurmExecutor {
  /// Takes what an earlier run has left open into the journal of this run, before anything starts: otherwise
  /// it would be lost if this one ended before it comes to those steps.
  func inherit(from earlier: EarlierJobs) {
    let entries = SlurmJournal.entries(in: "\(earlier.folder)/@node").filter { !$0.value.hasEnded }
    guard !entries.isEmpty, (try? openHome()) != nil else { return }
    for number in entries.keys.sorted() {
      guard var entry = entries[number] else { continue }
      let origin =
        entry.origin
        ?? JournalEntry.Origin(folder: earlier.folder, run: earlier.runID, number: number)
      entry.origin = origin
      let (copy, own) = (entry, nextNumber)
      nextNumber += 1
      adoptable[copy.step, default: []].append(
        AdoptableTask(entry: copy, origin: origin, number: own))
      keep { journal throws(SystemError) in
        try journal.add(copy, number: own)
        if let job = copy.job { try journal.note(job: job, of: own) }
        if copy.wasStopped { try journal.noteStop(of: own) }
      }
    }
    keep { journal throws(SystemError) in try journal.flush() }
  }

  /// The earlier runs that have something of the step with Slurm.
  func earlierRuns(of step: String) -> Set<String> {
    Set((adoptable[step] ?? []).map(\.origin.run))
  }

  /// Takes over what an earlier run has with Slurm for the command, if anything: then only a look at the
  /// queue tells what is left of it. What it has for an older text of the step, or for an older result of what that
  /// depends on, is cancelled, and so is what was to end before.
  func adopt(for task: SlurmTask) -> Bool {
    guard let candidates = adoptable.removeValue(forKey: task.step) else { return false }
    let match = candidates.last {
      $0.entry.digest == task.digest && !$0.entry.wasStopped
        && !task.order.outdatedRuns.contains($0.origin.run)
    }
    for other in candidates where other.origin != match?.origin {
      if let blocker = forbid(other), match == nil { task.blockers.append(blocker) }
    }
    guard let match, let home = earlierHome(of: match.origin) else { return false }
    task.home = home
    task.number = match.origin.number
    task.ownNumber = match.number
    task.job = match.entry.job
    task.earlierNames = (match.entry.logName, match.entry.outputsName)
    task.phase = .examined
    task.wasSubmitted = true
    home.tasks[task.number] = task
    return true
  }

  /// Keeps a task of an earlier run from beginning, and has its job cancelled if there is one. Returns what must end
  /// before the step runs again, if a job has begun with it.
  private func forbid(_ other: AdoptableTask) -> SlurmTask.Blocker? {
    guard let home = earlierHome(of: other.origin) else {
      endedNumbers.append(other.number)
      return nil
    }
    let number = other.origin.number
    home.forbidden[number] = other.number
    home.quietAt = nil
    keep { journal throws(SystemError) in try journal.noteStop(of: other.number) }
    // At once: what the step runs now is about to be submitted.
    wantsLook = true
    lookedAt = nil
    if home.files.takeAway(number) == .oprun { return nil }
    return SlurmTask.Blocker(home: home, number: number)
  }

  /// What cannot be read any more, after a power failure for example, is written again, as a task of this run.
  func makeOwnIfDamaged(_ task: SlurmTask) {
    guard task.earlierNames != nil, let home, (try? task.home.files.task(task.number)) == nil
    else { return }
    task.home.tasks[task.number] = nil
    task.home = home
    task.number = task.ownNumber
    task.earlierNames = nil
  }

  private func earlierHome(of origin: JournalEntry.Origin) -> TaskHome? {
    if let home = earlierHomes[origin.folder] { return home }
    guard let files = try? NodeFiles.open(in: origin.folder) else { return nil }
    let home = TaskHome(files, folder: origin.folder, run: origin.run)
    earlierHomes[origin.folder] = home
    watch?.add(origin.folder)
    return home
  }
}
