// A pipeline on the late executor, in virtual time, and the whole run as one string.

import Diagnostics
import Pipelines
import Plans
import RunFiles
import Running
import Scheduling

@testable import Execution

/// The real loop runs a real plan.
final class LateRun {
  let executor: LateExecutor
  private let folder = TemporaryRun()
  private let waiting: VirtualWaiting
  private let chronicle: Chronicle
  private let loop: RunLoop

  init(
    _ pipeline: String, signals: [(second: Nanoseconds, signal: Int32)] = [],
    stop: (after: Nanoseconds, until: Nanoseconds)? = nil, commandLimit: Int = .max
  ) throws {
    let loaded = LoadedPipeline(path: "p.yml", bytes: Array(pipeline.utf8), files: .system)
    let plan = try loaded.plan(PlanningOptions())
    waiting = VirtualWaiting(signals: signals, stop: stop)
    executor = LateExecutor(folder.directory, commandLimit: commandLimit)
    waiting.hasNews = executor.hasUnseenNews
    chronicle = Chronicle(plan)
    var options = RunOptions(runID: "r1", directory: folder.directory)
    options.environment = [EnvironmentVariable(name: "ADDED", value: "1")]
    loop = RunLoop(
      plan, options,
      RunParts(waiting: waiting, executor: executor, workspace: "/work space", seed: 1),
      observers: [chronicle])
  }

  /// Every event as `second:what`, separated by blanks.
  func timeline() -> String {
    _ = loop.run()
    let closing = executor.isClosed ? "" : " NOT CLOSED"
    return chronicle.words.joined(separator: " ") + closing + (waiting.isStuck ? " STUCK" : "")
  }

  /// The command's own variables, `NAME=value`, for the start with this number.
  func variables(ofStart number: Int) -> [String] {
    executor.started[number].variables.map { "\($0.name)=\($0.value)" }
  }
}

final class Chronicle: RunObserver {
  private(set) var words: [String] = []
  private let plan: Plan

  init(_ plan: Plan) { self.plan = plan }

  func observe(_ event: RunEvent) {
    if let word = word(event.kind) { words.append("\(event.time / second):\(word)") }
  }

  private func word(_ event: RunEvent.Kind) -> String? {
    switch event {
    case .began, .appended, .resolved, .orphansFound, .outOfReach, .restored, .terminalTaken,
      .terminalReturned, .placed:
      nil
    case .started(let operation, let role): "+\(name(operation, role))"
    case .outputGrew(let operation, let role, let count): "\(name(operation, role))>\(count)"
    case .ended(let operation, let role, let end):
      "-\(name(operation, role))=\(text(end.status))\(end.timedOut ? "!" : "")"
    case .waiting(let operation, _): "\(id(operation))?"
    case .published(let operation, let outputs):
      "\(id(operation)){\(outputs.map { "\($0.name)=\($0.json)" }.joined(separator: ","))}"
    case .retrying(let operation, let attempt, _): "\(id(operation))#\(attempt)"
    case .settled(let operation, let ending, _): "\(id(operation))=\(ending.outcome)"
    case .ready(let operation): "\(id(operation))!ready"
    case .heldUp(let operation, let heldUp):
      "\(id(operation))?\(heldUp.holders.map(id).joined(separator: "+"))"
    case .controlled(let note): "\(note.action.word)"
    case .reopened(let operation, let ending): "\(id(operation))~\(ending.outcome)"
    case .stopping: "stopping"
    case .notice(let text): "!\(text)"
    case .finished(let end): "end=\(end.exitStatus)"
    }
  }

  private func id(_ operation: OperationID) -> String {
    operation == .run ? "@run" : plan.steps[operation.index].id
  }

  private func name(_ operation: OperationID, _ role: CommandRole) -> String {
    switch role {
    case .attempt: id(operation)
    case .hook(let kind, let index, _): "\(id(operation)).\(kind).\(index)"
    case .probe(let index): "\(id(operation)).wait.\(index)"
    }
  }

  private func text(_ status: CommandEnd.Status) -> String {
    switch status {
    case .exited(let code): "\(code)"
    case .signalled(let signal): "sig\(signal)"
    case .notStarted: "refused"
    case .outputsRefused: "bad-outputs"
    case .abandoned: "abandoned"
    case .lost: "lost"
    }
  }
}
