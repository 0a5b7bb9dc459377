// The loop of a run: the machine decides, the processes do, the observers are told. All waiting
// happens in one place.

import CLinux
package import Diagnostics
import Glibc
import Masking
package import Pipelines
package import RunFiles
package import Scheduling

/// What the command line adds to a plan.
package struct RunOptions {
  package var runID: String
  package var directory: RunDirectory
  /// As the first event tells it.
  package var host = RunHost(name: "", processorCount: 1)
  /// Allowed failures make the exit status 1.
  package var isStrict = false
  /// A run of which nothing may start ends itself, unless somebody can change that: resume a queue,
  /// or widen one.
  package var canBeChangedFromOutside = false
  /// For every command; the file's variables win over these.
  package var environment: [EnvironmentVariable] = []
  /// Masked in logs, in the names of files and in events.
  package var secrets = Secrets.none

  package init(runID: String, directory: RunDirectory) {
    self.runID = runID
    self.directory = directory
  }
}

/// Runs a plan to its end. Throws only when the machine refuses what a run needs before anything
/// was started or told. The observers are told in their order.
package func run(
  _ plan: Plan, _ options: RunOptions, observers: [any RunObserver],
  outlets: [any RunOutlet] = []
) throws(SystemError) -> RunEnd {
  clinux_close_on_exec_from(3)
  let loop = try RunLoop(plan, options, observers: observers, outlets: outlets)
  return loop.run()
}

/// One run in progress.
final class RunLoop {
  var machine: RunMachine
  let processes: LocalProcesses
  let builder: CommandBuilder
  var signals: Signals
  var readiness: Readiness
  var observers: Observers
  /// Standard output and standard error, or one of them if both lead to one place.
  let outlets: [any RunOutlet]
  /// Descriptors whose readers are waited for.
  var watchedReaders: [Int32] = []
  private let start = monotonicNow()
  private var notices: [String] = []
  /// As it was told last.
  private var end: RunEnd?
  let options: RunOptions
  private let masker: Masker?
  var outputs = OutputStore()
  /// The outputs of all instances of groups that have ended.
  var lists: [OperationID: Value] = [:]
  private var outputFiles: OutputFiles
  /// Commands that cannot run, and why: a value that has no place in them.
  var refusals: [OperationID: [StepPart: String]] = [:]

  /// Of the step that is decided: values are dropped when it ends.
  var valueBudget: ValueBudget?
  var hashing = FileHashing()
  var hashProcesses: [Int: HashProcess] = [:]
  var endedHashers: [Int32] = []
  /// When hooks of a run that is being stopped wait no longer for files.
  var hashingDue: Nanoseconds?

  static let signalToken = Int(UInt32.max)
  static let readerToken = signalToken - 1
  static let firstHashToken = readerToken - FileHashing.width
  /// Tokens from here on are not those of commands' pipes.
  static let firstOwnToken = firstHashToken

  init(
    _ plan: Plan, _ options: RunOptions, observers: [any RunObserver], outlets: [any RunOutlet]
  ) throws(SystemError) {
    self.options = options
    self.outlets = outlets
    masker = options.secrets.masker
    self.observers = Observers(observers, masker: masker)
    outputFiles = OutputFiles(in: options.directory)
    signals = try Signals()
    readiness = try Readiness()
    try readiness.add(signals.descriptor, token: RunLoop.signalToken)
    var limits = DescriptorLimits()
    let wanted = RunLoop.widest(plan)
    try limits.makeRoom(forCommands: wanted)
    if limits.commandCount < wanted {
      notices.append(
        (limits.commandCount == 1
          ? "one step runs at a time: " : "at most \(limits.commandCount) steps run at once: ")
          + "the limit on open files is "
          + "\(limits.soft) (ulimit -n)")
    }
    machine = RunMachine(
      plan: plan, isStrict: options.isStrict, commandLimit: limits.commandCount,
      seed: UInt64(bitPattern: start))
    machine.canBeChangedFromOutside = options.canBeChangedFromOutside
    builder = try CommandBuilder(plan: plan, options: options)
    let inherited = getenv(Cookie.variable).map { String(cString: $0) }
    processes = LocalProcesses(
      cookie: Cookie(run: "\(options.runID).\(getpid())", inherited: inherited),
      conditions: LaunchConditions(
        defaultSignals: signals.ignoredAtStart, stoppingSignals: signals.handled, limits: limits,
        sparePipes: limits.spareCount(besides: min(wanted, limits.commandCount))),
      directory: options.directory, masker: masker,
      outputFolder: masker == nil ? nil : builder.folder, start: start)
  }

  /// Commands that could run at once if nothing but the queues limited them.
  private static func widest(_ plan: Plan) -> Int {
    let widths = plan.queues.reduce(0) {
      $0.addingReportingOverflow($1.width).overflow ? .max : $0 + $1.width
    }
    // What is expanded while running may be any number.
    let grows = plan.steps.contains { $0.late?.expands == true }
    return grows ? widths : min(widths, plan.steps.count)
  }

  func run() -> RunEnd {
    tell(.began(beginning), at: 0)
    for notice in notices { tell(.notice(notice), at: 0) }
    hearFailures(at: now)
    machine.begin(at: now)
    while true {
      perform()
      if let end { return leave(end) }
      let time = now
      observers.endTurn(at: time)
      if !hearFailures(at: time) { turn() }
    }
  }

  var now: Nanoseconds { monotonicNow() - start }

  private var beginning: RunBeginning {
    RunBeginning(
      runID: options.runID, clock: RunClock(wallTime: wallNow() - now, monotonicTime: start),
      host: options.host, processID: getpid())
  }

  /// Waits for news and passes it on.
  private func turn() {
    watchReaders()
    let due = [machine.deadline, processes.deadline, hashingDue, observers.deadline]
      .compactMap { $0 }.min()
    let tokens = readiness.wait(nanoseconds: due.map { $0 - now })
    let time = now
    for token in tokens where token < RunLoop.firstOwnToken {
      processes.absorb(token: token, at: time)
    }
    if tokens.contains(RunLoop.signalToken) {
      let arrived = signals.takeStopping()
      processes.reap(at: time)
      for signal in arrived { machine.signalled(signal, at: time) }
    }
    processes.examineLeftovers(at: time)
    machine.advance(to: time)
    for token in tokens where (RunLoop.firstHashToken..<RunLoop.readerToken).contains(token) {
      takeDigest(token - RunLoop.firstHashToken, at: time)
    }
    if tokens.contains(RunLoop.readerToken) { resumeOutput() }
  }

  /// Does what the machine asks and tells it the news, until both have nothing more.
  private func perform() {
    while true {
      let time = now
      let actions = machine.takeActions()
      for action in actions { perform(action, at: time) }
      if end != nil { return }
      startAll(of: actions, at: time)
      processes.closeLogs()
      let news = processes.takeNews()
      for item in news { tell(item, at: time) }
      if actions.isEmpty, news.isEmpty, !hashFiles(at: time) { return }
    }
  }

  /// Whatever the actions tell is kept before the first of their commands starts.
  private func startAll(of actions: [RunMachine.Action], at time: Nanoseconds) {
    var isKept = false
    for case .start(let key) in actions {
      if !isKept {
        observers.commit()
        hearFailures(at: time)
        isKept = true
      }
      start(key, at: time)
    }
  }

  /// Passes on what observers could not do; false if there is nothing.
  @discardableResult
  private func hearFailures(at time: Nanoseconds) -> Bool {
    let failures = observers.takeFailures()
    for message in failures { machine.observerFailed(message, at: time) }
    return !failures.isEmpty
  }

  /// All but what starts commands.
  private func perform(_ action: RunMachine.Action, at time: Nanoseconds) {
    switch action {
    case .start: break
    case .stop(let key, let signal): processes.stop(key, with: signal)
    case .kill(let key): processes.kill(key, at: time)
    case .decide(let operation, let question): decide(operation, question, at: time)
    case .resolveRun: concludeIfResolved(at: time)
    case .tell(.finished(let end)): finish(end, at: time)
    case .tell(let event): tell(event, at: time)
    }
  }

  private func tell(_ event: RunEvent.Kind, at time: Nanoseconds) {
    observers.tell(event, at: time)
  }

  private func tell(_ news: ProcessNews, at time: Nanoseconds) {
    switch news {
    case .outputGrew(let key, _) where key.trial.isProbe: break
    case .ended(let key, let end) where key.trial.isProbe: lookEnded(key, end, at: time)
    case .outputGrew(let key, let count):
      tell(.outputGrew(key.operation, key.trial, byteCount: count), at: time)
    case .orphansFound(let key, let found, let action):
      tell(.orphansFound(key.operation, processes: found, action: action), at: time)
    case .outOfReach(let key, let found):
      tell(.outOfReach(key.operation, processes: found), at: time)
    case .ended(let key, let end):
      let end = takeOutputs(of: key, end, at: time)
      removeOutputs(of: key)
      machine.ended(key, end, stateFault: stateFault, at: time)
    case .logFailed(let message): machine.stateFailed(message, at: time)
    case .logLost(let path):
      tell(
        .notice("the log \(quoted(path)) was removed or replaced while its command ran"), at: time)
    }
  }

  /// A look at a condition leaves no log.
  private func lookEnded(_ key: CommandKey, _ end: CommandEnd, at time: Nanoseconds) {
    var lastWords: String?
    if let log = options.directory.logs.log(of: key.operation, key.trial) {
      if end.status != .exited(0) { lastWords = LastWords.line(of: log) }
      let step = machine.plan.steps[key.operation.index].id
      options.directory.remove(builder.logName(of: key, step: step))
    }
    removeOutputs(of: key)
    machine.ended(key, end, lastWords: lastWords, at: time)
  }

  /// A success publishes what the command gave; outputs that cannot be used make it a failure.
  private func takeOutputs(
    of key: CommandKey, _ end: CommandEnd, at time: Nanoseconds
  ) -> CommandEnd {
    guard case .attempt = key.trial, end.status == .exited(0),
      let active = machine.active[key.operation], active.stopCause == nil
    else { return end }
    do throws(OutputFault) {
      let step = machine.plan.steps[key.operation.index].id
      let taken = try outputFiles.take(
        of: key.operation, from: builder.outputsName(of: key, step: step),
        declared: active.settings.outputs)
      guard let taken else { return end }
      outputs.publish(taken, of: key.operation)
      tell(.published(key.operation, taken.published), at: time)
      return end
    } catch {
      return end.with(.outputsRefused(error.message))
    }
  }

  /// In a run with secrets nothing stays of what a command wrote to `OPRUN_OUTPUT`, however it ended.
  private func removeOutputs(of key: CommandKey) {
    guard masker != nil else { return }
    let isRun = key.operation == CommandKey.runOperation
    let step = isRun ? RunDirectory.runHookName : machine.plan.steps[key.operation.index].id
    options.directory.remove(builder.outputsName(of: key, step: step))
  }

  private func start(_ key: CommandKey, at time: Nanoseconds) {
    guard machine.mayStart(key, at: time) else { return }
    if let part = key.trial.part, let refusal = refusals[key.operation]?[part] {
      return machine.ended(key, CommandEnd(.notStarted(refusal, exitCode: 126)), at: time)
    }
    if case .attempt = key.trial {
      outputFiles.attemptStarted(
        key.operation,
        name: builder.outputsName(of: key, step: machine.plan.steps[key.operation.index].id))
    }
    do throws(SystemError) {
      try processes.prepare()
      let request = try builder.request(key, machine.command(of: key))
      defer { builder.release(request) }
      try processes.start(request, at: time) { pipe throws(SystemError) in
        try readiness.add(pipe.input, token: pipe.token)
      }
    } catch {
      let end = CommandEnd(.notStarted(refusalMessage(error), exitCode: 126))
      machine.ended(key, end, at: time)
    }
  }

  var isFolderGone: Bool { outputFiles.isFolderGone }

  /// The last event.
  private func finish(_ end: RunEnd, at time: Nanoseconds) {
    self.end = observers.finish(confirmed(end), at: time)
  }

  /// The last words: whatever belongs to nobody is ended, and readers take the rest.
  private func leave(_ end: RunEnd) -> RunEnd {
    endHashing()
    processes.endStrays()
    if masker != nil { OutputFiles.removeAll(in: builder.folder) }
    awaitReaders(after: end)
    return end
  }
}

extension Trial {
  fileprivate var isProbe: Bool { if case .probe = self { true } else { false } }

  /// What of the step it is a try of; nil for a look at a condition.
  fileprivate var part: StepPart? {
    switch self {
    case .attempt: .attempt
    case .hook(let kind, let index): .hook(kind, index: index)
    case .probe: nil
    }
  }
}
