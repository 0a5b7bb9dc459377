// Jobs that this run does not wait for: those that go on when it is left, and those that were asked
// to end when somebody does not want to wait for that. Both stay in the journal, by which the next
// run finds them.

import Diagnostics
import Plans
import Running
import Scheduling

extension SlurmExecutor {
  func areElsewhere(_ commands: [CommandKey]) -> Bool {
    guard stops.unwantedJobs.isEmpty, calls.areLooks,
      earlierHomes.values.allSatisfy(\.forbidden.isEmpty)
    else { return false }
    return commands.allSatisfy { tasks[$0]?.goesOn == true }
  }

  func leave(at now: Nanoseconds) -> Set<CommandKey> {
    let open = tasks.values.filter {
      ($0.isOut || $0.phase == .examined) && $0.stopSignal == nil
    }
    if open.isEmpty { return [] }
    news.append(.event(.notice(SlurmMessage.leftBehind(open.count))))
    leave(open)
    return left
  }

  /// Leaves the jobs that the other run knows. A job that it does not know was submitted after it
  /// had begun: that job runs beside the one that the other run has submitted for the same step,
  /// and is ended like everything here.
  func leave(to run: String, at now: Nanoseconds) -> Set<CommandKey> {
    isOvertaken = true
    // The other run takes the results of these tasks, whatever this run has seen of them.
    ends = TaskEnds()
    earlier.forgetUnneeded()
    // Nor does this run end tasks of earlier runs: the other one may have taken them over before
    // that was noted.
    for home in earlierHomes.values { home.forbidden = [:] }
    ending = [:]
    let successor = EarlierJobs(runID: run, folder: folder(of: run))
    let work = try? OpenWork(of: successor)
    // A task that waits to be submitted again has been submitted before, and the other run may have
    // done so by now.
    let open = tasks.values.filter { task in
      (task.wasSubmitted || task.isOut || task.phase == .examined)
        && work?.has(task.number, of: task.home.run) != false
    }
    if open.isEmpty { return [] }
    news.append(.event(.notice(SlurmMessage.left(open.count, to: run))))
    leave(open)
    return left
  }

  /// The directory of another run, which is beside that of this one.
  private func folder(of run: String) -> String {
    let parent = parts.folder.lastIndex(of: "/").map { parts.folder[...$0] } ?? ""
    return parent + run
  }

  private func leave(_ open: [SlurmTask]) {
    hasGivenUp = true
    for task in open {
      left.insert(task.key)
      tasks[task.key] = nil
      task.home.tasks[task.number] = nil
      task.phase = .held
      noticed.remove(task.key)
    }
    // Held tasks are asked to end next: they must not get the room of the others.
    held.rest()
  }

  func hurry(at now: Nanoseconds) {
    isHurried = true
    for task in stops.killed.compactMap({ tasks[$0] }) { task.givenUpAt = now }
    giveUpEnding()
  }

  /// The time for which a run that is to end waits for jobs that no step needs: their stop
  /// sequences are not known here.
  private static let longestEnding: Nanoseconds = 60 * second

  func runStops(at now: Nanoseconds) { endingDue = endingDue ?? now + Self.longestEnding }

  /// When jobs that no step needs are no longer waited for; nil if there are none.
  var endingLimit: Nanoseconds? { ending.isEmpty ? nil : endingDue }

  func giveUpEnding() {
    unawaited += ending.values.joined().count(where: \.isOpen)
    tellEnded(evenIfOpen: true)
  }

  /// Ends a command without waiting for the end of its job. If the job goes on, the next run ends it.
  func abandon(_ task: SlurmTask, _ signal: Int32, at now: Nanoseconds) {
    let isOver = isOver(task)
    if !isOver {
      unawaited += 1
      if !task.hasNotedStop {
        task.hasNotedStop = true
        keep { journal throws(SystemError) in try journal.noteStop(of: task.ownNumber) }
      }
    }
    // A number from a journal may be that of another job by now.
    if let job = task.job, !task.hasHeardStop, task.phase != .examined { stops.cancel([job]) }
    end(
      task,
      CommandEnd(isOver ? .signalled(signal) : .abandoned, duration: now - task.startedAt), at: now)
  }

  /// Reports once the number of jobs whose ends are not waited for.
  func tellUnawaited() {
    if unawaited == 0 { return }
    news.insert(.event(.notice(SlurmMessage.unawaited(unawaited))), at: 0)
    unawaited = 0
  }
}

extension SlurmTask {
  /// True if Slurm has the job, nobody has asked it to end, and its end was not seen.
  fileprivate var goesOn: Bool {
    guard case .submitted = phase else { return false }
    return job != nil && stopSignal == nil && missedSince == nil
  }
}
