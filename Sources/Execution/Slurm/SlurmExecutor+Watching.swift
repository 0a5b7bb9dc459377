// Jobs of runs that are over, which make what cached steps of this run wait for. Nobody else may look after them: who waits
// sees to it that a job that Slurm has lost, or that somebody has cancelled, is not waited for.

import Diagnostics
import Plans
import Running
import Scheduling

/// A job that is watched.
struct WatchedJob {
  /// Since when somebody wants to know; nil after a look, until somebody still does.
  var wantedSince: Nanoseconds?
  /// The task of which Slurm was seen to have no job, and when that was seen first.
  var missed: (task: JournalEntry.Origin, since: Nanoseconds)?
}

extension SlurmExecutor {
  func watchJob(making lock: String, at now: Nanoseconds) {
    // Not when the look has shown it: a run that has taken the job over may have the lock by then, and submit it again.
    if let missed = watched[lock]?.missed,
      OpenSteps(beside: parts.folder).task(making: lock) == missed.task,
      isGone(missed.task, since: missed.since, at: now)
    {
      watched[lock] = nil
      return noteEnd(at: missed.task)
    }
    if watched[lock]?.wantedSince == nil { watched[lock, default: WatchedJob()].wantedSince = now }
  }

  /// Whether a look is to tell something of such jobs.
  var isWatching: Bool { watched.values.contains { $0.wantedSince != nil } }

  /// Notes which jobs are not in the queue. `since` is when the look began.
  func lookAtWatched(_ queue: String, since: Nanoseconds, at now: Nanoseconds) {
    if watched.isEmpty { return }
    let notes = OpenSteps(beside: parts.folder)
    for (lock, job) in watched where job.wantedSince.map({ $0 <= since }) ?? true {
      guard job.wantedSince != nil, let task = notes.task(making: lock) else {
        watched[lock] = nil
        continue
      }
      watched[lock]?.wantedSince = nil
      guard let files = try? NodeFiles.find(in: task.folder), !files.isCopy else { continue }
      let listing = QueueListing(queue, files.mark(of: task.run))
      if listing.isIncomplete { continue }
      if listing.jobs[task.number]?.contains(where: \.isLive) == true {
        watched[lock]?.missed = nil
      } else if job.missed?.task != task {
        watched[lock]?.missed = (task, now)
      }
    }
  }

  /// Whether nothing comes of a task whose job Slurm does not have. If it had begun, its result may only be late.
  private func isGone(
    _ task: JournalEntry.Origin, since: Nanoseconds, at now: Nanoseconds
  ) -> Bool {
    guard let files = try? NodeFiles.find(in: task.folder) else { return false }
    return switch files.takeAway(task.number) {
    case .oprun: true
    case .job: now >= since + plan.fileWait
    case .nobodyYet, .unknown: false
    }
  }
}
