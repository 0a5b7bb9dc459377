// Runs commands as processes on this machine: start, signal, output, end. It does not know why a
// command is started or stopped, nor what follows.

import CLinux
import Diagnostics
import Glibc
import Masking
import Plans
import RunFiles
import Running
import Scheduling

/// The running commands. Each has a process group, a pipe that outlives it, and a log.
final class LocalProcesses {
  var commands: [RunningCommand] = []
  var waitingStarts: [WaitingStart] = []
  var children: Children
  var news: [CommandNews] = []
  let cookie: Cookie
  /// The mark of everything that this run starts; nil if there can be none, or if another run's
  /// mark serves.
  let mark: DescentMark?
  /// The numbers of commands whose orphans may live on.
  var tolerated: Set<Int> = []

  let waiting: KernelWaiting
  private let launcher: Launcher
  private let workspace: String
  lazy var confiner = Confiner(
    workspace: workspace, openLimit: limits.outsideCount(besides: wanted), temporary)
  let temporary: TemporaryFolders
  private var conditions: LaunchConditions
  let directory: RunDirectory
  private let masker: Masker?
  private let outputFolder: String?
  let wanted: Int
  var guardian: Guardian?
  private var controlGroup: ControlGroup?
  private var peakMemory = PeakMemory()
  private(set) var nextNumber = 1
  private var launches: [LaunchSlot] = []
  /// The slots with rules that a new process may still read.
  private var slotsWithRules: [LaunchSlot] = []
  let pipes: OutputPipes
  /// The terminal of oprun; nil if it has none, or no command has had a terminal yet.
  var keyboard: Keyboard?
  /// The number of waits of `awaitProgram` in this turn.
  var naps = 0
  /// When commands with a terminal that do not have the keys are looked at.
  var terminalsDue: Nanoseconds?

  /// Must be made when the descriptors that a run waits with are open. No more commands than
  /// `counts` says will run at the same time, and it must be possible to run as few; the run opens `others`
  /// besides. The workspace is where oprun was started; absolute. In a run
  /// with secrets, no outputs that commands wrote may stay in the directory of the run, not even after
  /// oprun was killed.
  init(
    _ options: RunOptions, workspace: String, wanted counts: ClosedRange<Int>,
    besides others: DescriptorUses = DescriptorUses(), jobs: JobAccess?, _ waiting: KernelWaiting
  ) throws(SystemError) {
    self.waiting = waiting
    let wanted = counts.upperBound
    self.wanted = wanted
    self.workspace = workspace
    directory = options.directory
    temporary = TemporaryFolders(in: directory, own: waiting.ownProcesses)
    masker = options.secrets.masker
    outputFolder =
      masker == nil || options.sharesDirectory ? nil : options.folder(from: workspace)
    var limits = try DescriptorLimits(isDatabaseOpen: options.isDatabaseOpen, others)
    try limits.makeRoom(forCommands: counts)
    launcher = try Launcher(jobs: jobs, inherited: options.jobs.inherited)
    let inherited = environmentValue(Cookie.variable)
    cookie = Cookie(run: "\(options.runID).\(getpid())", inherited: inherited)
    conditions = LaunchConditions(
      defaultSignals: waiting.signals.ignoredAtStart, stoppingSignals: waiting.signals.handled,
      limits: limits)
    pipes = OutputPipes(waiting, spare: limits.spareCount(besides: wanted) / 2)
    children = Children(isListKeptOpen: !limits.isFrugal, own: waiting.ownProcesses)
    mark = DescentMark(isNeeded: children.adoptsOthers)
    conditions.mark = mark
    waiting.addChildren(for: .executor, number: LocalProcesses.children)
    waiting.addResizing(for: .executor, number: LocalProcesses.resizing)
    if limits.commandCount < wanted { news.append(.event(.notice(fewCommands(limits)))) }
  }

  var limits: DescriptorLimits { conditions.limits }

  // MARK: Start

  /// Starts a command; the text of the error says why it cannot be. `found` are the files that it was found to read.
  func launch(
    _ command: Command, found: [FileName]? = [], at now: Nanoseconds
  ) throws(SystemError) {
    // This is done before the descriptors of a command are opened, because a guardian needs some to
    // start.
    if guardian == nil { try startGuardian() }
    var request = try launcher.request(for: command)
    let (script, input) = (request.script, request.input)
    defer { launcher.release(script: script, input: input) }
    request.prepared = try prepare(command, found, at: now)
    let pipe: OutputPipe
    do throws(SystemError) {
      pipe = try command.usesTerminal ? terminal() : pipes.pipe()
    } catch {
      request.prepared?.end()
      throw error
    }
    let slot = launches.first { $0.isFree } ?? addLaunchSlot()
    request.output = pipe.output
    request.isTerminal = pipe.isTerminal
    if pipe.isTerminal, command.input == nil { request.input = pipe.output }
    request.cookie = cookie.value(of: nextNumber)
    request.number = nextNumber
    let ticks = ticksSinceBoot()
    let process = slot.start(request, conditions)
    conditions.guardian.letRun()
    if request.prepared?.isConfined == true { slotsWithRules.append(slot) }
    guard process > 0 else {
      request.prepared?.end()
      pipes.putBack(pipe)
      throw SystemError("cannot start a process", errno: -process)
    }
    let running = RunningCommand(
      command, number: nextNumber, processID: process, startedAt: now, startTicks: ticks,
      program: request.arguments[0], pipe: pipe, launch: slot,
      log: Log(
        name: command.logName, in: directory, limit: command.limits.logSize, masker: masker))
    running.prepared = request.prepared
    nextNumber += 1
    pipes.use(pipe, by: running)
    commands.append(running)
    guardian?.note(group: process, slot: pipe.token)
    if pipe.isTerminal { terminalsDue = now }
    if keyboard != nil { giveKeys() }
    peakMemory.look()
  }

  /// Makes what the command of a cached step needs to start.
  private func prepare(
    _ command: Command, _ found: [FileName]?, at now: Nanoseconds
  ) throws(SystemError) -> PreparedStart? {
    guard command.confinement != nil else { return nil }
    let prepared = try confiner.start(of: command, in: directory, found: found, at: now)
    for notice in confiner.takeNotices() { news.append(.event(.notice(notice))) }
    return prepared
  }

  /// Closes what lies beside the workspace for processes that have their program.
  func forgetRules() {
    if !slotsWithRules.isEmpty { slotsWithRules.removeAll { $0.forgetRules() } }
  }

  /// Starts the guardian for a run that is about to start commands. Until the first of them, oprun has some 100 µs of
  /// other work: then the guardian sleeps again, and the kernel gives its processor to the command. Where it did not, the
  /// command would wait until oprun has nothing to do. If it cannot be started, the first command says why.
  func expectCommands() { try? startGuardian() }

  private func startGuardian(needsProgram: Bool = true) throws(SystemError) {
    if controlGroup == nil, conditions.limits.hasControlGroup {
      controlGroup = ControlGroup(name: cookie.name)
      conditions.controlGroup = controlGroup?.folder
    }
    conditions.guardian.expect()
    // If there can be none, commands that are about to load their programs must not wait for it.
    defer { if guardian == nil { conditions.guardian.giveUp() } }
    let started = try Guardian.start(
      Sweep(
        cookie: cookie, mark: mark, controlGroup: controlGroup?.path, outputFolder: outputFolder),
      conditions.guardian, needsProgram: needsProgram)
    children.exempt(started.processID)
    for command in commands where !command.isGroupGone {
      started.note(group: command.processID, slot: command.pipe.token)
    }
    guardian = consume started
  }

  /// Called when a guardian was ended: its partner takes over, or another one is started at once,
  /// or at the latest for the next command.
  private func guardianEnded(_ status: Int32) {
    if let successor = guardian?.successor {
      guardian?.processID = successor
      return children.exempt(successor)
    }
    guardian?.isReaped = true
    // A guardian whose program fails is not started again and again.
    let isInVain = clinux_exited(status) != 0 && guardian?.wasWatching == false
    guardian = nil
    try? startGuardian(needsProgram: !isInVain)
  }

  /// Dismisses the guardian when nothing is left to watch. Its end takes a moment, in which other
  /// work is done.
  func dismissGuardian() { if tolerated.isEmpty, outputFolder == nil { guardian?.dismiss() } }

  private func addLaunchSlot() -> LaunchSlot {
    launches.append(LaunchSlot())
    return launches[launches.count - 1]
  }

  // MARK: Signal

  /// Sends a signal to the command's whole group and lets what it leaves behind end by itself until
  /// `kill`. A command that had ended before is not asked any more: its orphans are ended in a
  /// moment anyway.
  func stop(_ key: CommandKey, with signal: Int32, at now: Nanoseconds) {
    if dropSearch(key, signal, at: now) { return }
    guard let command = commands.first(where: { $0.key == key }) else { return }
    if let exit = command.exit, exit.at < now { return }
    command.stopSignal = signal
    awaitProgram(of: command)
    if Glibc.kill(-command.processID, signal) < 0, errno == EPERM {
      report(outOfReach: [command.processID], of: command)
    }
    // A stopped process handles no other signal.
    Glibc.kill(-command.processID, SIGCONT)
  }

  /// Sends a signal to the command's whole group that does not ask it to end.
  func pass(_ signal: Int32, to key: CommandKey) {
    guard let command = commands.first(where: { $0.key == key && $0.exit == nil }) else { return }
    awaitProgram(of: command)
    Glibc.kill(-command.processID, signal)
  }

  /// Waits until a signal to the command's group reaches it. This takes some 200 µs; it is bounded,
  /// for all commands of a turn together, since a program on a dead network disk may never load.
  private func awaitProgram(of command: RunningCommand) {
    while naps < 1000, command.launch.isLoading(command.processID) {
      naps += 1
      usleep(50)
    }
  }

  /// Kills the command's group now, and everything else that belongs to it.
  func kill(_ key: CommandKey, at now: Nanoseconds) {
    if dropSearch(key, SIGKILL, at: now) { return }
    guard let command = commands.first(where: { $0.key == key }) else { return }
    command.isKilled = true
    guard command.exit == nil else { return examine(command, now) }
    Glibc.kill(-command.processID, SIGKILL)
    // The command may not have entered its own group yet.
    Glibc.kill(command.processID, SIGKILL)
    if isOutOfReach(command.processID) { giveUp(command, at: now) }
  }

  // MARK: Output

  /// Moves what a pipe holds into its log.
  func absorb(token: Int, at now: Nanoseconds) {
    if let command = pipes.ready(token) { _ = absorb(command, at: now) }
  }

  /// Moves the output of a command into its log; false if there was none.
  private func absorb(_ command: RunningCommand, at now: Nanoseconds) -> Bool {
    let hadFile = command.log.file != nil
    defer { if !hadFile { noteLog(of: command) } }
    do throws(SystemError) {
      let progress = try command.log.absorb(
        from: command.pipe.input, isTerminal: command.pipe.isTerminal)
      guard case .moved(let count) = progress else {
        // A terminal that was hung up stays ready.
        if command.pipe.isTerminal, case .ended = progress { waiting.remove(command.pipe.input) }
        return false
      }
      if count >= 1 << 16 { command.pipe.widen() }
      command.lastOutputAt = now
      news.append(.outputGrew(command.key, byteCount: command.log.readableByteCount))
      if command.log.isBeyondLimit, command.exit == nil, !command.hasSaidLimit {
        command.hasSaidLimit = true
        news.append(.outputWithheld(command.key))
      }
      return true
    } catch {
      news.append(.stateFailed(error.message))
      return true
    }
  }

  /// Adds the log to those that are shown, if there is one by now.
  private func noteLog(of command: RunningCommand) {
    guard let file = command.log.file else { return }
    directory.logs.add(file, of: command.key.operation, command.key.role)
  }

  // MARK: End

  /// Reaps every child that has ended.
  func reap(at now: Nanoseconds) {
    var status: Int32 = 0
    var usage = rusage()
    var ended: [RunningCommand] = []
    while true {
      let process = wait4(-1, &status, WNOHANG, &usage)
      guard process > 0 else { break }
      if let command = commands.first(where: { $0.processID == process && $0.exit == nil }) {
        command.exit = exit(of: command, status, usage, at: now)
        ended.append(command)
      } else {
        children.reaped(process)
        temporary.goOn()
        if process == guardian?.processID { guardianEnded(status) }
      }
    }
    if ended.isEmpty { return }
    // The children are listed once for all that have ended together.
    let haveLeftNothing = children.strays(besides: commands, of: nil).isEmpty
    for command in ended {
      if haveLeftNothing { finish(command, at: now) } else { examine(command, now) }
    }
  }

  private func exit(
    of command: RunningCommand, _ status: Int32, _ usage: rusage, at now: Nanoseconds
  ) -> RunningCommand.Exit {
    let time =
      Nanoseconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1_000_000_000
      + Nanoseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000
    return RunningCommand.Exit(
      status: self.status(of: command, status), processorTime: time,
      peakMemory: peakMemory.ofCommand(usage), at: now, wasWanted: command.isStopping)
  }

  private func status(of command: RunningCommand, _ status: Int32) -> CommandEnd.Status {
    if let failure = command.launch.takeFailure(of: command.processID) {
      let code: Int32 = failure.errno == ENOENT && !failure.isDirectory ? 127 : 126
      return .notStarted(
        failure.message(
          program: command.program, isShell: command.isShell, directory: command.directory),
        exitCode: code)
    }
    return clinux_exited(status) != 0
      ? .exited(clinux_exit_status(status)) : .signalled(clinux_signal(status))
  }

  /// Reports a command that has ended and left nothing behind, and frees its pipe.
  func finish(_ command: RunningCommand, at now: Nanoseconds) {
    // Reads only what the pipe contains now, because a tolerated orphan may write without end.
    let enough = command.log.readByteCount + 2 * OutputPipe.largestSize
    while command.log.readByteCount < enough, absorb(command, at: now) {}
    do throws(SystemError) {
      let told = command.log.readableByteCount
      var size = try command.log.finish()
      if let words = explanation(of: command) { size = try command.log.add(words) }
      if size > told {
        noteLog(of: command)
        news.append(.outputGrew(command.key, byteCount: size))
      }
    } catch {
      news.append(.stateFailed(error.message))
    }
    command.prepared?.end(hasSucceeded: command.exit?.status == .exited(0))
    if command.log.file != nil, !command.log.isInPlace {
      news.append(.event(.notice(logLost(directory.path(of: command.log.name)))))
    }
    takeBackKeys(of: command)
    guardian?.note(group: 0, slot: command.pipe.token)
    children.forget(command: command.number)
    if tolerated.contains(command.number) || command.hasLostProcesses || command.hasUnownedBeside {
      pipes.abandon(command.pipe)
    } else {
      pipes.putBack(command.pipe)
    }
    commands.removeAll { $0 === command }
    if let end = command.end(at: now) { news.append(.ended(command.key, end)) }
    if keyboard != nil { giveKeys() }
    peakMemory.look()
  }

  /// Why a command failed, or did not do everything, if its confinement or its shell may be the
  /// reason; nil otherwise.
  private func explanation(of command: RunningCommand) -> String? {
    guard let status = command.exit?.status, !command.isStopping, !command.key.role.isProbe else {
      return nil
    }
    var words: String?
    if let prepared = command.prepared, status != .exited(0) {
      words = prepared.explanation(of: status, command.program, log: command.log.file)
    }
    if words == nil, command.program == "/bin/sh", let script = command.script,
      let log = command.log.file
    {
      words = ShellAdvice.words(about: log, of: script)
    }
    return words.map { "[oprun: \($0)]\n" }
  }

  /// Ends every process of the run, known or not, where the kernel can.
  func endControlGroup() {
    if tolerated.isEmpty { controlGroup?.endAll() }
  }
}
