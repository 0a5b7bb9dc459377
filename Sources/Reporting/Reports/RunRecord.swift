// The record of a run, for reports: every step and every command with its times. It is folded from
// the events, and kept completely until the end.

import Diagnostics
import Plans
import RunFiles
import Scheduling

/// One command of a step, or of a hook of the run.
struct CommandRecord {
  let stream: Stream
  let start: Nanoseconds
  /// The row of the command. Commands that ran at the same time have different rows, numbered from
  /// 0.
  let row: Int
  /// The end of the command; nil until it has ended.
  var end: CommandEnd?
}

/// A step, or an instance, that has its outcome.
struct ReportedStep {
  let settled: SettledOperation
  /// When the step got its outcome.
  let end: Nanoseconds

  var operation: OperationID { settled.operation }
  /// The duration; zero if the step never started. For a step that oprun left behind when it died,
  /// it is a lower bound.
  var duration: Nanoseconds { settled.record.map { end - $0.start } ?? 0 }
  /// The duration; nil if the step never started, or nobody knows.
  var knownDuration: Nanoseconds? {
    settled.record == nil || settled.hasNoEnd ? nil : duration
  }
  /// The ending of the step in words.
  var words: String {
    settled.isUnended ? "not ended" : settled.isLeft ? "left" : settled.ending.words
  }
}

struct RunRecord {
  let operations: RunOperations
  /// The previous run; nil if there was none.
  var previous: PreviousRun?
  private(set) var beginning: RunBeginning?
  private var keptSteps: [ReportedStep] = []
  /// The operations of `keptSteps` that have no outcome any more. A retry takes back many outcomes at once.
  private var reopened: Set<OperationID> = []
  /// The operations that were blocked by each failure, `reopened` included.
  private var keptBlocked: [OperationID: [OperationID]] = [:]
  private(set) var commands: [CommandRecord] = []
  private(set) var end: RunEnd?
  /// The duration of the run, so far or in all.
  var wallTime: Nanoseconds = 0
  private(set) var ledger: RunLedger
  /// The indices of commands that run: for each operation, and before them for the run itself, the
  /// index of the command that was started last, then those of others beside it.
  private var running: [Int32]
  private var others: [Stream: Int] = [:]
  private var freeRows: [Int] = []
  private var rowCount = 0

  init(_ operations: RunOperations) {
    self.operations = operations
    ledger = RunLedger(operations)
    running = [Int32](repeating: -1, count: operations.count + 1)
    keptSteps.reserveCapacity(operations.count)
    commands.reserveCapacity(operations.count)
  }

  mutating func observe(_ event: RunEvent) {
    wallTime = max(wallTime, event.time)
    switch event.kind {
    case .began(let beginning): self.beginning = beginning
    case .started(let operation, let role):
      ledger.start(operation, at: event.time)
      start(Stream(operation: operation, role: role), at: event.time)
    case .ended(let operation, let role, let end):
      finish(Stream(operation: operation, role: role), end, at: event.time)
    case .appended(let operation, let id, let group, let after, _):
      operations.append(operation, id: id, to: group, after: after)
    case .resolved(let operation, let command, let name):
      ledger.resolve(operation, command: command)
      operations.resolve(operation, name: name)
    case .settled(let operation, let ending, let cause):
      removeReopened()
      if let settled = ledger.settle(operation, ending, cause, at: event.time) {
        keptSteps.append(ReportedStep(settled: settled, end: event.time))
        if ending.outcome == .blocked, case .dependency(let root) = cause {
          keptBlocked[root, default: []].append(operation)
        }
      }
    case .reopened(let operation, let ending):
      ledger.reopen(operation, ending)
      reopened.insert(operation)
    case .finished(let end):
      self.end = end
      ledger.finish(end)
      wallTime = event.time
    case .ready(let operation): ledger.becameReady(operation, at: event.time)
    case .placed(let operation, _, let place): ledger.place(operation, place)
    case .controlled(let note): ledger.hear(note)
    case .outputGrew, .waiting, .heldUp, .published, .retrying, .orphansFound, .outOfReach,
      .restored,
      .stopping, .notice, .terminalTaken, .terminalReturned:
      break
    }
  }

  /// The steps that have their outcome, in the order in which they got it.
  var steps: [ReportedStep] {
    reopened.isEmpty ? keptSteps : keptSteps.filter { !reopened.contains($0.operation) }
  }

  /// The operations that were blocked by a failure.
  func blocked(by failure: ReportedStep) -> [OperationID] {
    let blocked = keptBlocked[failure.operation] ?? []
    return reopened.isEmpty ? blocked : blocked.filter { !reopened.contains($0) }
  }

  private mutating func removeReopened() {
    if reopened.isEmpty { return }
    keptSteps.removeAll { reopened.contains($0.operation) }
    for root in keptBlocked.keys { keptBlocked[root]?.removeAll(where: reopened.contains) }
    reopened = []
  }

  private mutating func start(_ stream: Stream, at time: Nanoseconds) {
    let row: Int
    if let index = freeRows.indices.min(by: { freeRows[$0] < freeRows[$1] }) {
      row = freeRows.remove(at: index)
    } else {
      row = rowCount
      rowCount += 1
    }
    let place = stream.operation.index + 1
    while running.count <= place { running.append(-1) }
    let other = running[place]
    if other >= 0 { others[commands[Int(other)].stream] = Int(other) }
    running[place] = Int32(commands.count)
    commands.append(CommandRecord(stream: stream, start: time, row: row))
  }

  private mutating func finish(_ stream: Stream, _ end: CommandEnd, at time: Nanoseconds) {
    let end = end.isLost ? operations.completed(end, of: stream) : end
    let log = end.outputByteCount > 0 ? operations.log(of: stream)?.identity : nil
    let result = CommandResult(role: stream.role, end: end, log: log)
    ledger.end(stream.operation, result, at: time)
    guard let index = takeRunning(stream) else { return }
    commands[index].end = end
    freeRows.append(commands[index].row)
  }

  private mutating func takeRunning(_ stream: Stream) -> Int? {
    let place = stream.operation.index + 1
    guard running.indices.contains(place), running[place] >= 0,
      case let index = Int(running[place]), commands[index].stream == stream
    else { return others.removeValue(forKey: stream) }
    running[place] = -1
    return index
  }
}

// What all reports contain.
extension RunRecord {
  /// True if oprun died before the end of the run: then its exit status and its duration are not known.
  var hasDied: Bool { end?.stopReason == .died }

  /// True if jobs of the run go on: its result is not known.
  var wasLeft: Bool { end?.wasLeft == true }

  /// The exit status; nil if the run goes on, or nobody knows.
  var exitStatus: Int32? { hasDied ? nil : end?.exitStatus }

  /// The status that oprun exited with: the exit status, unless it passed on that of a step.
  var givenStatus: Int32? { exitStatus.map { end?.passedOn?.status ?? $0 } }

  /// The failures that are not allowed.
  var failures: [ReportedStep] { steps.filter { $0.settled.isFailure } }

  /// Steps whose commands were ended from outside, or by a limit of the run or of a group.
  var interrupted: [ReportedStep] { steps.filter(isInterrupted) }

  func isInterrupted(_ step: ReportedStep) -> Bool { ledger.isInterrupted(step.settled) }

  /// The number of steps with each kind of ending.
  var counts: EndingCounts { ledger.counts }

  /// The critical path from its first step to its last; empty if nothing ran.
  var criticalPath: [OperationID] { ledger.criticalPath }

  /// Why the step ended as it did, in a few words: `exit 1 after 3.4s`, `'unit' failed`.
  func reason(of step: ReportedStep) -> String {
    let settled = step.settled
    if settled.isUnended {
      return operations.words { $0.write(unended: settled) }
    } else if settled.isLeft {
      return (settled.record == nil ? "did not start: " : "goes on: ") + StopReason.leftWords
    } else if let decisive = settled.decisive {
      return reason(decisive, of: step)
    } else {
      return settled.reason(operations) ?? ""
    }
  }

  private func reason(_ decisive: CommandResult, of step: ReportedStep) -> String {
    let limit = operations.limit(of: decisive.end, as: decisive.role, step.operation)
    return operations.words { sink in
      sink.write(hookOf: decisive.role)
      sink.write(decisive.end, limit: limit, columns: .max)
      sink.write(decisive.place)
      switch step.settled.cause {
      case .notReady(let words), .service(let words): sink.write(": \(oneLine(words))")
      case .itself, .dependency, .condition, .timeLimit, .wait, .stopped, .stoppedEarlier, .hook:
        break
      }
    }
  }

  /// How a step ended and why, in a sentence: `failed: exit 1 after 3.4s`, `timed out after 30s`.
  func sentence(of step: ReportedStep) -> String {
    let ending = step.settled.ending
    let reason = reason(of: step)
    if step.settled.hasNoEnd { return reason }
    if reason.isEmpty { return ending.words }
    // `cancelled by ann` is complete.
    if reason.hasPrefix("\(ending.words) ") { return reason }
    guard step.settled.decisive?.end.timedOut == true else { return "\(ending.words): \(reason)" }
    return reason + (ending.isAllowed ? ", but allowed" : "")
  }

  /// The numbers of steps with each kind of ending, in the words of the terminal.
  var countsInWords: String {
    let words = ledger.counts.words
    return words.isEmpty ? "nothing ran" : words.joined(separator: ", ")
  }

  /// The remarks about the end of the run besides its steps.
  var remarks: [String] { end?.remarks(operations, ledger.counts) ?? [] }

  /// The hooks of the run itself and of used pipelines that failed.
  var failedHooks: [FailedHook] { ledger.failedHooks }

  /// The end of the output of such a hook.
  func tail(ofHook hook: FailedHook, limit: Int, buffer: UnsafeMutableRawBufferPointer)
    -> LogTail?
  {
    tail(of: hook.stream, hook.command, limit, buffer)
  }

  /// The command that resumes the run; nil if there is nothing to resume.
  var resumeCommand: String? {
    guard let run = beginning?.runID, let end, ledger.isWorthResuming(after: end) else {
      return nil
    }
    return operations.resumeCommand(of: run)
  }

  /// The first line of the command that decided how a step failed.
  func command(of step: ReportedStep) -> String? {
    guard !operations.standsForOthers(step.operation) else { return nil }
    return operations.command(of: step.settled).map(firstLine)
  }

  /// The first line of such a hook.
  func command(ofHook hook: FailedHook) -> String? {
    let settings = operations.settings(of: hook.operation)
    return operations.hook(hook.command.role, of: settings)?.work.shown.map(firstLine)
  }

  private func firstLine(of command: ShownCommand) -> String {
    operations.firstLine(of: command, columns: Self.widestCommand)
  }

  private static let widestCommand = 400

  /// The end of the decisive output; nil if there is none, or it cannot be read.
  func tail(of step: ReportedStep, limit: Int, buffer: UnsafeMutableRawBufferPointer) -> LogTail? {
    guard let decisive = step.settled.decisive else { return nil }
    return tail(
      of: Stream(operation: step.operation, role: decisive.role), decisive, limit, buffer)
  }

  private func tail(
    of stream: Stream, _ command: CommandResult, _ limit: Int,
    _ buffer: UnsafeMutableRawBufferPointer
  ) -> LogTail? {
    guard command.end.outputByteCount > 0,
      let log = try? operations.log(of: stream, writtenTo: command.log)
    else { return nil }
    return LogTail(of: log, limit: limit, columns: .max, buffer: buffer)
  }
}

extension SettledOperation {
  /// True if this is a failure that makes the run fail.
  var isFailure: Bool { ending.outcome.isFailure && !ending.isAllowed }
}

extension Ending {
  /// The ending in words: `timed out but allowed`.
  package var words: String {
    let word = outcome == .timedOut ? "timed out" : outcome.word
    return isAllowed ? "\(word) but allowed" : word
  }
}
