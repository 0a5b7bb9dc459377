// A run that is followed: the states that it reports become the events that a display folds. States
// that did not last are not reported, and so are not shown.

import CLinux
import Diagnostics
import Glibc
import Plans
import Reporting
import RunFiles
import Scheduling

final class FollowedRun {
  private struct Known {
    var state = "waiting"
    var ending: Ending?
    var role: CommandRole?
    var attempt = 1
    /// The command whose end was reported last.
    var ended: CommandRole?
    var attemptFailed = false
    var failedHook: HookKind?
  }

  private let directory: RunDirectory
  private let console: Console
  private let start: Nanoseconds
  private let plannedCount: Int
  private var known: [Known] = []
  private var numbers: [String: OperationID] = [:]
  /// The names of the steps, by number.
  private var names: [String] = []
  private var paused: Set<QueueID> = []
  private var isStopping = false
  private let queues: [QueueSpec]
  /// False while the run reports its earlier states.
  private var isLive = false
  /// The commands that are running.
  private var running: [OperationID: CommandRole] = [:]
  /// The commands whose logs are open.
  private var opened: [OperationID: CommandRole] = [:]

  /// The number of logs whose last lines are shown.
  private static let mostLogs = 100

  init(
    _ head: ControlLine, _ plan: FollowedPlan, in directory: RunDirectory, on screen: Screen
  ) {
    self.directory = directory
    let made = plan.plan
    queues = made.queues
    console = Console(
      plan: made, directory: directory, screen: screen, mode: .live, showsOutput: false)
    start = head.nanoseconds("monotonic_ns") ?? 0
    plannedCount = plan.rows.count
    let wallTime = head.milliseconds("started_ms") ?? 0
    tell(
      .began(
        RunBeginning(
          runID: head.text("run") ?? "",
          clock: RunClock(wallTime: wallTime, monotonicTime: start),
          host: RunHost(name: "", processorCount: 1),
          processID: head.int32("process") ?? 0)))
    for row in plan.rows { hear(row) }
    hearRun(head)
    isLive = true
  }

  private var now: Nanoseconds { monotonicTime() - start }

  private func tell(_ kind: RunEvent.Kind, at time: Nanoseconds? = nil) {
    let event = RunEvent(at: time ?? now, kind)
    if isLive { console.observe(event) } else { console.catchUp(event) }
  }

  // MARK: Lines

  /// Takes a line; true if it is the last one.
  func take(_ line: ControlLine) -> Bool {
    if line.isTrue("finished") {
      // Only the words of the reason are known.
      tell(
        .finished(
          RunEnd(
            exitStatus: line.int32("exit_status") ?? 0,
            stopReason: line.text("stopping").map {
              $0 == StopReason.leftWords ? .left : .stateFailure($0)
            },
            hookFailed: line.isTrue("hook_failed"))))
      return true
    }
    if line.isTrue("changed") { hearRun(line) } else if line.has("step") { hear(line) }
    return false
  }

  private func hearRun(_ line: ControlLine) {
    for queue in line.lines("queues") {
      guard let index = queues.firstIndex(where: { $0.name == queue.text("name") }) else {
        continue
      }
      let id = QueueID(index)
      let subject = queues.count > 1 ? id : nil
      if queue.isTrue("paused"), paused.insert(id).inserted, let user = queue.text("by") {
        tell(
          .controlled(ControlNote(.pause(subject), by: user)), at: queue.milliseconds("since_ms"))
      } else if !queue.isTrue("paused"), paused.remove(id) != nil {
        tell(.controlled(ControlNote(.proceed(subject), by: line.text("by") ?? "somebody")))
      }
    }
    if let reason = line.text("stopping"), !isStopping {
      isStopping = true
      // Only the words of the reason are known.
      tell(.stopping(.stateFailure(reason)))
    }
  }

  private func hear(_ row: ControlLine) {
    guard let number = row.number("number"), let state = row.text("state") else { return }
    let operation = OperationID(number)
    if number == known.count {
      known.append(Known())
      let name = row.text("step") ?? ""
      names.append(name)
      numbers[name] = operation
      // What it is in may become known only after it.
      if number >= plannedCount, let origin = row.number("of"), origin < number {
        tell(.appended(operation, id: name, group: OperationID(origin)))
      }
    }
    guard known.indices.contains(number) else { return }
    if let ending = known[number].ending, ending != self.ending(state, row) {
      known[number] = Known()
      tell(.reopened(operation, ending))
    }
    known[number].attempt = row.number("attempt") ?? known[number].attempt
    switch state {
    case "running": hearRunning(operation, row)
    case "retrying":
      end(operation, row)
      if known[number].state != state {
        tell(.retrying(operation, nextAttempt: known[number].attempt + 1, delay: 0))
      }
    case "waiting", "ready": break
    default:
      if known[number].ending == nil, let ending = ending(state, row) {
        end(operation, row)
        known[number].ending = ending
        tell(.settled(operation, ending, cause(of: ending, known[number], row)))
      }
    }
    known[number].state = state
  }

  private func cause(of ending: Ending, _ step: Known, _ row: ControlLine) -> Cause {
    if row.has("group") {
      if let reason = row.text("reason") { return .condition(reason) }
      if let hook = row.text("failed_hook").flatMap(HookKind.init(key:)) { return .hook(hook) }
    }
    if let root = row.text("because_of").flatMap({ numbers[$0] }) { return .dependency(root) }
    // What was cancelled in this run has a command, or no reason.
    if ending.outcome == .cancelled, !row.has("status"), let reason = row.text("reason") {
      return .stoppedEarlier(.stateFailure(reason))
    }
    guard ending.outcome == .failed, !step.attemptFailed else { return .itself }
    return step.failedHook.map { .hook($0) } ?? .itself
  }

  private func ending(_ state: String, _ row: ControlLine) -> Ending? {
    Outcome.allCases.first { $0.word == state }.map { Ending($0, isAllowed: row.isTrue("allowed")) }
  }

  private func hearRunning(_ operation: OperationID, _ row: ControlLine) {
    let kind = row.text("hook").flatMap(HookKind.init(key:))
    let role =
      row.text("command").flatMap(CommandRole.init(named:))
      ?? kind.map { CommandRole.hook($0, index: 1) } ?? .attempt(known[operation.index].attempt)
    guard known[operation.index].role != role else { return }
    end(operation, row)
    known[operation.index].role = role
    running[operation] = role
    tell(.started(operation, role), at: row.milliseconds("since_ms"))
  }

  /// Reports the end of the command that ran, or of one whose start was not reported.
  private func end(_ operation: OperationID, _ row: ControlLine) {
    let wasRunning = running.removeValue(forKey: operation)
    guard let end = CommandEnd(row) else { return closeLog(of: operation) }
    let role =
      row.text("ended").flatMap(CommandRole.init(named:)) ?? wasRunning
      ?? .attempt(known[operation.index].attempt)
    known[operation.index].role = nil
    // The end of a failed attempt is repeated in every later line.
    if wasRunning != role, known[operation.index].ended == role { return }
    known[operation.index].ended = role
    switch role {
    case .attempt: known[operation.index].attemptFailed = !end.isSuccess
    case .hook(let kind, _, _): if !end.isSuccess { known[operation.index].failedHook = kind }
    case .probe: break
    }
    if wasRunning != role { tell(.started(operation, role), at: max(0, now - end.duration)) }
    if end.outputByteCount > 0 { openLog(of: operation, role) }
    tell(.ended(operation, role, end))
    closeLog(of: operation)
  }

  // MARK: Output

  private func openLog(of operation: OperationID, _ role: CommandRole) {
    if opened[operation] == role { return }
    closeLog(of: operation)
    let file = directory.open(RunDirectory.logName(of: names[operation.index], role))
    guard file >= 0 else { return }
    opened[operation] = role
    directory.logs.add(LogFile(owning: file), of: operation, role)
  }

  private func closeLog(of operation: OperationID) {
    if let role = opened.removeValue(forKey: operation) {
      directory.logs.remove(of: operation, role)
    }
  }

  /// Opens the logs of running steps and reports their growth.
  private func lookAtLogs() {
    for (operation, role) in running.sorted(by: { $0.key < $1.key }).prefix(Self.mostLogs) {
      openLog(of: operation, role)
      guard let log = directory.logs.log(of: operation, role), log.size > 0 else { continue }
      tell(.outputGrew(operation, role, byteCount: log.size))
    }
  }

  /// Draws; returns the time until the next frame in milliseconds.
  func endTurn() -> Int32 {
    lookAtLogs()
    console.endTurn(at: now)
    let wait = (console.deadline ?? now + 1_000_000_000) - now
    return Int32(max(1, min(wait / 1_000_000 + 1, 1000)))
  }
}

extension CommandEnd {
  /// Reads how a command ended; nil if the row does not say.
  fileprivate init?(_ row: ControlLine) {
    let signal = row.text("signal").flatMap { name in (1...64).first { signalName($0) == name } }
    guard let duration = row.milliseconds("duration_ms"), let word = row.text("status"),
      let status = Status(
        word: word, code: row.int32("exit_code") ?? signal, detail: row.text("reason"))
    else { return nil }
    self.init(
      status, timedOut: row.isTrue("timed_out"), isStopped: row.isTrue("stopped"),
      notReadyAfter: row.milliseconds("not_ready_ms"), duration: duration,
      outputByteCount: row.number("output_bytes") ?? 0)
  }
}
