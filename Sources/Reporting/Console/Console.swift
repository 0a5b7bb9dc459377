// Shows a run to a person: a fold over its events into step output and messages.

package import Plans
package import RunFiles
package import Scheduling

/// Shows a run on two streams.
package final class Console: RunObserver {
  private let screen: Screen
  private let mode: OutputMode
  private let operations: RunOperations
  private var output: any StepOutput
  private var ledger: RunLedger
  private var lines: ProgressLines
  private var changes: RunChanges
  /// The annotations for a CI runner.
  private var annotations: Annotations?
  /// The command that has the keys of the terminal.
  private var dialogue: Dialogue?
  /// The last command that had the keys.
  private var heard: Stream?
  /// The progress of running steps that is shown; nil if none is.
  private var progress: RunProgress?
  private var display: LiveDisplay?
  private var heartbeat: Heartbeat?

  /// Unless `showsOutput` is set, the output of steps is seen only in the block.
  package init(
    plan: Plan, directory: RunDirectory, screen: Screen, mode: OutputMode, showsOutput: Bool = true
  ) {
    self.screen = screen
    self.mode = mode
    operations = RunOperations(
      plan: plan, directory: directory, masker: screen.messages.masker, screen: screen)
    ledger = RunLedger(operations)
    lines = ProgressLines(operations, screen: screen)
    changes = RunChanges(operations)
    annotations = screen.ci.map { [operations, lines] in
      Annotations(operations, lines, on: screen, $0)
    }
    output =
      switch mode {
      case _ where !showsOutput: UnseenOutput()
      case .live, .grouped: GroupedOutput(screen: screen, operations: operations)
      case .prefixed: PrefixedOutput(screen: screen, operations: operations)
      case .quiet, .json: UnseenOutput()
      }
    display = LiveDisplay(on: screen)
    let isWatched = screen.ci == nil && Terminal.isTerminal(screen.messages.descriptor)
    if mode.showsProgress, !isWatched { heartbeat = Heartbeat(isForRunner: screen.ci != nil) }
    if display != nil || heartbeat != nil {
      progress = RunProgress(operations, screen: screen)
    }
  }

  package func observe(_ event: RunEvent) {
    screen.ci?.advance(to: event)
    show(event)
    progress?.observe(event)
    display?.changed(at: event.time)
  }

  /// Counts steps that are up to date and not in the plan.
  package func count(upToDate number: Int) { ledger.count(upToDate: number) }

  /// Takes account of an event from before somebody began to look, and shows nothing of it.
  package func catchUp(_ event: RunEvent) {
    switch event.kind {
    case .began(let beginning): changes.begin(beginning.clock)
    case .started(let operation, _): ledger.start(operation, at: event.time)
    case .ended(let operation, let role, let end):
      let log = operations.log(of: Stream(operation: operation, role: role))?.identity
      ledger.end(operation, CommandResult(role: role, end: end, log: log), at: event.time)
    case .settled(let operation, let ending, let cause):
      ledger.settledBefore(ending)
      if let settled = ledger.settle(operation, ending, cause, at: event.time) {
        _ = lines.fold(settled)
      }
    case .ready(let operation): ledger.becameReady(operation, at: event.time)
    case .controlled(let note):
      changes.add(note, at: event.time)
      ledger.hear(note)
    case .placed(let operation, _, let place): ledger.place(operation, place)
    case .outputGrew, .terminalTaken, .terminalReturned, .appended, .resolved, .waiting,
      .heldUp,
      .published, .retrying, .orphansFound, .outOfReach, .restored, .stopping, .reopened, .notice,
      .finished:
      break
    }
    progress?.observe(event)
    display?.changed(at: event.time)
  }

  private func show(_ event: RunEvent) {
    switch event.kind {
    case .started(let operation, _):
      ledger.start(operation, at: event.time)
    case .outputGrew(let operation, let role, let byteCount):
      heartbeat?.outputGrew()
      let start = ledger.running(operation)?.start ?? event.time
      let stream = Stream(operation: operation, role: role)
      if let dialogue, dialogue.stream == stream {
        dialogue.show(upTo: byteCount)
      } else {
        output.grew(stream, to: byteCount, start: start, at: event.time)
      }
    case .ended(let operation, let role, let end):
      let stream = Stream(operation: operation, role: role)
      let log = end.outputByteCount > 0 ? operations.log(of: stream)?.identity : nil
      ledger.end(operation, CommandResult(role: role, end: end, log: log), at: event.time)
      if end.outputByteCount > 0, stream != heard {
        output.ended(stream, isFailure: !end.isSuccess)
      }
      if mode.showsProgress { lines.writeHookFailure(operation, role, end) }
    case .settled(let operation, let ending, let cause):
      if ending.outcome == .cached { showAgain(operation, at: event.time) }
      let settled = ledger.settle(operation, ending, cause, at: event.time)
      if mode.showsProgress {
        if let settled { lines.write(settled) } else { lines.writeFold(operation, at: event.time) }
      }
      if let settled { annotations?.add(settled) }
    case .terminalTaken(let operation, let role):
      // Nobody types where a CI runner reads.
      if screen.ci == nil { takeTerminal(for: Stream(operation: operation, role: role)) }
    case .terminalReturned: if screen.ci == nil { returnTerminal(at: event.time) }
    case .appended(let operation, let id, let group, let after, _):
      operations.append(operation, id: id, to: group, after: after)
      lines.makeRoom(for: id)
    case .resolved(let operation, let command, let name):
      ledger.resolve(operation, command: command)
      operations.resolve(operation, name: name)
    case .finished(let end):
      finish(end, at: event.time)
    case .ready(let operation):
      ledger.becameReady(operation, at: event.time)
      if mode.showsProgress { tell(event) }
    case .reopened(let operation, let ending):
      ledger.reopen(operation, ending)
      lines.reopen(operation, ending)
    case .controlled(let note):
      changes.add(note, at: event.time)
      ledger.hear(note)
      if mode.showsProgress { tell(event) }
    case .began, .retrying, .orphansFound, .outOfReach, .waiting, .heldUp, .stopping, .notice:
      if case .began(let beginning) = event.kind { changes.begin(beginning.clock) }
      if mode.showsProgress { tell(event) }
    case .placed(let operation, _, let place): ledger.place(operation, place)
    case .restored(let operation): lines.restored(operation)
    case .published: break
    }
  }

  /// Shows the log of a step that is up to date, which exists only if its output is shown again.
  private func showAgain(_ operation: OperationID, at time: Nanoseconds) {
    let stream = Stream(operation: operation, role: .attempt(1))
    guard let log = operations.log(of: stream) else { return }
    output.grew(stream, to: log.size, start: time, at: time)
    output.ended(stream, isFailure: false)
  }

  package var deadline: Nanoseconds? {
    earlier(earlier(output.deadline, display?.deadline), heartbeat?.deadline)
  }

  package func endTurn(at time: Nanoseconds) {
    output.advance(to: time)
    lines.endTurn()
    if heartbeat?.isDue(at: time) == true, let view = view(at: time, rows: Heartbeat.mostNames) {
      lines.writeHeartbeat(view)
    }
    if !screen.isShared || display?.waits(at: time) != true { screen.flush() }
    display?.endTurn(at: time) { view(at: time, rows: $0.rows) ?? LiveView() }
  }

  private func view(at time: Nanoseconds, rows: Int) -> LiveView? {
    var view = progress?.view(at: time, rows: rows, ledger, lines)
    view?.pauses = changes.pauses
    return view
  }

  package func suspend() {
    screen.flush()
    display?.clear()
  }

  package func resume() { display?.redraw() }

  private func tell(_ event: RunEvent) {
    switch event.kind {
    case .began:
      lines.writeHeader()
      // A command may end oprun before the end of this turn.
      screen.flush()
    case .retrying(let operation, let attempt, let delay):
      let last = ledger.running(operation)?.last?.end
      lines.writeRetry(of: operation, after: last, attempt: attempt, delay: delay)
    case .orphansFound(let operation, let processes, let action):
      lines.writeOrphans(of: operation, processes, action)
    case .outOfReach(let operation, let processes):
      lines.writeOutOfReach(of: operation, processes)
    case .waiting(let operation, let what): lines.writeWaiting(operation, for: what)
    case .ready(let operation):
      let step = operations.step(operation)
      guard step.late?.readiness.isEmpty == false else { break }
      lines.writeReady(operation, after: ledger.time(of: operation, at: event.time))
    case .heldUp(let operation, let heldUp): lines.writeHeldUp(operation, heldUp)
    case .stopping(let reason): lines.writeStopping(reason)
    case .controlled(let note): lines.writeNotice(changes.words(of: note))
    case .notice(let text): lines.writeNotice(text)
    case .started, .outputGrew, .placed, .ended, .settled, .appended, .resolved, .published,
      .restored,
      .finished,
      .reopened, .terminalTaken, .terminalReturned:
      break
    }
  }

  private func takeTerminal(for stream: Stream) {
    let shown = output.suspend(for: stream)
    let dialogue = Dialogue(
      stream, from: shown, on: Stage(screen: screen, operations: operations),
      isQuiet: !mode.showsProgress)
    screen.flush()
    display?.stepAside()
    screen.setRaw(true)
    self.dialogue = dialogue
    heard = stream
    if let log = operations.log(of: stream) { dialogue.show(upTo: log.size) }
  }

  private func returnTerminal(at time: Nanoseconds) {
    screen.setRaw(false)
    dialogue?.close()
    dialogue = nil
    screen.flush()
    display?.comeBack(at: time)
    output.resume()
  }

  private func finish(_ end: RunEnd, at time: Nanoseconds) {
    output.finish()
    lines.endTurn()
    screen.flush()
    display?.end()
    heartbeat = nil
    ledger.finish(end)
    screen.ci?.closeGroup(on: screen)
    annotations?.finish(end, ledger.counts)
    screen.ci?.beginSummary(operations.plan.name, on: screen)
    screen.turnToMessages()
    var summary = Summary(operations: operations, ledger: ledger, screen: screen)
    summary.changes = changes.log
    summary.write(end, wallTime: time, isQuiet: !mode.showsProgress)
    screen.flush()
  }
}
