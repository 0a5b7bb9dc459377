// The holder of a task. A claim is permanent, so it decides whether the task can be given to Slurm
// again.

import Running

/// The holder of a task according to its claim, as far as it can be seen here.
enum TaskHolder: Hashable {
  /// No job has begun with the task.
  case nobodyYet
  /// oprun has taken the task away from all jobs: none will begin with it any more.
  case oprun
  /// A job has begun with the task.
  case job
  /// The holder cannot be known; the string says why.
  case unknown(String)

  /// `claim` is the content of the file; nil if there is none.
  fileprivate init(_ claim: String?) {
    switch claim {
    case nil: self = .nobodyYet
    case NodeFiles.nobody: self = .oprun
    // Somebody was first, and the network file system does not show the file yet.
    case "": self = .unknown("its claim is not seen here yet")
    default: self = .job
    }
  }
}

extension NodeFiles {
  func holder(of task: Int) -> TaskHolder {
    do throws(NodeFailure) {
      return TaskHolder(try claim(of: task))
    } catch {
      return .unknown(error.message)
    }
  }

  /// Takes a task away from jobs that have not begun with it; never returns `nobodyYet`.
  func takeAway(_ task: Int) -> TaskHolder {
    do throws(NodeFailure) {
      return TaskHolder(try claim(task, for: Self.nobody))
    } catch {
      return .unknown(error.message)
    }
  }
}

extension SlurmExecutor {
  func holder(of task: SlurmTask) -> TaskHolder { noted(task.home.files.holder(of: task.number)) }

  func takeAway(_ task: SlurmTask) -> TaskHolder {
    noted(task.home.files.takeAway(task.number))
  }

  private func noted(_ holder: TaskHolder) -> TaskHolder {
    if holder == .job { hasSeenClaim = true }
    return holder
  }

  /// Makes sure that no job of a task without a result begins later; false if one may, or goes on.
  ///
  /// A task leaves a run with a result, taken away, with its job seen to be over, or open: the next
  /// run finds the job of an open one.
  func isOver(_ task: SlurmTask) -> Bool {
    guard task.wasSubmitted else { return true }
    switch takeAway(task) {
    case .oprun: return true
    case .job: return task.missedSince != nil
    case .nobodyYet, .unknown: return false
    }
  }

  /// Notes that the task is over, or that a job of it may go on.
  func settle(_ task: SlurmTask, isOver: Bool) {
    if isOver {
      if let lock = task.order.lock {
        OpenSteps(beside: task.home.folder).remove(lock, of: task.home.run, task.number)
      }
      ends.add(task.ownNumber, of: task.key.operation)
    } else {
      hasGivenUp = true
    }
    task.home.settle(task.number)
  }
}
