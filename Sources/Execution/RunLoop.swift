// The loop of a run: the machine decides, the executor acts, the observers are told. It knows
// neither processes nor pipes, and waits in one place.

import CLinux
package import Caching
package import Diagnostics
import Expressions
import Glibc
import Masking
package import Plans
package import RunFiles
import Running
package import Scheduling

/// The options that the command line adds to a plan.
package struct RunOptions {
  package var runID: String
  package var directory: RunDirectory
  /// The host as the first event reports it.
  package var host = RunHost(name: "", processorCount: 1)
  /// True if the run is left as soon as nothing can begin before a job in Slurm has ended.
  package var isDetached = false
  /// True if allowed failures make the exit status 1.
  package var isStrict = false
  /// True if something outside can resume or widen a queue: otherwise a run that can start nothing
  /// ends itself.
  package var canBeChangedFromOutside = false
  /// The version of oprun, for clients that ask the run something while it goes on; nil lets nobody ask.
  package var controlVersion: String?
  /// Variables for every command; those of the file win over these.
  package var environment: [EnvironmentVariable] = []
  /// The memory of earlier runs; nil if there is none.
  package var memory: (any RunMemory)?
  /// The trace that commands get in `TRACEPARENT`; nil gives them none.
  package var trace: TraceContext?
  /// The step whose commands are watched and not confined; nil for none.
  package var tracedStep: String?
  /// How the run shares slots with make.
  package var jobs = JobOptions()
  /// The secrets, which are masked in logs, in file names and in events.
  package var secrets = Secrets.none
  /// The results of earlier runs; nil if none are used.
  package var cache: StepCache?
  /// True if the state database, in which the run is recorded, is open already.
  package var isDatabaseOpen = false
  /// Steps that belong to the run and not to the plan, because they are up to date.
  package var unplanned: [UnchangedStep] = []
  /// The run that is resumed, whose jobs may go on.
  package var earlierJobs: EarlierJobs?
  /// Called when the run begins and has taken over open jobs.
  package var hasBegun: (() -> Void)?
  /// True if other processes of oprun use the directory, too: then only files of one's own commands
  /// are removed there.
  var sharesDirectory = false
  /// True if the logs of steps that are up to date are shown.
  package var showsCached = false
  /// The step whose exit status oprun passes on; nil for none.
  package var statusSource: OperationID?
  /// Shows a message to people after the end of the run has been shown; nil shows nothing.
  package var tellAtOnce: ((String) -> Void)?

  package init(runID: String, directory: RunDirectory) {
    self.runID = runID
    self.directory = directory
  }
}

/// Runs a plan to its end. Throws only if the machine refuses something that a run needs before
/// anything was started or reported. The observers are called in their order.
package func run(
  _ plan: Plan, _ options: RunOptions, observers: [any RunObserver],
  outlets: [any RunOutlet] = []
) throws(SystemError) -> RunEnd {
  clinux_close_on_exec_from(3)
  let plan = hasJobs(plan) ? plan.leavingWidthsToSlurm() : plan
  let waiting = try KernelWaiting()
  let workspace = try currentFolder()
  let folder = options.folder(from: workspace)
  let jobs = try JobSlots.open(for: plan, options, folder)
  let executor = try LocalProcesses(
    options, workspace: workspace, wanted: plan.commandCounts,
    besides: DescriptorUses(plan, options), jobs: jobs.slots?.access, waiting)
  if options.cache == nil, plan.slurm == nil, !plan.steps.isEmpty { executor.expectCommands() }
  let slurm = SlurmParts(plan, options, workspace: workspace)
  let parts = RunParts(
    waiting: waiting, executor: slurm?.executor(beside: executor, waiting) ?? executor,
    workspace: workspace, seed: UInt64(bitPattern: waiting.start), jobs: jobs,
    hostMutexes: try HostMutexes(plan, options.runID, workspace))
  let loop = RunLoop(plan, options, parts, observers: observers)
  loop.outlets = outlets
  return loop.run()
}

/// The means by which a run waits, and the executor of its commands. Tests have others.
struct RunParts {
  let waiting: any Waiting
  let executor: any Executor
  /// The absolute path of the directory where oprun was started.
  let workspace: String
  /// The seed of random numbers, which are delays of retries.
  let seed: UInt64
  var jobs = JobSlots.Opened()
  /// The mutexes of the machine.
  var hostMutexes: HostMutexes?
  /// True if no file is read and no process started, not even for `hashFiles`.
  var isRehearsal = false
}

/// One run in progress.
final class RunLoop {
  var machine: RunMachine
  let executor: any Executor
  let waiting: any Waiting
  var builder: CommandBuilder
  var observers: Observers
  /// Standard output and standard error, or one of them if both lead to one place.
  var outlets: [any RunOutlet] = []
  /// The descriptors whose readers the loop waits for.
  var watchedReaders: [Int32] = []
  /// The end as it was last reported.
  private(set) var end: RunEnd?
  private var passedOn: PassedOnStatus?
  let options: RunOptions
  let masker: Masker?
  var outputs = OutputStore()
  /// The findings about late steps.
  var findings = LateFindings()
  var outputFiles: OutputFiles
  /// Commands with a log whose ends are shown with the next actions of the machine.
  var endedTalkers: [CommandKey] = []

  /// The budget of the step that is being decided; its values are released when it ends.
  var valueBudget: ValueBudget?
  var hashing = FileHashing()
  var hashProcesses: [Int: HashProcess] = [:]
  var endedHashers: [Int32] = []
  /// Hooks that wait for files, and since when, by the operation they belong to.
  var waitingHooks: [OperationID: (key: CommandKey, since: Nanoseconds)] = [:]
  /// The bookkeeping of cached steps; nil if the run has none.
  let caching: RunCache?
  /// The slots that the run shares; nil if it shares none.
  let jobs: JobSlots?
  private let jobsNotice: String?
  /// The mutexes that the run shares with other runs; nil if its steps name none.
  let hostMutexes: HostMutexes?
  let isRehearsal: Bool
  /// News that come from no executor.
  var ownNews: [CommandNews] = []
  /// The clients that ask the run something from outside, and the state kept for their requests.
  var control = RunControl()
  /// The settings for Slurm; nil if no step is a job.
  let slurm: SlurmPlan?
  /// The operations that were added during the run.
  let added: AddedOperations

  init(
    _ plan: Plan, _ options: RunOptions, _ parts: RunParts, observers: [any RunObserver]
  ) {
    self.options = options
    slurm = plan.slurm
    waiting = parts.waiting
    executor = parts.executor
    masker = options.secrets.masker
    self.observers = Observers(observers, masker: masker)
    caching = options.cache.map { RunCache($0, processorCount: options.host.processorCount) }
    outputFiles = OutputFiles(in: options.directory)
    builder = CommandBuilder(workspace: parts.workspace, options: options)
    var rules = RunRules()
    rules.isStrict = options.isStrict
    rules.gatesAll = options.memory?.isOfEarlierRun ?? false
    if let memory = options.memory { rules.idleSteps = memory.idleSteps }
    rules.asksAtStart = options.cache != nil
    rules.commandLimit = executor.commandLimit
    rules.sharesHostMutexes = parts.hostMutexes != nil
    machine = RunMachine(plan: plan, rules: rules, seed: parts.seed)
    added = AddedOperations(to: plan)
    machine.canBeChangedFromOutside =
      options.canBeChangedFromOutside || options.controlVersion != nil
    if options.controlVersion != nil { control.listeningDue = RunLoop.listeningDelay }
    isRehearsal = parts.isRehearsal
    jobs = parts.jobs.slots
    hostMutexes = parts.hostMutexes
    jobsNotice = parts.jobs.notice
    builder.sharesJobsByDefault = jobs?.sharesByDefault
  }

  func run() -> RunEnd {
    defer { hostMutexes?.giveBack() }
    tell(.began(beginning), at: 0)
    for item in executor.takeNews() { hear(item, at: 0) }
    if machine.stopReason == nil { options.hasBegun?() }
    if let jobsNotice { tell(.notice(jobsNotice), at: 0) }
    hearFailures(at: now)
    if let jobs { machine.grantAtStart(jobs.tokens.slots) }
    promiseWhatGoesOn()
    machine.begin(at: now)
    while true {
      perform()
      if let end { return leave(end) }
      if leavesJobs(at: turnTime) { continue }
      let time = beginTurn()
      observers.endTurn(at: time)
      tellRecorded()
      writeCache(at: time)
      if !hearFailures(at: time) { turn() }
    }
  }

  var now: Nanoseconds { waiting.now }

  /// The time of all events that are reported in this turn.
  private(set) var turnTime: Nanoseconds = 0

  private func beginTurn() -> Nanoseconds {
    turnTime = now
    return turnTime
  }

  private var beginning: RunBeginning {
    RunBeginning(
      runID: options.runID, clock: waiting.clock,
      host: options.host, processID: getpid(), marks: executor.marks, trace: options.trace)
  }

  /// Waits for news and passes it on.
  private func turn() {
    watchReaders()
    var due = earlier(machine.deadline, executor.deadline)
    due = earlier(earlier(due, observers.deadline), caching?.deadline)
    due = earlier(earlier(due, hostMutexes?.deadline), control.deadline)
    let ready = waiting.wait(until: due)
    let time = beginTurn()
    for item in ready { pass(item, at: time) }
    // A command that ended while oprun was stopped, or had to wait for the processor, has not timed
    // out. It may have ended between the look and the clock, so there is another look before a time
    // limit passes.
    if isDue(machine.deadline, at: time) {
      for item in waiting.look() { pass(item, at: time) }
    }
    // Observers that are due come first: clients that ask the run something find it recorded.
    if isDue(control.deadline, at: time), !isDue(observers.deadline, at: time) {
      tendControl(at: time)
    }
    retryLocked(at: time)
    useAnswers(at: time)
    executor.advance(to: time)
    for item in executor.takeNews() { hear(item, at: time) }
    machine.advance(to: time)
  }

  private func isDue(_ deadline: Nanoseconds?, at time: Nanoseconds) -> Bool {
    deadline.map { $0 <= time } ?? false
  }

  /// Passes news to its owner.
  func pass(_ item: Ready, at time: Nanoseconds) {
    switch item.owner {
    case .signals:
      signalled(Int32(item.number), at: time)
    case .watcher:
      hurryIfAskedBefore(at: time)
      machine.endRequested(by: StopReason.watcher, at: time)
      machine.advance(to: time)
    case .executor: executor.ready(item.number, at: time)
    case .hashing: takeDigest(item.number, at: time)
    case .caching: takeReply(item.number, at: time)
    case .readers: resumeOutput()
    case .jobControl: obey(Int32(item.number))
    case .jobs: break
    case .control: hearControl(item.number, at: time)
    }
  }

  /// Does what the machine requests and reports the news to it, until neither has anything more.
  private func perform() {
    while true {
      let time = beginTurn()
      let actions = machine.takeActions()
      machine.holdStarts()
      for action in actions { perform(action, at: time) }
      machine.startHeld(at: time)
      if end != nil { return }
      startAll(of: actions, at: time)
      closeLogs()
      var news = executor.takeNews()
      if !ownNews.isEmpty {
        news += ownNews
        ownNews = []
      }
      for item in news { hear(item, at: time) }
      let isQuiet = actions.isEmpty && news.isEmpty && !hashFiles(at: time)
      if isQuiet, !askCache(at: time), !shareSlots(at: time), !shareMutexes(at: time) { return }
    }
  }

  /// Performs actions. Everything they report is recorded before the first of their commands starts.
  private func startAll(of actions: [RunMachine.Action], at time: Nanoseconds) {
    var isRecorded = false
    for case .start(let key) in actions {
      if !isRecorded {
        observers.commit()
        tellRecorded()
        hearFailures(at: time)
        isRecorded = true
      }
      start(key, at: time)
    }
  }

  /// Reports failures of observers to the machine; false if there are none.
  @discardableResult
  private func hearFailures(at time: Nanoseconds) -> Bool {
    let failures = observers.takeFailures()
    for failure in failures { hear(failure, at: time) }
    return !failures.isEmpty
  }

  /// Performs an action, except those that start commands.
  private func perform(_ action: RunMachine.Action, at time: Nanoseconds) {
    switch action {
    case .start: break
    case .stop(let key, let signal):
      // What is being kept of a command that has succeeded is complete soon, and is given up only with the rest.
      if dropWaitingHook(key, at: time) || caching?.isKeeping(key) == true { break }
      executor.stop(key, with: signal, at: time)
    case .kill(let key):
      if dropWaitingHook(key, at: time) || dropKeeping(key, at: time) { break }
      executor.kill(key, at: time)
    case .decide(let operation, let question): decide(operation, question, at: time)
    case .publish(let key): publish(key, at: time)
    case .tell(.finished(let end)): finish(end, at: time)
    case .tell(let event): tell(event, at: time)
    }
  }

  func tell(_ event: RunEvent.Kind, at time: Nanoseconds) {
    observers.tell(event, at: time)
    if let source = options.statusSource, case .ended(source, .attempt, let end) = event {
      passedOn = PassedOnStatus(end.shellStatus, of: source)
    }
    if control.isOpen { noteForOutside(event, at: time) }
    follow(event, at: time)
    if let caching { learn(event, caching, at: time) }
  }

  private func tellRecorded() {
    if observers.hasRecordedAll { executor.openJobs?.recorded() }
  }

  /// Reports the last event. The guardians end meanwhile, unless they still have processes of the
  /// cache to watch, or the ends of jobs are yet to be recorded.
  private func finish(_ end: RunEnd, at time: Nanoseconds) {
    var end = end
    // The reason why a run was stopped says more than the exit status of one of its steps.
    if !end.wasStopped { end.passedOn = passedOn }
    if !end.wasStopped, executor.isOnCluster {
      executor.openJobs?.conclude()
      for case .event(let event) in executor.takeNews() { tell(event, at: time) }
    }
    if closesEarly { executor.close() }
    self.end = observers.finish(confirmed(end), at: time)
    tellRecorded()
  }

  private var closesEarly: Bool { caching == nil && !executor.isOnCluster }

  /// Finishes: ends processes that belong to nothing, and lets readers read the rest of the output.
  private func leave(_ end: RunEnd) -> RunEnd {
    endControl(end)
    endHashing()
    finishStoring(after: end)
    endCaching()
    if !closesEarly { executor.close() }
    awaitOwnProcesses(after: end)
    closeJobs()
    if masker != nil { OutputFiles.removeAll(in: builder.folder) }
    awaitReaders(after: end)
    return end
  }
}
