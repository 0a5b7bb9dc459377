// A command that Slurm runs, from its start to its end, as far as the executor knows it.

import Plans
import RunFiles
import Running
import Scheduling

/// The files of the tasks of one run: of this one, or of an earlier one whose jobs go on.
final class TaskHome {
  let files: NodeFiles
  /// The directory of the run; absolute.
  let folder: String
  let run: String
  let mark: JobMark
  /// The tasks whose ends are awaited, by number.
  var tasks: [Int: SlurmTask] = [:]
  /// The tasks that are not needed any more: they have ended, or were given to Slurm under another number.
  var settled: Set<Int> = []
  /// The tasks that must not go on, because the steps have changed since, and their numbers in the journal of this
  /// run. Their jobs are cancelled when a look shows them: a number from a journal may be that of another job by now.
  var forbidden: [Int: Int] = [:]
  /// True if it was reported that the results cannot be listed.
  var isBlind = false
  /// When the results were last listed.
  var listedAt: Nanoseconds = -1
  /// The last listing of the queue, and its text.
  private var listed: (text: String, listing: QueueListing)?
  /// The number of changes of tasks when the last listing left nothing to do; nil if it left something.
  var quietAt: Int?
  /// The time since which the folder of results is as it is now.
  private var unchanged: (stamp: FolderStamp, since: Nanoseconds)?

  init(_ files: NodeFiles, folder: String, run: String) {
    self.files = files
    self.folder = folder
    self.run = run
    mark = files.mark(of: run)
  }

  /// The listing in the output of `squeue`. Equal output is not read again.
  func listing(_ text: String) -> QueueListing {
    if let listed, listed.text == text { return listed.listing }
    let listing = QueueListing(text, mark)
    listed = (text, listing)
    quietAt = nil
    return listing
  }

  /// True if there may be results that were not there when they were last listed. Times of files
  /// may be as coarse as 2 s, and some file systems are late with them.
  func mayHaveNewResults(at now: Nanoseconds) -> Bool {
    guard let stamp = files.stamp(of: .results) else { return true }
    if let unchanged, unchanged.stamp == stamp {
      let isSure = listedAt >= unchanged.since + 4 * SlurmExecutor.second
      return !isSure || now >= listedAt + 30 * SlurmExecutor.second
    }
    unchanged = (stamp, now)
    return true
  }

  /// Makes the results be listed again, because some could not be read.
  func distrust() { unchanged = nil }

  func settle(_ number: Int) {
    tasks[number] = nil
    settled.insert(number)
  }
}

final class SlurmTask {
  enum Phase: Hashable {
    /// The task is not with Slurm: it was never submitted, or is to be submitted again.
    case held
    /// An earlier run may have a job of the task: the next look at the queue tells.
    case examined
    case submitting
    /// The task may have been submitted: a look at the queue that begins after this time tells.
    case unsure(since: Nanoseconds)
    case submitted(since: Nanoseconds)
  }

  /// A task of an earlier run that must end before.
  struct Blocker {
    let home: TaskHome
    let number: Int

    var isOpen: Bool { home.forbidden[number] != nil }
  }

  let command: Command
  let order: SlurmOrder
  let step: String
  /// The step as everybody may see it.
  var shownName: String
  let digest: String
  let startedAt: Nanoseconds
  var home: TaskHome
  /// The number in its home, by which its files and its job are found.
  var number: Int
  /// The number in the journal of this run.
  var ownNumber: Int
  var phase = Phase.held {
    didSet { counts.change(from: oldValue, to: phase) }
  }
  private let counts: SlurmCounts
  var job: String?
  /// The submission that the task was part of, and how many of its jobs may run at once, if that is limited.
  var batch: String?
  var throttle: Int?
  /// The job as the queue showed it last.
  var seen: QueuedJob?
  /// When its job was first seen to have ended, or not to exist, without a result.
  var missedSince: Nanoseconds?
  /// True if a job may have been submitted under its number.
  var wasSubmitted = false
  /// The tasks of earlier runs that it would run beside if it were submitted now.
  var blockers: [Blocker] = []
  var hasToldOfBlocker = false
  /// The earliest time at which the task is submitted.
  var notBefore: Nanoseconds = 0
  /// The number of times that the task was given to Slurm again.
  var againCount = 0
  /// The number of times that `sbatch` has failed for the task with a sentence that is not known.
  var unclearCount = 0
  /// The signal by which the task was asked to end.
  var stopSignal: Int32?
  /// True if Slurm has been asked to end the job, and if it has answered.
  var isCancelled = false
  var hasHeardStop = false
  /// True if the stop is in the journal.
  var hasNotedStop = false
  var killedAt: Nanoseconds?
  /// When a killed task is not waited for any longer.
  var givenUpAt: Nanoseconds?
  /// True if its log is among those that are shown.
  var hasShownLog = false
  var toldByteCount = 0
  var toldReason: String?
  /// The name of its log in its home, if that is an earlier run.
  var earlierLog: String?

  var key: CommandKey { command.key }
  var request: SlurmRequest { order.request }

  init(
    _ command: Command, _ order: SlurmOrder, home: TaskHome, number: Int, at now: Nanoseconds,
    _ counts: SlurmCounts
  ) {
    self.counts = counts
    self.command = command
    self.order = order
    digest = command.taskDigest
    self.home = home
    self.number = number
    ownNumber = number
    startedAt = now
    step = command.step.isEmpty ? command.logName : command.step
    shownName = step
  }

  /// True if the task is with Slurm, as far as is known.
  var isOut: Bool { phase.isOut }

  var isBlocked: Bool { blockers.contains(where: \.isOpen) }

  /// Forgets the log: a job that is started again writes another file.
  func forgetLog() {
    hasShownLog = false
    toldByteCount = 0
  }

  var entry: JournalEntry {
    JournalEntry(
      step: shownName == step ? step : JournalEntry.hidden(step), digest: digest,
      logName: command.logName, outputsName: command.outputsName)
  }
}

extension SlurmTask.Phase {
  var isOut: Bool {
    switch self {
    case .held, .examined: false
    case .submitting, .unsure, .submitted: true
    }
  }
}

/// Counts the tasks that are with Slurm, because there may be thousands.
final class SlurmCounts {
  /// The number of tasks that Slurm has, as far as is known.
  private(set) var out = 0
  /// The same number, including the tasks of earlier runs that Slurm may have.
  private(set) var open = 0
  /// The number of times that a task changed its phase.
  private(set) var changes = 0

  fileprivate func change(from old: SlurmTask.Phase, to new: SlurmTask.Phase) {
    out += (new.isOut ? 1 : 0) - (old.isOut ? 1 : 0)
    open += (new == .held ? 0 : 1) - (old == .held ? 0 : 1)
    changes += 1
  }
}

extension Command {
  /// Variables that differ between runs, or between attempts.
  private static let variablesOfRun: Set = [
    OprunVariable.runID.rawValue, OprunVariable.workspace.rawValue,
    OprunVariable.attempt.rawValue, OprunVariable.output.rawValue, "TRACEPARENT",
  ]

  /// The digest of what the command runs. It is the same in every run with the same basis.
  var taskDigest: String {
    var parts: [String] = []
    switch work {
    case .words(let words): parts += ["words"] + words
    case .script(let text, let shell): parts += ["script", text] + shell
    case .builtin(let words): parts += ["builtin"] + words
    }
    parts += ["in", directory ?? "", input ?? "", "with"]
    let variables = environment.variables + self.variables
    for variable in variables
    where !Self.variablesOfRun.contains(variable.name) {
      parts += [variable.name, variable.value]
    }
    if let basis = slurm?.basis { parts += ["on", basis] }
    return shortDigest(of: parts.map { "\($0.utf8.count):\($0)" }.joined())
  }
}
