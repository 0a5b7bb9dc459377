// Commands on their way through the loop: from the machine to the executor, and their news back.

import Caching
import Expressions
import Plans
import RunFiles
import Running
import Scheduling

extension RunLoop {
  func start(_ key: CommandKey, at time: Nanoseconds) {
    guard machine.mayStart(key, at: time) else { return }
    if let part = key.role.part, let refusal = findings.refusals[key.operation]?[part] {
      return machine.ended(key, CommandEnd(.notStarted(refusal, exitCode: 126)), at: time)
    }
    switch key.role {
    case .attempt:
      if machine.startsService(key.operation), let reason = takenPort(of: key.operation) {
        return machine.ended(key, CommandEnd(.notStarted(reason, exitCode: 126)), at: time)
      }
      attemptBegins(key)
      // The result of a job alone tells whether it wrote outputs.
      if slurm == nil || machine.steps[key.operation].settings.slurm == nil {
        outputFiles.attemptStarted(key.operation, name: outputsName(of: key))
      }
    case .hook: return startHook(key, at: time)
    case .probe: break
    }
    execute(key, machine.command(of: key), at: time)
  }

  func execute(_ key: CommandKey, _ command: OperationCommand, at time: Nanoseconds) {
    let command = built(key, command, confinement(of: key, command))
    if command.sharesJobs { jobs?.began(key) }
    caching?.hasChangedFiles = true
    executor.start(command, at: time)
  }

  private func built(
    _ key: CommandKey, _ command: OperationCommand, _ confinement: Confinement?
  ) -> Command {
    var built = builder.command(key, command, confinement)
    if let slurm { place(&built, command.settings, slurm) }
    return built
  }

  /// The earlier runs that may still have jobs of a step, which can be taken over.
  func earlierRuns(of step: String) -> Set<String> {
    executor.openJobs?.earlierRuns(of: step) ?? []
  }

  /// True if a step that could start takes over the job that an earlier run has of it.
  func takesOver(_ operation: OperationID) -> Bool {
    guard let openJobs = executor.openJobs else { return false }
    let key = CommandKey(operation: operation, role: .attempt(1))
    // The confinement of a command is not compared.
    return openJobs.takesOver(built(key, machine.command(of: key), nil))
  }

  /// Reserves what the jobs of earlier runs hold for the steps that these jobs belong to.
  func promiseWhatGoesOn() {
    if executor.openJobs == nil { return }
    for index in machine.plan.steps.indices {
      promise(OperationID(index), of: machine.steps[OperationID(index)].id)
    }
  }

  /// Reserves for a step what the job of an earlier run holds, if there is one: the job is taken
  /// over only when its step starts.
  func promise(_ operation: OperationID, of step: String) {
    if !earlierRuns(of: step).isEmpty { machine.goesOn(operation) }
  }

  /// Adds the Slurm request of the step, if the command runs on a cluster.
  private func place(_ command: inout Command, _ settings: StepSettings, _ plan: SlurmPlan) {
    guard case .attempt = command.key.role, let request = settings.slurm else { return }
    let operation = command.key.operation
    let spec = machine.scheduler.graph[operation]
    var order = SlurmOrder(
      plan.request(request, claiming: spec.claims), settings, priority: spec.priority,
      width: plan.width(claiming: spec.claims))
    order.basis = caching?.lookups[operation]?.keyInWords
    order.lock = caching?.lookups[operation]?.lockName
    order.replaceable = replaceableOutputs(of: operation)
    // The key of a cached step covers everything that the step depends on.
    if order.basis == nil {
      order.outdatedRuns = earlierRuns(of: machine.steps[operation].id).filter {
        options.memory?.isUpstreamUnchanged(of: operation, since: $0) == false
      }
    }
    command.slurm = order
  }

  /// Applies an event to commands that run elsewhere.
  func follow(_ event: RunEvent.Kind, at time: Nanoseconds) {
    switch event {
    case .appended(let operation, let id, let group, let after, _):
      added.append(operation, id: id, from: group, after: after)
      if executor.openJobs != nil { promise(operation, of: id) }
    case .reopened(let operation, _): forget(operation)
    case .settled(let operation, let ending, _):
      let isDone = ending.outcome == .succeeded || ending.outcome == .cached
      executor.openJobs?.decided(operation, of: isDone ? step(of: operation) : nil)
      if machine.mustEndElsewhere(operation) {
        executor.openJobs?.endEarlier(operation, of: step(of: operation) ?? "", startsThen: false)
      }
    case .retrying(let operation, _, _): executor.openJobs?.decided(operation, of: nil)
    // After a failure, running commands are not stopped.
    case .stopping(.failure): break
    case .stopping: executor.openJobs?.runStops(at: time)
    case .began, .started, .outputGrew, .placed, .terminalTaken, .terminalReturned, .ended,
      .resolved, .waiting, .ready, .heldUp, .published, .orphansFound, .outOfReach, .restored,
      .controlled, .notice, .finished:
      break
    }
  }

  func hear(_ news: CommandNews, at time: Nanoseconds) {
    switch news {
    case .outputGrew(let key, let count):
      guard !key.role.isProbe, machine.awaitsEnd(of: key) else { return }
      tell(.outputGrew(key.operation, key.role, byteCount: count), at: time)
    case .outputWithheld(let key):
      guard !key.role.isProbe, machine.awaitsEnd(of: key) else { return }
      tell(.notice(outputWithheld(by: step(of: key) ?? "the run")), at: time)
    case .ended(let key, let end): ended(key, end, at: time)
    case .beganAgain(let key): caching?.lookups[key.operation]?.hasBegunAgain = true
    case .event(let event): tell(event, at: time)
    case .isOver(let operation):
      machine.isOver(operation, at: time)
      startAfterJob(operation, at: time)
    case .stateFailed(let message): machine.stateFailed(message, at: time)
    }
  }

  /// Handles the end of a command. An executor that has lost track of it may report its end late,
  /// or twice: the first one that the machine waits for counts.
  private func ended(_ key: CommandKey, _ end: CommandEnd, at time: Nanoseconds) {
    jobEnded(key, at: time)
    guard machine.awaitsEnd(of: key), caching?.isKeeping(key) != true else { return }
    if key.role.isProbe {
      let log = options.directory.logs.log(of: key.operation, key.role)
      if log != nil { endedTalkers.append(key) }
      return probeEnded(key, end, log, at: time)
    }
    let end = takeOutputs(of: key, end, at: time)
    removeOutputs(of: key)
    attemptEnded(key, end)
    if keepResult(of: key, end) { return }
    conclude(key, end, at: time)
  }

  /// Reports the end of a command to the machine.
  func conclude(_ key: CommandKey, _ end: CommandEnd, at time: Nanoseconds) {
    if options.directory.logs.contains(key.operation, key.role) { endedTalkers.append(key) }
    machine.ended(key, end, stateFailure: stateFailure, at: time)
  }

  /// Removes the logs of ended commands. Called when the ends that were reported to the machine
  /// have been shown.
  func closeLogs() {
    for key in endedTalkers { options.directory.logs.remove(of: key.operation, key.role) }
    endedTalkers.removeAll(keepingCapacity: true)
  }

  /// Handles the end of a probe, which leaves no log.
  private func probeEnded(
    _ key: CommandKey, _ end: CommandEnd, _ log: LogFile?, at time: Nanoseconds
  ) {
    var lastWords: String?
    if let log {
      if end.status != .exited(0) { lastWords = LastWords.line(of: log) }
      options.directory.remove(builder.logName(of: key, step: step(of: key)))
    }
    removeOutputs(of: key)
    machine.ended(probe: key, end, lastWords: lastWords, at: time)
  }

  /// Publishes the outputs of a successful command; if they cannot be used, the command has failed.
  private func takeOutputs(
    of key: CommandKey, _ end: CommandEnd, at time: Nanoseconds
  ) -> CommandEnd {
    guard end.status == .exited(0), let settings = machine.undisturbedAttempt(of: key, end) else {
      return end
    }
    do throws(OutputFailure) {
      let taken = try takenOutputs(of: key, settings)
      guard let taken else { return end }
      outputs.publish(taken, of: key.operation)
      tell(.published(key.operation, taken.published), at: time)
      return end
    } catch {
      return end.with(.outputsRefused(error.words(hasSecrets: masker != nil)))
    }
  }

  /// The outputs that a command has written, sorted by name, as they also are for a step that is
  /// kept; nil if there are none.
  private func takenOutputs(
    of key: CommandKey, _ settings: StepSettings
  ) throws(OutputFailure) -> ValueMap? {
    try writtenOutputs(of: key, settings)?.sortedByName
  }

  private func writtenOutputs(
    of key: CommandKey, _ settings: StepSettings
  ) throws(OutputFailure) -> ValueMap? {
    guard let bytes = executor.outputs(of: key) else {
      return try outputFiles.take(
        of: key.operation, from: outputsName(of: key), declared: settings.outputs,
        isCaptured: settings.capturesOutput)
    }
    if bytes.isEmpty { return nil }
    return settings.capturesOutput
      ? try readCapturedOutput(bytes) : try readOutputs(bytes, declared: settings.outputs)
  }

  /// Publishes the outputs of a service that is ready: later ones reach no other step.
  func publish(_ key: CommandKey, at time: Nanoseconds) {
    guard let settings = machine.settingsOfService(key.operation) else { return }
    if let reason = foreignAnswer(to: key.operation) {
      return machine.published(key, refusal: reason, at: time)
    }
    do throws(OutputFailure) {
      if let taken = try takenOutputs(of: key, settings) {
        outputs.publish(taken, of: key.operation)
        tell(.published(key.operation, taken.published), at: time)
      }
      machine.published(key, at: time)
    } catch {
      machine.published(key, refusal: error.words(hasSecrets: masker != nil), at: time)
    }
  }

  /// Removes the file of outputs of a command, however it ended, in a run with secrets.
  private func removeOutputs(of key: CommandKey) {
    if masker != nil { options.directory.remove(outputsName(of: key)) }
  }

  private func outputsName(of key: CommandKey) -> String {
    builder.outputsName(of: key, step: step(of: key))
  }

  /// The id of the step; nil for the run itself.
  private func step(of key: CommandKey) -> String? { step(of: key.operation) }

  func step(of operation: OperationID) -> String? {
    operation == .run ? nil : machine.steps[operation].id
  }
}

extension CommandRole {
  var isProbe: Bool { if case .probe = self { true } else { false } }

  /// The part of the step that the command belongs to; nil for a probe.
  fileprivate var part: StepPart? {
    switch self {
    case .attempt: .attempt
    case .hook(let kind, let index, _): .hook(kind, index: index)
    case .probe: nil
    }
  }
}
