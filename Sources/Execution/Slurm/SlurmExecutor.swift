// Slurm as an executor: submits commands as jobs, and learns how they end from the files that the jobs
// write. What Slurm itself says only explains why there is no such file. docs/design-slurm.md

import Diagnostics
import Glibc
import Masking
import Plans
import RunFiles
import Running
import Scheduling

/// What an executor for Slurm works with.
struct SlurmParts {
  let plan: SlurmPlan
  let runID: String
  let directory: RunDirectory
  /// The directory of the run, and where oprun was started; absolute.
  let folder: String
  let workspace: String
  /// The values of secrets, for the job's side, which masks them.
  let secrets: [String]
  /// Inherited variables that hold a secret: jobs get them in a file.
  let secretVariables: [EnvironmentVariable]
  /// The run that is resumed.
  let earlier: EarlierJobs?
  /// What hides secrets in names that others see.
  var masker: Masker?
  /// Jobs find this program in the directory of the run.
  var copiesProgram = true
}

final class SlurmExecutor: Executor {
  /// Why Slurm was called.
  enum Purpose {
    case submission(SlurmBatch)
    case look(since: Nanoseconds)
    case cancellation([CommandKey], unwanted: [String])
    case kill([CommandKey])
    case other
  }

  static let second: Nanoseconds = 1_000_000_000

  let parts: SlurmParts
  let caller: any SlurmCaller
  let waiting: any Waiting
  var plan: SlurmPlan { parts.plan }
  var tasks: [CommandKey: SlurmTask] = [:]
  /// The tasks that are to be submitted, in their order, and some that have ended.
  var held: [CommandKey] = []
  /// When it is to be tried to submit some of them; nil if that would be in vain.
  var heldDue: Nanoseconds?
  /// How many tasks are in which phase.
  let counts = SlurmCounts()
  /// The tasks that are to end, and of whose jobs Slurm has not been told.
  var stopped: Set<CommandKey> = []
  /// The tasks whose jobs were killed.
  var killed: Set<CommandKey> = []
  /// The tasks that were asked to end.
  var asked: Set<CommandKey> = []
  /// The tasks whose jobs run, or have ended without a result.
  var noticed: Set<CommandKey> = []
  /// The tasks whose jobs are to be killed with the next call.
  var toKill: [CommandKey] = []
  /// How many submissions there were.
  var batchCount = 0
  /// The largest array that Slurm is offered: it may allow less, which is learned.
  var largestBatch = SlurmExecutor.largestArray
  /// The largest number in an array.
  var largestIndex = SlurmExecutor.largestArray
  /// The files of this run's tasks; made with the first of them.
  var home: TaskHome?
  /// Jobs find a program there; a run that has submitted none needs none.
  var hasProgram = false
  var journal: SlurmJournal?
  /// Homes of earlier runs whose jobs were taken over.
  var earlierHomes: [String: TaskHome] = [:]
  /// Where the files of tasks are that earlier runs have left open, by their numbers in the journal of this one.
  var origins: [Int: JournalEntry.Origin] = [:]
  /// The logs of theirs that this run has made its own, by the same numbers: earlier runs have them, too, until the ends
  /// of the tasks are recorded.
  var broughtLogs: [Int: [String]] = [:]
  /// What earlier runs may still have with Slurm.
  var adoptable: [String: [AdoptableTask]] = [:]
  /// Jobs for which steps of this run wait, by the locks of the steps.
  var watched: [String: WatchedJob] = [:]
  /// What earlier runs have of steps that do not start.
  var ending: [OperationID: [SlurmTask.Blocker]] = [:]
  /// When that is not waited for any more; nil as long as the run goes on.
  var endingDue: Nanoseconds?
  /// Steps that have succeeded, and for which earlier runs had started something else; that they have is not kept yet.
  var unneeded: [String] = []
  var news: [CommandNews] = []
  var nextNumber = 1
  var nextSubmission: Nanoseconds = 0
  var calls: [Int: Purpose] = [:]
  private var nextCall = 1
  /// The least time between two looks, because of how long one takes.
  var lookInterval: Nanoseconds = 0
  /// Some job has another state than when the queue was last looked at.
  var hasMoved = false
  /// How many changes of tasks there had been then.
  var changesSeen = 0
  static let longestLookInterval: Nanoseconds = 60 * second
  /// When the first of the jobs was submitted, if there are any.
  var firstSubmission: Nanoseconds?
  /// When the queue was last looked at; nil if never.
  var lookedAt: Nanoseconds?
  /// The first look is due; nil if nothing is with Slurm.
  var isLooking = false
  var wantsLook = false
  /// Slurm did not answer the last time, and that was said.
  var isAway = false
  var scanDelay: Nanoseconds = SlurmExecutor.shortestScan
  var scannedAt: Nanoseconds = 0
  /// Something has changed in a directory of results.
  var hasResults = false
  var watch: ResultWatch?
  /// Some job of this run was seen to reach the run's directory.
  var hasSeenClaim = false
  var cancelRetryAt: Nanoseconds = 0
  /// Jobs that belong to nothing any more.
  var unwanted: [String] = []
  /// Why Slurm takes no more jobs, as it was said last.
  var toldLimit: String?
  /// A job that was cancelled may still go on.
  var hasGivenUp = false
  var taken: [CommandKey: [UInt8]] = [:]
  /// The commands that go on without this run.
  var left: Set<CommandKey> = []
  /// Nothing is waited for that is to end.
  var isHurried = false
  /// Another run goes on with this one, and needs the files of its jobs.
  var isOvertaken = false
  /// How many jobs were asked to end and are not waited for, and of which that was not said.
  var unawaited = 0
  /// The tasks that have ended, and of which that is not decided yet.
  var endedTasks: [OperationID: [Int]] = [:]
  /// The tasks whose ends are decided, and not in the journal yet.
  var endedNumbers: [Int] = []

  /// How long tasks wait for others with which they may be submitted.
  static let collection: Nanoseconds = 20_000_000
  /// Slurm allows 1001 numbers in an array unless it is configured otherwise (`MaxArraySize`).
  static let largestArray = 1000
  static let shortestScan: Nanoseconds = 200_000_000
  static let longestScan: Nanoseconds = 2_000_000_000

  init(_ parts: SlurmParts, _ caller: any SlurmCaller, _ waiting: any Waiting) {
    self.parts = parts
    self.caller = caller
    self.waiting = waiting
    if let earlier = parts.earlier { inherit(from: earlier) }
  }

  let commandLimit = Int.max

  func holds(_ key: CommandKey) -> Bool { tasks[key] != nil }

  // MARK: Start

  func start(_ command: Command, at now: Nanoseconds) {
    guard let order = command.slurm else { return }
    do throws(SystemError) {
      let home = try openHome()
      let digest = command.taskDigest
      let task = SlurmTask(
        command, order, digest: digest, home: home, number: nextNumber,
        at: now, counts)
      task.shownName = parts.shownName(task.step, task.key)
      task.blockers = ending[command.key.operation] ?? []
      nextNumber += 1
      tasks[command.key] = task
      if try adopt(for: task) {
        wantsLook = true
      } else {
        hold(task, at: now)
      }
    } catch {
      // What an earlier run has of it may go on: it stays in the journal.
      hasGivenUp = true
      tasks[command.key] = nil
      news.append(
        .ended(command.key, CommandEnd(.notStarted(refusalMessage(error), exitCode: 126))))
    }
  }

  func openHome() throws(SystemError) -> TaskHome {
    if let home { return home }
    let files = try NodeFiles.make(in: parts.folder)
    let made = TaskHome(files, folder: parts.folder, run: parts.runID)
    journal = try SlurmJournal(in: files.path)
    home = made
    watch = ResultWatch(waiting)
    watch?.add(parts.folder)
    return made
  }

  /// Lets the task be submitted, with others that come in the next moment.
  func hold(_ task: SlurmTask, at now: Nanoseconds) {
    task.phase = .held
    task.seen = nil
    task.missedSince = nil
    held.append(task.key)
    heldDue = min(heldDue ?? .max, now + Self.collection)
  }

  // MARK: Stop

  func stop(_ key: CommandKey, with signal: Int32, at now: Nanoseconds) {
    guard let task = tasks[key] else { return }
    if task.stopSignal == nil { task.stopSignal = signal }
    asked.insert(key)
    if !task.isOut, task.phase != .examined {
      return end(task, CommandEnd(.signalled(signal), duration: now - task.startedAt), at: now)
    }
    if isHurried { return abandon(task, signal, at: now) }
    // A number from a journal may be that of another job by now: only a look shows what is to be cancelled.
    if task.job != nil, !task.isCancelled, task.phase != .examined { stopped.insert(key) }
    wantsLook = true
  }

  func kill(_ key: CommandKey, at now: Nanoseconds) {
    guard let task = tasks[key] else { return }
    stop(key, with: SIGKILL, at: now)
    guard tasks[key] != nil, task.killedAt == nil else { return }
    task.killedAt = now
    killed.insert(key)
    let isToBeTold = task.job != nil && task.phase != .examined
    if isToBeTold { toKill.append(key) }
    task.givenUpAt = now + (isToBeTold ? Self.longestKillWait : Self.killWait)
  }

  // MARK: The loop

  func ready(_ number: Int, at now: Nanoseconds) {
    if number == ResultWatch.number {
      if watch?.take() == true { hasResults = true }
    } else {
      caller.ready(number)
    }
  }

  func advance(to now: Nanoseconds) {
    for (number, answer) in caller.takeAnswers(at: now) { hear(answer, of: number, at: now) }
    cancelWhatIsStopped(at: now)
    killWhatIsStopped(at: now)
    submit(at: now)
    if lookDue.map({ $0 <= now }) == true { look(at: now) }
    if scanDue.map({ $0 <= now }) == true { scan(at: now) }
    giveUpKilled(at: now)
    if endingLimit.map({ $0 <= now }) == true { giveUpEnding() }
  }

  var deadline: Nanoseconds? {
    if tasks.isEmpty, calls.isEmpty, unwanted.isEmpty, ending.isEmpty, !isWatching { return nil }
    return [
      caller.deadline, submissionDue, lookDue, scanDue, cancellationDue, killDue, endingLimit,
    ].compactMap(\.self).min()
  }

  func takeNews() -> [CommandNews] {
    defer { news.removeAll(keepingCapacity: true) }
    tellUnawaited()
    return news
  }

  func outputs(of key: CommandKey) -> [UInt8]? { taken.removeValue(forKey: key) }

  var startTimes: [CommandKey: Nanoseconds] { tasks.mapValues(\.startedAt) }

  func close() {
    caller.close(after: takeLastCancellation())
    watch = nil
    // What others may need is left: the files of jobs that go on, and those by which they are found.
    if home != nil, !hasGivenUp, !isOvertaken, tasks.isEmpty, adoptable.isEmpty, endedTasks.isEmpty,
      endedNumbers.isEmpty,
      earlierHomes.values.allSatisfy(\.forbidden.isEmpty)
    {
      NodeFiles.remove(from: parts.directory)
    }
  }

  // MARK: Calls

  func call(_ call: SlurmCall, _ purpose: Purpose, at now: Nanoseconds) {
    calls[nextCall] = purpose
    caller.begin(call, number: nextCall, at: now)
    nextCall += 1
  }

  private func hear(_ answer: SlurmAnswer, of number: Int, at now: Nanoseconds) {
    switch calls.removeValue(forKey: number) {
    case .submission(let batch): submitted(batch, Submission(answer), at: now)
    case .look(let since): looked(answer, since: since, at: now)
    case .cancellation(let keys, let unwanted):
      cancelled(keys, unwanted: unwanted, answer, at: now)
    case .kill(let keys): killAnswered(keys, at: now)
    case .other, nil: break
    }
  }

  /// Keeps something about jobs; the run ends if it cannot be kept.
  func keep(_ body: (SlurmJournal) throws(SystemError) -> Void) {
    guard let journal else { return }
    do throws(SystemError) {
      try body(journal)
    } catch {
      news.append(.stateFailed(error.message))
    }
  }
}
