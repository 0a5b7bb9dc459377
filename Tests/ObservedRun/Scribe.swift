// An observer that writes down what it is told, in the file `trace`. Steps can write there, too.

import Glibc
import Pipelines
import Plans
import Scheduling

/// Described by its name and what else it does, between commas: `screen`,
/// `keeper,fails=settled a,slow`.
final class Scribe: RunObserver {
  private let name: Substring
  private let plan: Plan
  private var appended: [String] = []
  /// The event that it cannot handle.
  private var failing: Substring?
  /// The event that it accepts but cannot keep.
  private var losing: Substring?
  /// True if keeping takes a while.
  private var isSlow = false
  private var interval: Nanoseconds?
  /// True if it asks the run to end when it is called for the third time.
  private var endsRun = false

  /// The events since the last commit.
  private var uncommitted: [String] = []
  private var dueCount = 0
  private(set) var deadline: Nanoseconds?

  init(_ description: String, _ plan: Plan) {
    let parts = description.split(separator: ",")
    name = parts[0]
    self.plan = plan
    for part in parts.dropFirst() {
      let sides = part.split(separator: "=")
      switch sides[0] {
      case "fails": failing = sides[1]
      case "loses": losing = sides[1]
      case "slow": isSlow = true
      case "ends": endsRun = true
      case "every": interval = sides.last.flatMap { Nanoseconds($0) }.map { $0 * 1_000_000 }
      default: preconditionFailure("no observer does this: \(part)")
      }
    }
    deadline = interval
  }

  func observe(_ event: RunEvent) throws(ObserverFailure) {
    guard let words = words(event.kind) else { return }
    write(words)
    if words == failing ?? "" { throw ObserverFailure("\(name) cannot take '\(words)'") }
    uncommitted.append(words)
  }

  func commit() throws(ObserverFailure) {
    guard !uncommitted.isEmpty else { return }
    if isSlow { usleep(100_000) }
    if let losing, uncommitted.contains(String(losing)) {
      write("commit fails")
      throw ObserverFailure("\(name) cannot keep '\(losing)'")
    }
    write("commit")
    uncommitted = []
  }

  func endTurn(at time: Nanoseconds) throws(ObserverFailure) {
    try commit()
    guard let interval, let deadline, time >= deadline else { return }
    dueCount += 1
    append("", to: "due.\(dueCount)")
    if endsRun, dueCount == 3 { kill(getpid(), SIGTERM) }
    self.deadline = time + interval
  }

  private func words(_ event: RunEvent.Kind) -> String? {
    switch event {
    case .began(let beginning):
      append(details(beginning), to: "beginning.\(name)")
      return "began"
    case .started(let operation, let role): return "started \(id(operation))\(suffix(role))"
    case .ended(let operation, let role, let end):
      return "ended \(id(operation))\(suffix(role)): \(words(end.status))"
    case .appended(_, let id, let group, _, _):
      appended.append(id)
      return "appended \(id) to \(self.id(group))"
    case .settled(let operation, let ending, _): return "settled \(id(operation)) \(ending.outcome)"
    case .retrying(let operation, _, _): return "retrying \(id(operation))"
    case .stopping(.stateFailure(let message)): return "stopping: \(message)"
    case .stopping(let reason): return "stopping: \(reason)"
    case .notice(let text): return "notice: \(text)"
    case .finished(let end): return "finished \(end.exitStatus)"
    case .controlled(let note): return "controlled \(note.action.word) by \(note.user)"
    case .reopened(let operation, let ending):
      return "reopened \(id(operation)) \(ending.outcome)"
    case .outputGrew, .resolved, .waiting, .published, .ready, .heldUp, .placed, .orphansFound,
      .outOfReach, .restored, .terminalTaken, .terminalReturned:
      return nil
    }
  }

  private func details(_ beginning: RunBeginning) -> String {
    "\(beginning.runID) \(beginning.clock.wallTime) \(beginning.clock.monotonicTime) "
      + "\(beginning.host.name) \(beginning.host.processorCount) \(beginning.processID)"
  }

  private func words(_ status: CommandEnd.Status) -> String {
    switch status {
    case .exited(let code): "\(code)"
    case .signalled(let signal): "signal \(signal)"
    case .notStarted(let reason, _), .outputsRefused(let reason), .lost(let reason): reason
    case .abandoned: "abandoned"
    }
  }

  private func suffix(_ role: CommandRole) -> String {
    switch role {
    case .attempt: ""
    case .hook(let kind, _, _): " \(kind)"
    case .probe: " probe"
    }
  }

  private func id(_ operation: OperationID) -> String {
    if operation.rawValue < 0 { return "the run" }
    let count = plan.steps.count
    return operation.index < count
      ? plan.steps[operation.index].id : appended[operation.index - count]
  }

  private func write(_ words: String) { append("\(name): \(words)", to: "trace") }

  /// Appends a line in one call, so that no other writer gets in between.
  private func append(_ line: String, to file: String) {
    let file = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    let bytes = Array("\(line)\n".utf8)
    precondition(Glibc.write(file, bytes, bytes.count) == bytes.count)
    close(file)
  }
}
