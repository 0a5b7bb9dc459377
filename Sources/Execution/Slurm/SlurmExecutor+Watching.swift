// Jobs of runs that are over, which make results that cached steps of this run wait for. Nobody
// else may look after them, so the run that waits finds out about jobs that Slurm has lost, or that
// somebody has cancelled.

import Diagnostics
import Plans
import Running
import Scheduling

/// A job that is watched.
struct WatchedJob {
  /// Since when the state of the job is wanted; nil after a look, until it is wanted again.
  var wantedSince: Nanoseconds?
  /// The task for which Slurm has no job, and when that was first seen.
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

  /// True if a look is wanted because of watched jobs.
  var isWatching: Bool { watched.values.contains { $0.wantedSince != nil } }

  /// Notes which watched jobs are not in the queue. `since` is when the look began.
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

  /// True if a task whose job Slurm does not have will give no result. If the job had begun, its
  /// result may only be late.
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
