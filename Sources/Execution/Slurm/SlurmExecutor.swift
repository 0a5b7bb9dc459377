// Slurm as an executor: submits commands as jobs, and learns how they end from the files that the
// jobs write. Slurm's own answers only explain why there is no such file. docs/design-slurm.md

import Diagnostics
import Glibc
import Masking
import Plans
import RunFiles
import Running
import Scheduling

/// The parts of a run that an executor for Slurm needs.
struct SlurmParts {
  let plan: SlurmPlan
  let runID: String
  let directory: RunDirectory
  /// The directory of the run, and where oprun was started; absolute.
  let folder: String
  let workspace: String
  /// The values of secrets, for oprun on the node, which masks them.
  let secrets: [String]
  /// Inherited variables that hold a secret: jobs get them in a file.
  let secretVariables: [EnvironmentVariable]
  /// The run that is resumed.
  let earlier: EarlierJobs?
  /// Hides secrets in names that others see.
  var masker: Masker?
  /// True if jobs find a copy of this program in the directory of the run.
  var copiesProgram = true
}

final class SlurmExecutor: Executor, OpenJobs {
  static let second: Nanoseconds = 1_000_000_000

  let parts: SlurmParts
  let caller: any SlurmCaller
  let waiting: any Waiting
  var plan: SlurmPlan { parts.plan }

  // MARK: Tasks

  var tasks: [CommandKey: SlurmTask] = [:]
  /// Counts the tasks by phase.
  let counts = SlurmCounts()
  var held = HeldTasks()
  var arrayLimits = ArrayLimits()
  var stops = StopRequests()
  /// The tasks whose jobs run, or have ended without a result.
  var noticed: Set<CommandKey> = []
  /// The tasks that have ended and whose ends are not in the journal yet.
  var ends = TaskEnds()
  /// The outputs of commands that have ended.
  var taken: [CommandKey: [UInt8]] = [:]
  var nextNumber = 1
  /// The number of submissions.
  var batchCount = 0

  // MARK: Files

  /// The files of this run's tasks; made with the first of them.
  var home: TaskHome?
  var journal: SlurmJournal?
  var watch: ResultWatch?
  var scans = ResultScans()
  /// True if the copy of the program is there, which is made for the first job.
  var hasProgram = false
  /// True if some job of this run was seen to reach the run's directory.
  var hasSeenClaim = false

  // MARK: Slurm

  var calls = OpenCalls()
  var looks: QueueLooks
  /// True if Slurm did not answer the last time, and that was reported.
  var isAway = false
  /// The last reported reason why Slurm takes no more jobs.
  var toldLimit: String?

  // MARK: Other runs

  var earlier = EarlierTasks()
  /// Homes of earlier runs whose jobs were taken over.
  var earlierHomes: [String: TaskHome] = [:]
  /// Tasks of earlier runs that must end, by the operations that do not start, or wait for that.
  var ending: [OperationID: [SlurmTask.Blocker]] = [:]
  /// When those are no longer waited for; nil as long as the run goes on.
  var endingDue: Nanoseconds?
  /// Jobs for which steps of this run wait, by the locks of the steps.
  var watched: [String: WatchedJob] = [:]

  // MARK: The end of the run

  /// True if a job that was cancelled may still go on.
  var hasGivenUp = false
  /// The commands that go on without this run.
  var left: Set<CommandKey> = []
  /// True if nothing is waited for that is to end.
  var isHurried = false
  /// True if another run goes on with this one, and needs the files of its jobs.
  var isOvertaken = false
  /// The number of jobs that were asked to end and are not waited for, as far as it was not reported.
  var unawaited = 0

  var news: [CommandNews] = []

  init(_ parts: SlurmParts, _ caller: any SlurmCaller, _ waiting: any Waiting) {
    self.parts = parts
    self.caller = caller
    self.waiting = waiting
    looks = QueueLooks(poll: parts.plan.poll)
    if let earlier = parts.earlier { inherit(from: earlier) }
  }

  let commandLimit = Int.max

  func holds(_ key: CommandKey) -> Bool { tasks[key] != nil }

  // MARK: Start

  func start(_ command: Command, at now: Nanoseconds) {
    guard let order = command.slurm else { return }
    do throws(SystemError) {
      let home = try openHome()
      let task = SlurmTask(command, order, home: home, number: nextNumber, at: now, counts)
      task.shownName = parts.shownName(task.step, task.key)
      task.blockers = ending[command.key.operation] ?? []
      nextNumber += 1
      tasks[command.key] = task
      if try adopt(for: task) {
        looks.want()
      } else {
        hold(task, at: now)
      }
    } catch {
      // A task of an earlier run may go on: it stays in the journal.
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
    held.append(task.key, at: now)
  }

  // MARK: Stop

  func stop(_ key: CommandKey, with signal: Int32, at now: Nanoseconds) {
    guard let task = tasks[key] else { return }
    if task.stopSignal == nil { task.stopSignal = signal }
    stops.ask(key)
    if !task.isOut, task.phase != .examined {
      return end(task, CommandEnd(.signalled(signal), duration: now - task.startedAt), at: now)
    }
    if isHurried { return abandon(task, signal, at: now) }
    // A number from a journal may be that of another job by now: only a look shows what is to be cancelled.
    if task.job != nil, !task.isCancelled, task.phase != .examined { stops.tell(key) }
    looks.want()
  }

  func kill(_ key: CommandKey, at now: Nanoseconds) {
    guard let task = tasks[key] else { return }
    stop(key, with: SIGKILL, at: now)
    guard tasks[key] != nil, task.killedAt == nil else { return }
    task.killedAt = now
    stops.kill(key)
    let isToBeTold = task.job != nil && task.phase != .examined
    if isToBeTold { stops.tellKill(key) }
    task.givenUpAt = now + (isToBeTold ? Self.longestKillWait : Self.killWait)
  }

  // MARK: The loop

  func ready(_ number: Int, at now: Nanoseconds) {
    if number == ResultWatch.number {
      if watch?.take() == true { scans.noteChange() }
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
    if tasks.isEmpty, calls.isEmpty, stops.unwantedJobs.isEmpty, ending.isEmpty, !isWatching {
      return nil
    }
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
    // Files that others may need are left: those of jobs that go on, and those by which they are
    // found.
    if home != nil, !hasGivenUp, !isOvertaken, tasks.isEmpty, earlier.isEmpty, ends.isEmpty,
      earlierHomes.values.allSatisfy(\.forbidden.isEmpty)
    {
      NodeFiles.remove(from: parts.directory)
    }
  }

  // MARK: Calls

  func call(_ call: SlurmCall, _ purpose: OpenCalls.Purpose, at now: Nanoseconds) {
    caller.begin(call, number: calls.add(purpose), at: now)
  }

  private func hear(_ answer: SlurmAnswer, of number: Int, at now: Nanoseconds) {
    switch calls.remove(number) {
    case .submission(let batch): submitted(batch, Submission(answer), at: now)
    case .look(let since): looked(answer, since: since, at: now)
    case .cancellation(let keys, let unwanted):
      cancelled(keys, unwanted: unwanted, answer, at: now)
    case .kill(let keys): killAnswered(keys, at: now)
    case .other, nil: break
    }
  }

  /// Writes to the journal of jobs; the run ends if that fails.
  func keep(_ body: (SlurmJournal) throws(SystemError) -> Void) {
    guard let journal else { return }
    do throws(SystemError) {
      try body(journal)
    } catch {
      news.append(.stateFailed(error.message))
    }
  }
}
