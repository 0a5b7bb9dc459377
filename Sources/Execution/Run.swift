// The loop of a run: the machine decides, the processes do, the observer is told. All waiting
// happens in one place.

import CLinux
package import Diagnostics
import Glibc
package import Pipelines
package import Scheduling

/// What the command line adds to a plan.
package struct RunOptions: Sendable {
  package var runID: String
  package var directory: RunDirectory
  /// Allowed failures make the exit status 1.
  package var isStrict = false
  /// For every command; the file's variables win.
  package var environment: [EnvironmentVariable] = []

  package init(runID: String, directory: RunDirectory) {
    self.runID = runID
    self.directory = directory
  }
}

/// Runs a plan to its end. Throws only when the machine refuses what a run needs before anything
/// was started.
package func run(
  _ plan: Plan, _ options: RunOptions, observer: inout some RunObserver
) throws(SystemError) -> RunEnd {
  openStandardStreams()
  clinux_close_on_exec_from(3)
  let loop = try RunLoop(plan, options)
  return loop.run(&observer)
}

/// One run in progress.
private final class RunLoop {
  private var machine: RunMachine
  private let processes: LocalProcesses
  private let builder: CommandBuilder
  private var signals: Signals
  private var readiness: Readiness
  private let start = monotonicNow()
  private var notices: [String] = []

  private static let signalToken = Int(UInt32.max)

  init(_ plan: Plan, _ options: RunOptions) throws(SystemError) {
    signals = try Signals()
    readiness = try Readiness()
    try readiness.add(signals.descriptor, token: RunLoop.signalToken)
    var limits = DescriptorLimits()
    let wanted = RunLoop.widest(plan)
    limits.raise(forCommands: wanted)
    if limits.commandCount < wanted {
      notices.append(
        "at most \(limits.commandCount) steps run at once: the limit on open files is "
          + "\(limits.soft) (ulimit -n)")
    }
    machine = RunMachine(
      plan: plan, isStrict: options.isStrict, commandLimit: limits.commandCount,
      seed: UInt64(bitPattern: start))
    builder = try CommandBuilder(
      plan: plan, runID: options.runID, directory: options.directory, added: options.environment)
    let inherited = getenv(Cookie.variable).map { String(cString: $0) }
    processes = LocalProcesses(
      cookie: Cookie(run: "\(options.runID).\(getpid())", inherited: inherited),
      conditions: LaunchConditions(
        defaultSignals: signals.ignoredAtStart, stoppingSignals: signals.handled, limits: limits))
  }

  /// Commands that could run at once if nothing but the queues limited them.
  private static func widest(_ plan: Plan) -> Int {
    let widths = plan.queues.reduce(0) {
      $0.addingReportingOverflow($1.width).overflow ? .max : $0 + $1.width
    }
    return min(widths, plan.steps.count)
  }

  func run(_ observer: inout some RunObserver) -> RunEnd {
    for notice in notices { observer.observe(RunEvent(at: 0, .notice(notice))) }
    machine.begin(at: now)
    while true {
      perform(&observer)
      if let end = machine.end { return leave(end, &observer) }
      observer.endTurn()
      turn()
    }
  }

  private var now: Nanoseconds { monotonicNow() - start }

  /// Waits for news and passes it on.
  private func turn() {
    let due = [machine.deadline, processes.deadline].compactMap { $0 }.min()
    let tokens = readiness.wait(nanoseconds: due.map { $0 - now })
    let time = now
    for token in tokens where token != RunLoop.signalToken {
      processes.absorb(token: token, at: time)
    }
    if tokens.contains(RunLoop.signalToken) {
      let arrived = signals.takeStopping()
      processes.reap(at: time)
      for signal in arrived { machine.signalled(signal, at: time) }
    }
    processes.examineLeftovers(at: time)
    machine.advance(to: time)
  }

  /// Does what the machine asks and tells it the news, until both have nothing more.
  private func perform(_ observer: inout some RunObserver) {
    while true {
      let time = now
      let actions = machine.takeActions()
      for action in actions { perform(action, at: time, &observer) }
      let news = processes.takeNews()
      for item in news { tell(item, at: time, &observer) }
      if actions.isEmpty, news.isEmpty { return }
    }
  }

  private func perform(
    _ action: RunMachine.Action, at time: Nanoseconds, _ observer: inout some RunObserver
  ) {
    switch action {
    case .start(let key): start(key, at: time)
    case .stop(let key, let signal): processes.stop(key, with: signal)
    case .kill(let key): processes.kill(key, at: time)
    case .decide(let operation):
      machine.decided(operation, machine.plan.decision(about: operation), at: time)
    case .tell(let event): observer.observe(RunEvent(at: time, event))
    }
  }

  private func tell(
    _ news: ProcessNews, at time: Nanoseconds, _ observer: inout some RunObserver
  ) {
    switch news {
    case .outputGrew(let key, let count):
      observer.observe(RunEvent(at: time, .outputGrew(key.operation, key.trial, byteCount: count)))
    case .orphansFound(let key, let found, let action):
      observer.observe(
        RunEvent(at: time, .orphansFound(key.operation, processes: found, action: action)))
    case .ended(let key, let end): machine.ended(key, end, at: time)
    case .logFailed(let message): machine.stateFailed(message, at: time)
    }
  }

  private func start(_ key: CommandKey, at time: Nanoseconds) {
    var variables: [String] = []
    if case .hook = key.trial { variables = machine.hookVariables(for: key.operation) }
    do throws(SystemError) {
      let request = try builder.request(
        key, attempt: machine.active[key.operation]?.attempt ?? 1, variables: variables)
      defer { builder.release(request) }
      try processes.start(request, at: time) { pipe throws(SystemError) in
        try readiness.add(pipe.input, token: pipe.token)
      }
    } catch {
      let end = CommandEnd(.notStarted(refusalMessage(error), exitCode: 126))
      machine.ended(key, end, at: time)
    }
  }

  /// The last words: whatever belongs to nobody is ended, then the observer hears the end.
  private func leave(_ end: RunEnd, _ observer: inout some RunObserver) -> RunEnd {
    processes.endStrays()
    observer.endTurn()
    return end
  }
}
