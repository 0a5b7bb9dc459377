// What `squeue` says of the jobs of a run.

import Plans

/// One line of the listing.
struct QueuedJob: Hashable {
  let id: String
  let state: State
  /// Why it waits, or how it ended, in Slurm's word.
  let reason: String
  let node: String?

  /// Slurm's states, as far as they mean different things here.
  enum State: Hashable {
    case pending
    /// It runs, or begins or ends to, or is held up by somebody.
    case running
    /// It has ended by itself.
    case ended
    case cancelled
    case timeLimit
    case outOfMemory
    case preempted
    case nodeFailed
    /// The job could not be started on its node.
    case bootFailed
    /// Anything else, which nothing follows from.
    case other

    init(_ word: Substring) {
      switch word {
      case "PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD":
        self = .pending
      case "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT",
        "RESIZING":
        self = .running
      case "COMPLETED", "FAILED": self = .ended
      case "CANCELLED", "REVOKED": self = .cancelled
      case "TIMEOUT", "DEADLINE": self = .timeLimit
      case "OUT_OF_MEMORY": self = .outOfMemory
      case "PREEMPTED": self = .preempted
      case "NODE_FAIL": self = .nodeFailed
      case "BOOT_FAIL": self = .bootFailed
      default: self = .other
      }
    }
  }

  /// It is still in Slurm's hands.
  var isLive: Bool { state == .pending || state == .running || state == .other }

  /// It was requeued, and would wait for two minutes.
  var waitsForItsTime: Bool { state == .pending && reason == "BeginTime" }

  /// It was requeued after its launch failed, and is held.
  var isHeldAfterFailure: Bool {
    state == .pending && reason.hasPrefix("launch failed requeued held")
  }

  /// It waits for a reason that does not pass by itself.
  var isStuck: Bool { state == .pending && Self.lastingReasons.contains(reason) }

  private static let lastingReasons: Set = [
    "DependencyNeverSatisfied", "PartitionConfig", "PartitionTimeLimit", "PartitionDown",
    "PartitionInactive", "PartitionNodeLimit", "BadConstraints", "JobHeldUser", "JobHeldAdmin",
    "AccountNotAllowed", "QOSNotAllowed", "InvalidAccount", "InvalidQOS", "AssociationTimeLimit",
    "AssocMaxCpuPerJobLimit", "AssocMaxMemPerJob", "AssocMaxNodePerJobLimit",
    "AssocMaxWallDurationPerJobLimit", "QOSMaxCpuPerJobLimit", "QOSMaxMemoryPerJob",
    "QOSMaxNodePerJobLimit", "QOSMaxWallDurationPerJobLimit", "QOSTimeLimit", "QOSUsageThreshold",
    "ReservationDeleted", "ReqNodeNotAvail", "FedJobLock", "JobLaunchFailure",
    "user env retrieval failed requeued held",
  ]
}

/// All jobs of the run, by task.
struct QueueListing {
  private(set) var jobs: [Int: [QueuedJob]] = [:]

  /// `text` is what `squeue` printed in the form of `SlurmCommands.look`.
  init(_ text: String, _ mark: JobMark) {
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: "|", maxSplits: 4, omittingEmptySubsequences: false)
      guard fields.count == 5, let task = mark.task(in: fields[4]) else { continue }
      let node = fields[3].isEmpty || fields[3] == "(null)" ? nil : String(fields[3])
      let job = QueuedJob(
        id: String(fields[0]), state: QueuedJob.State(fields[1].prefix { $0 != " " }),
        reason: String(fields[2]),
        node: node)
      jobs[task, default: []].append(job)
    }
  }

  /// The job of a task. If it was submitted twice, the one that lives, or that came first: it has claimed
  /// the task. `known` is the number that Slurm answered with.
  func job(of task: Int, known: String?) -> QueuedJob? {
    let found = jobs[task] ?? []
    return found.first { $0.isLive && $0.id == known } ?? found.first { $0.isLive }
      ?? found.first { $0.id == known } ?? found.first
  }
}
