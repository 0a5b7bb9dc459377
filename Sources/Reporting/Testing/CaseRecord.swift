// The record of a rehearsed run, as far as tests can have expectations about it.

package import Plans
import Scheduling

/// Folds the events of one run.
package final class CaseRecord: RunObserver {
  /// One line of the timeline.
  struct Entry {
    let time: Nanoseconds
    let text: String
  }

  private let plan: Plan
  private var added: [OperationID: String] = [:]
  private(set) var timeline: [Entry] = []
  /// The steps in the order of their first starts.
  private(set) var starts: [String] = []
  private(set) var hooks: [String] = []
  private(set) var attempts: [String: Int] = [:]
  /// The steps that have ended, in order.
  private(set) var settled: [String] = []
  private(set) var outcomes: [String: Outcome] = [:]
  private(set) var roots: [String: String] = [:]
  private(set) var outputs: [String: String] = [:]
  private(set) var end: RunEnd?
  private(set) var duration: Nanoseconds = 0

  package init(_ plan: Plan) { self.plan = plan }

  package func observe(_ event: RunEvent) {
    switch event.kind {
    case .appended(let operation, let id, _, _, _): added[operation] = id
    case .started(let operation, let role): started(operation, role, at: event.time)
    case .ended(let operation, let role, let end):
      if let text = words(of: end) { add("\(name(operation, role)): \(text)", at: event.time) }
    case .settled(let operation, let ending, let cause):
      settle(name(operation), ending, cause, at: event.time)
    case .published(.run, let published):
      for output in published { outputs[output.name] = output.json }
    case .stopping(let reason):
      add("the run stops: \(reason.words { self.name($0) })", at: event.time)
    case .notice(let text): add(text, at: event.time)
    case .finished(let end):
      self.end = end
      duration = event.time
      add("exit status \(end.exitStatus)", at: event.time)
    case .began, .outputGrew, .terminalTaken, .terminalReturned, .resolved, .waiting, .ready,
      .heldUp, .placed, .published, .retrying, .orphansFound, .outOfReach, .restored, .controlled,
      .reopened:
      break
    }
  }

  /// The ids of all steps, and of instances that were added.
  var names: [String] { plan.steps.map(\.id) + added.values }

  private func started(_ operation: OperationID, _ role: CommandRole, at time: Nanoseconds) {
    let name = name(operation, role)
    switch role {
    case .attempt(let number):
      if attempts.updateValue(number, forKey: name) == nil { starts.append(name) }
    case .hook: hooks.append(name)
    case .probe: break
    }
    add("\(name) starts", at: time)
  }

  private func settle(
    _ name: String, _ ending: Ending, _ cause: Cause, at time: Nanoseconds
  ) {
    settled.append(name)
    outcomes[name] = ending.outcome
    var text = "\(name) \(ending.outcome.pastTense)"
    if ending.isAllowed { text += ", which is allowed" }
    switch cause {
    case .dependency(let root):
      roots[name] = self.name(root)
      text += " because of \(self.name(root))"
    case .condition(let reason), .timeLimit(let reason), .wait(let reason), .service(let reason),
      .notReady(let reason):
      text += ": \(reason)"
    case .stopped(let reason), .stoppedEarlier(let reason):
      text += ": \(reason.words { self.name($0) })"
    case .hook(let kind): text += ": \(kind.key) failed"
    case .itself: break
    }
    add(text, at: time)
  }

  /// The end of a command in words; nil if it ended well.
  private func words(of end: CommandEnd) -> String? {
    if end.timedOut { return "timed out" }
    if end.isStopped { return "stopped" }
    switch end.status {
    case .exited(0): return nil
    case .exited(let code): return "exit \(code)"
    case .signalled(let signal): return "signal \(signal)"
    case .notStarted(let reason, _), .outputsRefused(let reason), .lost(let reason): return reason
    case .abandoned: return "could not be ended"
    }
  }

  private func add(_ text: String, at time: Nanoseconds) {
    timeline.append(Entry(time: time, text: text))
  }

  private func name(_ operation: OperationID, _ role: CommandRole) -> String {
    guard case .hook(let kind, _, _) = role else { return name(operation) }
    return operation == .run ? kind.key : "\(name(operation)).\(kind.key)"
  }

  private func name(_ operation: OperationID) -> String {
    if let id = added[operation] { return id }
    return plan.steps.indices.contains(operation.index) ? plan.steps[operation.index].id : "the run"
  }
}
