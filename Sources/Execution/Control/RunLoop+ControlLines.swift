// The lines of answers to clients. Their fields are documented in docs/control.md.

import Caching
import Diagnostics
import Glibc
import Masking
import Plans
import Running
import Scheduling

/// The fields of a JSON object, in order.
private struct JSONFields {
  private(set) var text = "{"

  mutating func add(_ name: String, _ value: String) { add(name, json: jsonString(value)) }

  mutating func add(_ name: String, _ number: Int) { add(name, json: String(number)) }

  mutating func add(_ name: String, _ isTrue: Bool) {
    add(name, json: isTrue ? "true" : "false")
  }

  /// Adds a time in whole milliseconds.
  mutating func add(_ name: String, milliseconds time: Nanoseconds) {
    add(name, json: String(time / 1_000_000))
  }

  mutating func add(_ name: String, json: String) {
    if text.utf8.count > 1 { text += "," }
    text += "\""
    text += name
    text += "\":"
    text += json
  }

  var line: String { text + "}\n" }
  var object: String { text + "}" }
}

extension RunLoop {
  private func beginning(isOK: Bool) -> JSONFields {
    var fields = JSONFields()
    fields.add("protocol", ControlRequest.version)
    fields.add("oprun", options.controlVersion ?? "")
    fields.add("ok", isOK)
    fields.add("run", options.runID)
    return fields
  }

  func answerLine(_ words: String) -> String {
    var fields = beginning(isOK: true)
    fields.add("message", masked(words))
    return fields.line
  }

  func refusalLine(_ failure: ControlFailure) -> String {
    var fields = beginning(isOK: false)
    fields.add("error", masked(failure.message))
    if let help = failure.help { fields.add("help", masked(help)) }
    return fields.line
  }

  private func masked(_ text: String) -> String { masker?.mask(text) ?? text }

  func doneWords(_ action: ControlAction) -> String {
    let queue = action.queue.map { "queue '\(machine.plan.queues[$0.index].name)'" }
    let step = action.operation.map { "'\(name(of: $0))'" } ?? ""
    switch action {
    case .pause:
      return "\(queue ?? "the run") is paused: running steps continue, no new step starts"
    case .proceed: return "\(queue ?? "the run") continues"
    case .cancelRun: return "the run is being cancelled"
    case .cancel: return "\(step) is being cancelled"
    case .cancelQueue: return "\(queue ?? "") is being cancelled"
    case .retry: return "\(step) runs again"
    case .setWidth(_, let width):
      let most = machine.commandCapacity
      let rest = width > most ? "; no more than \(most) run at once (ulimit -n)" : ""
      return "\(queue ?? "") has max_parallel \(width)\(rest)"
    case .setPriority(_, let priority): return "\(step) has priority \(priority)"
    }
  }

  // MARK: The run

  /// The first line of a status.
  func statusLine(at time: Nanoseconds) -> String {
    var fields = beginning(isOK: true)
    fields.add("pipeline", masked(machine.plan.name))
    fields.add("process", Int(getpid()))
    let clock = waiting.clock
    fields.add("started_ms", Int(clock.wallTime / 1_000_000))
    fields.add("monotonic_ns", Int(clock.monotonicTime))
    addState(to: &fields, at: time)
    return fields.line
  }

  /// The line that reports a change of the run itself.
  func runLine(at time: Nanoseconds) -> String {
    var fields = JSONFields()
    fields.add("changed", true)
    if let user = control.lastUser { fields.add("by", user) }
    addState(to: &fields, at: time)
    return fields.line
  }

  /// The last line for clients that follow the run.
  func endLine(_ end: RunEnd) -> String {
    var fields = JSONFields()
    fields.add("finished", true)
    fields.add("exit_status", Int(end.exitStatus))
    if end.hookFailed { fields.add("hook_failed", true) }
    if let reason = end.stopReason {
      fields.add("stopping", masked(reason.words { machine.steps[$0].id }))
    }
    return fields.line
  }

  private func addState(to fields: inout JSONFields, at time: Nanoseconds) {
    fields.add("elapsed_ms", milliseconds: time)
    if let reason = machine.stopReason {
      fields.add("stopping", masked(reason.words { machine.steps[$0].id }))
    }
    let counts = machine.countStates()
    fields.add("steps", counts.steps + options.unplanned.count)
    fields.add("waiting", counts.waiting)
    fields.add("ready", counts.ready)
    fields.add("running", counts.running)
    fields.add("allowed", counts.allowed)
    for outcome in Outcome.allCases {
      let unplanned = outcome == .cached ? options.unplanned.count : 0
      fields.add(outcome.word, counts.ended[Int(outcome.rawValue)] + unplanned)
    }
    let queues = machine.plan.queues.indices.map { queueObject(QueueID($0)) }
    fields.add("queues", json: "[" + queues.joined(separator: ",") + "]")
  }

  private func queueObject(_ queue: QueueID) -> String {
    let spec = machine.scheduler[queue]
    let counts = machine.scheduler.counts(of: queue)
    var fields = JSONFields()
    fields.add("name", spec.name)
    if spec.width < .max { fields.add("max_parallel", spec.width) }
    fields.add("paused", spec.isSuspended)
    if spec.isSuspended, let pause = control.pauses[queue] {
      fields.add("by", pause.user)
      fields.add("since_ms", milliseconds: pause.since)
    }
    fields.add("running", counts.running)
    fields.add("ready", counts.ready)
    return fields.object
  }

  // MARK: Steps

  /// True if people do not count the operation, because others take its place.
  private func isGroup(_ operation: OperationID) -> Bool {
    !machine.groups.members(of: operation).isEmpty
  }

  /// The line of a step; nil if the client has not asked about such a step.
  func stepLine(
    _ operation: OperationID, _ ended: EndedCommand?, in feed: ControlFeed,
    _ starts: [CommandKey: Nanoseconds]
  ) -> String? {
    let state = machine.scheduler.state(of: operation)
    let role = machine.role(of: operation)
    let isGroup = isGroup(operation)
    if !feed.isWhole, !machine.isOfInterest(operation) { return nil }
    var fields = JSONFields()
    fields.add("step", name(of: operation))
    fields.add("number", operation.index)
    fields.add("state", word(for: state, operation))
    if isGroup { fields.add("group", isMatrix(operation) ? "matrix" : "steps") }
    if let parent = machine.groups.group(of: operation) { fields.add("in", parent.index) }
    if let addition = added[operation] { fields.add("of", addition.origin.index) }
    let queue = machine.scheduler.graph.queue(of: operation)
    if queue != .default, machine.plan.queues.indices.contains(queue.index) {
      fields.add("queue", machine.plan.queues[queue.index].name)
    }
    if let attempt = machine.attempt(of: operation) { fields.add("attempt", attempt) }
    if let role, case .hook(let kind, _, _) = role {
      fields.add("hook", kind.key)
      fields.add("command", role.name)
    }
    if let role, let start = starts[CommandKey(operation: operation, role: role)] {
      fields.add("since_ms", milliseconds: start)
    }
    if state == .running, let place = control.places[operation] {
      fields.add("job", place.job)
      if let node = place.node { fields.add("node", node) }
      if let reason = place.reason { fields.add("waits_for", reason) }
    }
    if case .ended(let ending) = state {
      if machine.asReported(ending, of: operation).isAllowed { fields.add("allowed", true) }
      if let root = machine.scheduler.root(of: operation) {
        fields.add("because_of", name(of: root))
      }
    }
    if let fault = machine.fault(ofGroup: operation) { add(fault: fault, to: &fields) }
    if let reason = control.earlierStops[operation] {
      fields.add("reason", masked(reason.words { machine.steps[$0].id }))
    }
    if let ended = ended ?? control.failedEnds[operation] { add(ended, to: &fields) }
    if feed.follows, !feed.hasToldAll { addPlan(of: operation, to: &fields) }
    return fields.line
  }

  /// The line of a step that is not planned; its number follows those of the planned ones.
  func unplannedLine(_ place: Int) -> String {
    let step = options.unplanned[place]
    var fields = JSONFields()
    fields.add("step", step.id)
    fields.add("number", machine.steps.count + place)
    fields.add("state", Outcome.cached.word)
    if let name = step.label { fields.add("name", name) }
    return fields.line
  }

  /// Adds the fields with which followers of the run estimate its end.
  private func addPlan(of operation: OperationID, to fields: inout JSONFields) {
    let graph = machine.scheduler.graph
    if let name = machine.steps[operation].settings.name { fields.add("name", masked(name)) }
    if let expected = graph.expected(of: operation) {
      fields.add("expected_ms", milliseconds: expected)
    }
    if !graph.takesSlot(operation) { fields.add("service", true) }
    var before: [String] = []
    graph.forEachDependency(of: operation) { before.append(String($0.from.index)) }
    if !before.isEmpty { fields.add("after", json: "[" + before.joined(separator: ",") + "]") }
  }

  private func isMatrix(_ operation: OperationID) -> Bool {
    machine.groupPlan(operation)?.isOfInstances ?? false
  }

  /// The reason why a group failed by itself.
  private func add(fault: Cause, to fields: inout JSONFields) {
    switch fault {
    case .condition(let words), .timeLimit(let words): fields.add("reason", masked(words))
    case .hook(let kind): fields.add("failed_hook", kind.key)
    case .itself, .dependency, .wait, .service, .notReady, .stopped, .stoppedEarlier: break
    }
  }

  private func add(_ ended: EndedCommand, to fields: inout JSONFields) {
    let end = ended.end
    fields.add("ended", ended.role.name)
    fields.add("status", end.status.word.description)
    if let code = end.status.code {
      if end.status.isSignal {
        fields.add("signal", signalName(code))
      } else {
        fields.add("exit_code", Int(code))
      }
    }
    if let reason = end.status.detail { fields.add("reason", masked(reason)) }
    if end.timedOut { fields.add("timed_out", true) }
    if end.isStopped { fields.add("stopped", true) }
    if let time = end.notReadyAfter { fields.add("not_ready_ms", milliseconds: time) }
    fields.add("duration_ms", milliseconds: end.duration)
    fields.add("output_bytes", end.outputByteCount)
  }

  private func word(
    for state: OperationState, _ operation: OperationID
  ) -> String {
    switch state {
    case .waiting: "waiting"
    case .ready: "ready"
    case .running: "running"
    case .paused: machine.attempt(of: operation) == nil ? "waiting" : "retrying"
    case .ended(let ending): ending.outcome.word
    }
  }
}
