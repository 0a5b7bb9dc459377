// The events of a run for machines: one JSON object on a line, documented field by field in
// docs/events.md. It knows nothing about screens.

import Diagnostics
package import Masking
package import Plans
package import RunFiles
package import Scheduling

/// Lines are collected, and written when a turn ends.
package final class EventWriter: RunObserver {
  /// The version of the format, in the first line. New fields and new events do not change it.
  static let formatVersion = 1

  private let sink: ByteSink
  private let operations: RunOperations
  private let directory: RunDirectory
  private var trace: TraceContext?
  /// The name of the file, if events are written to one: missing events are then a failure of the
  /// run.
  private let fileName: String?

  /// `fileName` is the name of a regular file, for messages; nil for anything with a reader.
  package init(
    _ descriptor: Int32, fileName: String?, plan: Plan, directory: RunDirectory, masker: Masker?
  ) {
    let outlet = Outlet(descriptor, backlog: "@events", in: directory)
    sink = ByteSink(descriptor: descriptor, outlet: outlet)
    sink.masker = masker
    sink.isFormat = true
    self.fileName = fileName
    self.directory = directory
    operations = RunOperations(plan: plan, directory: directory, masker: masker)
  }

  /// The outlet to the reader, if it may stop reading.
  package var outlet: (any RunOutlet)? { sink.outlet }

  /// The error for which events are missing, if that is no failure of the run.
  package var lossError: Int32? { sink.lossError }

  package func observe(_ event: RunEvent) {
    if event.kind.isOfScreen { return }
    sink.write("{\"event\":\"")
    sink.write(event.kind.name)
    sink.write("\"")
    sink.write(field: "at_ms")
    sink.write(milliseconds: event.time)
    writeFields(of: event.kind)
    sink.write("}\n")
    if case .began = event.kind { writePlan(at: event.time) }
  }

  package func endTurn(at time: Nanoseconds) throws(ObserverFailure) {
    sink.flush()
    sink.outlet?.endTurn()
    if let fileName, sink.hasFailed {
      throw ObserverFailure("cannot write the events to '\(fileName)'")
    }
  }

  private func writePlan(at time: Nanoseconds) {
    let plan = operations.plan
    let fields = OperationFields(plan, name: operations.name)
    let lines = StepLines(plan)
    for operation in plan.operations {
      sink.write("{\"event\":\"step_planned\"")
      sink.write(field: "at_ms")
      sink.write(milliseconds: time)
      fields.writeStep(operation, isFirst: false, to: sink)
      fields.writeCommand(of: operation, to: sink)
      lines.writeFields(of: operation, to: sink)
      sink.write(field: "depends_on")
      let edges = plan.graph.dependencies(of: operation).lazy
        .filter { !fields.groups.repeats($0) }
      sink.write(jsonList: edges) { edge in
        sink.write("{")
        sink.write(field: "step", isFirst: true)
        sink.write(json: operations.name(edge.from))
        sink.write(field: "when")
        sink.write("\"")
        sink.write(edge.condition.words ?? "ok")
        sink.write("\"}")
      }
      sink.write("}\n")
    }
  }
}

// The fields of each event.
extension EventWriter {
  private func writeFields(of kind: RunEvent.Kind) {
    switch kind {
    case .began(let beginning): write(beginning)
    case .started(let operation, let role): write(operation, role)
    case .outputGrew, .terminalTaken, .terminalReturned: break
    case .ended(let operation, let role, let end):
      write(operation, role)
      write(end)
      if end.outputByteCount > 0 {
        sink.write(field: "log")
        sink.write(json: operations.logPath(of: Stream(operation: operation, role: role)))
      }
    case .appended(let operation, let id, let group, let after, let isGroup):
      operations.append(operation, id: id, to: group, after: after)
      write(operation)
      write("kind", own: isGroup ? "group" : "step")
      write("group", operations.name(group))
    case .resolved(let operation, let command, let name):
      write(operation, command: command, name: name)
    case .waiting(let operation, let what):
      write(operation)
      write("for", what)
    case .ready(let operation), .restored(let operation): write(operation)
    case .heldUp(let operation, let heldUp):
      write(operation)
      write(heldUp)
    case .placed(let operation, let role, let place):
      write(operation, role)
      write(place)
    case .published(let operation, let outputs):
      write(operation)
      write(outputs)
    case .retrying(let operation, let attempt, let delay):
      write(operation)
      write("next_attempt", attempt)
      write("delay_ms", milliseconds: delay)
    case .orphansFound(let operation, let processes, let action):
      write(operation)
      write("action", action.word)
      write(processes)
    case .outOfReach(let operation, let processes):
      write(operation)
      write(processes)
    case .settled(let operation, let ending, let cause):
      write(operation)
      write("outcome", own: ending.outcome.word)
      write("allowed", ending.isAllowed)
      write(cause)
    case .stopping(let reason): write(reason)
    case .controlled(let note): write(note)
    case .reopened(let operation, let ending):
      write(operation)
      write("outcome", own: ending.outcome.word)
    case .notice(let text): write("message", text)
    case .finished(let end): write(end)
    }
  }

  private func write(_ end: RunEnd) {
    write("exit_status", Int(end.exitStatus))
    if let passedOn = end.passedOn {
      write("given_status", Int(passedOn.status))
      write("status_from", operations.name(passedOn.step))
    }
    write("hook_failed", end.hookFailed)
    if let reason = end.stopReason { write(reason) }
  }

  private func write(_ beginning: RunBeginning) {
    write("version", Self.formatVersion)
    write("run", own: beginning.runID)
    write("time", own: timeInUTC(beginning.clock.wallTime))
    write("name", operations.plan.name)
    write("directory", directory.path)
    write("host", beginning.host.name)
    write("processors", beginning.host.processorCount)
    write("process", Int(beginning.processID))
    guard let trace = beginning.trace else { return }
    self.trace = trace
    write("trace", trace.traceID)
    write("span", trace.runSpan)
    if let parent = trace.parentSpan { write("parent_span", parent) }
  }

  /// Writes the step; null for the run's own hooks, which belong to none.
  private func write(_ operation: OperationID) {
    sink.write(field: "step")
    if operation.index < 0 {
      sink.write("null")
    } else {
      sink.write(json: operations.name(operation))
    }
  }

  private func write(_ operation: OperationID, command: String?, name: String?) {
    write(operation)
    if let command { write("command", command) }
    if let name { write("name", name) }
  }

  private func write(_ operation: OperationID, _ role: CommandRole) {
    write(operation)
    switch role {
    case .attempt(let number): write("attempt", number)
    case .hook(let kind, let index, let round):
      write("hook", kind.keyText)
      write("index", index)
      if round > 1 { write("round", round) }
    case .probe(let index): write("probe", index)
    }
    if let trace { write("span", trace.span(of: operation, role)) }
  }

  private func write(_ end: CommandEnd) {
    write("status", end.status.word)
    if let code = end.status.code {
      if end.status.isSignal {
        write("signal", own: signalName(code))
      } else {
        write("exit_code", Int(code))
      }
    }
    if let reason = end.status.detail { write("reason", reason) }
    write("timed_out", end.timedOut)
    write("stopped", end.isStopped)
    if let time = end.notReadyAfter { write("not_ready_ms", milliseconds: time) }
    write("duration_ms", milliseconds: end.duration)
    write("processor_ms", milliseconds: end.processorTime)
    if let peak = end.peakMemory { write("peak_memory", Int(peak)) }
    write("output_bytes", end.outputByteCount)
  }

  /// Writes outputs. Values are already JSON; one that contains a secret is a string that shows
  /// `***` in its place.
  private func write(_ outputs: [PublishedOutput]) {
    sink.write(field: "outputs")
    sink.write(jsonList: outputs) { output in
      sink.write("{")
      sink.write(field: "name", isFirst: true)
      sink.write(json: output.name)
      sink.write(field: "value")
      if output.isMasked { sink.write(json: output.json) } else { sink.write(own: output.json) }
      write("masked", output.isMasked)
      sink.write("}")
    }
  }

  private func write(_ processes: [OrphanProcess]) {
    sink.write(field: "processes")
    sink.write(jsonList: processes) { process in
      sink.write("{")
      sink.write(field: "process", isFirst: true)
      sink.write(decimal: Int(process.processID))
      write("name", process.name)
      if let owner = process.owner { write("owner", owner) }
      sink.write("}")
    }
  }

  private func write(_ note: ControlNote) {
    write("action", note.action.word)
    write("by", note.user)
    if let queue = note.action.queue { write("queue", operations.plan.queues[queue.index].name) }
    if let operation = note.action.operation { write("step", operations.name(operation)) }
    switch note.action {
    case .setWidth(_, let width): write("max_parallel", width)
    case .setPriority(_, let priority): write("priority", Int(priority))
    case .pause, .proceed, .cancelRun, .cancel, .cancelQueue, .retry: break
    }
  }

  private func write(_ place: CommandPlacement) {
    write("job", place.job)
    if let node = place.node { write("node", node) }
    if let reason = place.reason { write("reason", reason) }
  }

  private func write(_ heldUp: HeldUp) {
    switch heldUp.shared {
    case .queue(let queue): write("queue", operations.plan.queues[queue.index].name)
    case .pool(let pool): write("pool", operations.plan.pools[pool.index].name)
    }
    sink.write(field: "held_by")
    sink.write(jsonList: heldUp.holders) { sink.write(json: operations.name($0)) }
  }

  private func write(_ cause: Cause) {
    switch cause {
    case .itself: break
    case .dependency(let root):
      write("cause", "dependency" as StaticString)
      write("root", operations.name(root))
    case .condition(let text):
      write("cause", "condition" as StaticString)
      write("reason", text)
    case .timeLimit(let text):
      write("cause", "time_limit" as StaticString)
      write("reason", text)
    case .wait(let text):
      write("cause", "wait" as StaticString)
      write("reason", text)
    case .service(let text):
      write("cause", "service" as StaticString)
      write("reason", text)
    case .notReady(let text):
      write("cause", "not_ready" as StaticString)
      write("reason", text)
    case .stopped(let reason), .stoppedEarlier(let reason):
      write("cause", "stopped" as StaticString)
      write(reason)
    case .hook(let kind):
      write("cause", "hook" as StaticString)
      write("hook", kind.keyText)
    }
  }

  private func write(_ reason: StopReason) {
    write("stop", reason.word)
    switch reason {
    case .signal(let number): write("signal", own: signalName(number))
    case .failure(let operation): write("failed_step", operations.name(operation))
    case .groupTimeout(let group): write("group", operations.name(group))
    case .stateFailure(let text), .overtaken(let text): write("reason", text)
    case .request(let user): write("by", user)
    case .runTimeout, .noWidth, .suspended, .left, .noOutputs, .died: break
    }
  }
}

// Fields of each kind.
extension EventWriter {
  private func write(_ field: StaticString, _ text: String) {
    sink.write(field: field)
    sink.write(json: text)
  }

  private func write(_ field: StaticString, own text: String) {
    sink.write(field: field)
    sink.write(ownJSON: text)
  }

  private func write(_ field: StaticString, _ word: StaticString) {
    sink.write(field: field)
    sink.write("\"")
    sink.write(word)
    sink.write("\"")
  }

  private func write(_ field: StaticString, _ number: Int) {
    sink.write(field: field)
    sink.write(decimal: number)
  }

  private func write(_ field: StaticString, _ isTrue: Bool) {
    sink.write(field: field)
    sink.write(isTrue ? "true" : "false")
  }

  private func write(_ field: StaticString, milliseconds time: Nanoseconds) {
    sink.write(field: field)
    sink.write(milliseconds: time)
  }
}
