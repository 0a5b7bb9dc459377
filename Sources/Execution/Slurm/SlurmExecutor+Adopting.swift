// Jobs of an earlier run that go on: a resumed run takes them over instead of submitting their commands
// again.

import Diagnostics
import Plans
import Running
import Scheduling

extension SlurmExecutor {
  /// Takes the open tasks of an earlier run into the journal of this run, before anything starts:
  /// otherwise they would be lost if this run ended before it comes to those steps.
  func inherit(from earlier: EarlierJobs) {
    let tasks: [Int: OpenWork.Task]
    do throws(OpenWork.Unknown) {
      tasks = try OpenWork(of: earlier).tasks
    } catch {
      // The open work is unknown: nothing may run beside it.
      return refuseToInherit(error.message(of: earlier.runID))
    }
    if tasks.isEmpty { return }
    do throws(SystemError) {
      _ = try openHome()
    } catch {
      return refuseToInherit(error.message)
    }
    for number in tasks.keys.sorted() {
      guard let task = tasks[number] else { continue }
      inherit(task.entry, from: task.origin)
    }
    keep { journal throws(SystemError) in try journal.flush() }
  }

  private func refuseToInherit(_ message: String) {
    hasGivenUp = true
    news.append(.stateFailed(message))
  }

  private func inherit(_ known: JournalEntry, from origin: JournalEntry.Origin) {
    var entry = known
    entry.origin = origin
    let own = nextNumber
    nextNumber += 1
    earlier.add(AdoptableTask(entry: entry, origin: origin, number: own))
    keep { journal throws(SystemError) in
      try journal.add(entry, number: own)
      if let job = entry.job { try journal.note(job: job, of: own) }
      if entry.wasStopped { try journal.noteStop(of: own) }
    }
  }

  /// The earlier runs that have open tasks of the step.
  func earlierRuns(of step: String) -> Set<String> {
    Set(earlier[step].map(\.origin.run))
  }

  /// Takes over the task that an earlier run has open for the command, if any: then only a look at
  /// the queue tells whether it goes on. Tasks for an older text of the step, or for older results
  /// of the steps before it, are cancelled, and so are those that were to end before.
  func adopt(for task: SlurmTask) throws(SystemError) -> Bool {
    let candidates = earlier.take(task.step)
    if candidates.isEmpty { return false }
    do throws(SystemError) {
      return try adopt(candidates, for: task)
    } catch {
      // As long as these tasks are unknown, another attempt must not run beside them either.
      earlier.putBack(candidates, of: task.step)
      throw error
    }
  }

  private func adopt(
    _ candidates: [AdoptableTask], for task: SlurmTask
  ) throws(SystemError) -> Bool {
    let match = candidates.last { $0.fits(task.order, task.digest) }
    for other in candidates where other.origin != match?.origin {
      if let blocker = try forbid(other), match == nil { task.blockers.append(blocker) }
    }
    guard let match, let home = try earlierHome(of: match.origin) else { return false }
    task.home = home
    task.number = match.origin.number
    task.ownNumber = match.number
    task.job = match.entry.job
    task.earlierLog = match.entry.logName
    task.phase = .examined
    task.wasSubmitted = true
    home.tasks[task.number] = task
    return true
  }

  func takesOver(_ command: Command) -> Bool {
    guard let order = command.slurm else { return false }
    let digest = command.taskDigest
    return earlier[command.step].contains { $0.fits(order, digest) }
  }

  /// Keeps a task of an earlier run from beginning, and has its job cancelled if there is one.
  /// Returns the task if a job may have begun with it, which must end before the step runs again.
  private func forbid(_ other: AdoptableTask) throws(SystemError) -> SlurmTask.Blocker? {
    guard let home = try earlierHome(of: other.origin) else {
      ends.addDecided([other.number])
      return nil
    }
    let number = other.origin.number
    home.forbidden[number] = other.number
    home.quietAt = nil
    keep { journal throws(SystemError) in try journal.noteStop(of: other.number) }
    // At once: the new command of the step is about to be submitted.
    looks.wantAtOnce()
    if home.files.takeAway(number) == .oprun { return nil }
    return SlurmTask.Blocker(home: home, number: number)
  }

  func endEarlier(_ operation: OperationID, of step: String, startsThen: Bool) {
    var homes = OpenTasks()
    do throws(SystemError) {
      for task in earlier[step] {
        guard homes.mayHave(task.origin) else {
          ends.addDecided([task.number])
          continue
        }
        tellEnd(of: task.entry, startsThen: startsThen)
        _ = try forbid(task)
        guard let home = earlierHomes[task.origin.folder] else { continue }
        let blocker = SlurmTask.Blocker(home: home, number: task.origin.number)
        ending[operation, default: []].append(blocker)
      }
      _ = earlier.take(step)
    } catch {
      // As long as these tasks are unknown, nothing may run beside them.
      refuseToInherit(error.message)
      ending[operation] = nil
    }
    if ending[operation] == nil { ending[operation] = [] }
    tellEnded()
  }

  private func tellEnd(of entry: JournalEntry, startsThen: Bool) {
    if !startsThen {
      news.append(.event(.notice(SlurmMessage.notNeeded(entry.step, entry.job))))
    } else if let job = entry.job {
      news.append(.event(.notice(SlurmMessage.waitsForEarlier(entry.step, job))))
    }
  }

  /// Reports the steps, whether they start then or not, whose earlier jobs have all ended.
  func tellEnded(evenIfOpen: Bool = false) {
    for (operation, open) in ending.sorted(by: { $0.key < $1.key })
    where evenIfOpen || isHurried || !open.contains(where: \.isOpen) {
      ending[operation] = nil
      news.append(.isOver(operation))
    }
  }

  /// Makes a task of this run from an earlier one whose file cannot be read, after a power failure
  /// for example: the file is written again.
  func makeOwnIfDamaged(_ task: SlurmTask) {
    guard task.earlierLog != nil, let home, (try? task.home.files.task(task.number)) == nil
    else { return }
    task.home.tasks[task.number] = nil
    task.home = home
    task.number = task.ownNumber
    task.earlierLog = nil
  }

  /// The files of an earlier run; nil if they are gone.
  private func earlierHome(of origin: JournalEntry.Origin) throws(SystemError) -> TaskHome? {
    if let home = earlierHomes[origin.folder] { return home }
    guard let files = try NodeFiles.find(in: origin.folder) else { return nil }
    let home = TaskHome(files, folder: origin.folder, run: origin.run)
    earlierHomes[origin.folder] = home
    watch?.add(origin.folder)
    return home
  }
}
