// A simulated run: events and logs as a run would make them, and what the console shows.

import Foundation
import Plans
import Reporting
import RunFiles
import Scheduling
import TestSupport
import Testing

/// Times are in milliseconds.
final class StagedRun {
  private let plan: Plan
  private let folder: URL
  private let directory: RunDirectory
  private let console: Console
  private let output: TemporaryFile
  private let messages: TemporaryFile?
  /// In place of the files.
  private let terminal: PseudoTerminal?
  /// Sees what the terminal is given.
  private let emulator: TerminalEmulator?
  private var sizes: [String: Int] = [:]
  private var attempts: [String: Int] = [:]
  private var appended: [String: OperationID] = [:]
  private var time = 0
  private var isInTurn = false

  /// With `together`, output and messages go to one file.
  convenience init(
    _ plan: Plan, _ mode: OutputMode = .grouped, together: Bool = true,
    color: ColorChoice = .never
  ) throws {
    var options = ScreenOptions()
    options.color = color
    try self.init(plan, mode, options, together: together)
  }

  /// Output and messages go to a terminal with so many columns, if any, or `elsewhere`.
  init(
    _ plan: Plan, _ mode: OutputMode, _ options: ScreenOptions, together: Bool = true,
    elsewhere: Int32? = nil, columns: Int? = nil, emulator: TerminalEmulator? = nil,
    environment: [String: String] = [:]
  ) throws {
    self.plan = plan
    self.emulator = emulator
    if let size = emulator?.size {
      terminal = try PseudoTerminal(columns: size.columns, rows: size.rows)
    } else {
      terminal = try columns.map { try PseudoTerminal(columns: $0) }
    }
    folder = FileManager.default.temporaryDirectory.appending(path: "run-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    directory = RunDirectory(
      owning: open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: folder.path)
    output = try TemporaryFile()
    messages = together ? nil : try TemporaryFile()
    let target = elsewhere ?? terminal?.device ?? output.descriptor
    let screen = Screen(
      output: target, messages: messages?.descriptor ?? target, options: options,
      environment: { environment[$0] })
    console = Console(
      plan: plan, directory: directory, screen: screen, mode: mode)
    tell(.sampleBeginning)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var standardOutput: String { output.text }
  /// Also the step output, when they go together. The folder of logs, and its name, show as `RUN`.
  var standardError: String {
    let shown = terminal?.shown().replacingOccurrences(of: "\r\n", with: "\n")
    return (shown ?? (messages ?? output).text).replacingOccurrences(of: folder.path, with: "RUN")
      .replacingOccurrences(of: folder.lastPathComponent, with: "RUN")
  }

  func at(_ milliseconds: Int) { time = milliseconds }

  /// All that happens belongs to one turn.
  func turn(_ body: () -> Void) {
    isInTurn = true
    body()
    isInTurn = false
    end(turnAt: Int64(time) * 1_000_000)
  }

  func tell(_ kind: RunEvent.Kind) {
    let event = RunEvent(at: Int64(time) * 1_000_000, kind)
    console.observe(event)
    if isInTurn { return }
    console.endTurn(at: event.time)
    look()
  }

  private func look() {
    guard let terminal else { return }
    let news = terminal.news()
    emulator?.feed(news)
  }

  func resize(rows: Int, columns: Int) {
    terminal?.resize(columns: columns, rows: rows)
    emulator?.resize(rows: rows, columns: columns)
  }

  func suspend() {
    console.suspend()
    look()
  }

  func resume() { console.resume() }

  /// Nothing happens, and the loop waits as long as the console lets it.
  func pass(until milliseconds: Int) {
    while let due = console.deadline, due <= Int64(milliseconds) * 1_000_000 { end(turnAt: due) }
    time = milliseconds
    end(turnAt: Int64(milliseconds) * 1_000_000)
  }

  /// The loop ends its wait as late as the console lets it.
  func wake() {
    if let deadline { end(turnAt: deadline) }
  }

  private func end(turnAt time: Nanoseconds) {
    console.endTurn(at: time)
    look()
  }

  var deadline: Nanoseconds? { console.deadline }

  /// Nothing happens until the console wants to be called, which must be at this time, or for nothing but a
  /// heartbeat.
  func awaitDeadline(at milliseconds: Int?) {
    let isOfHeartbeat = deadline.map { $0 % 30_000_000_000 == 0 } ?? false
    let due = milliseconds == nil && isOfHeartbeat ? nil : deadline
    #expect(due == milliseconds.map { Int64($0) * 1_000_000 })
    guard let milliseconds else { return }
    time = milliseconds
    end(turnAt: Int64(time) * 1_000_000)
  }

  func operation(_ id: String) -> OperationID { appended[id] ?? plan.operation(id) }

  /// Expands the group.
  func expand(_ group: String, to ids: String...) {
    for id in ids {
      let operation = OperationID(plan.steps.count + appended.count)
      appended[id] = operation
      tell(.appended(operation, id: id, group: self.operation(group)))
    }
  }

  func start(_ ids: String...) {
    for id in ids {
      attempts[id, default: 0] += 1
      tell(.started(operation(id), role(id)))
    }
  }

  func role(_ id: String) -> CommandRole { .attempt(attempts[id, default: 1]) }

  private func log(_ id: String, _ role: CommandRole) -> String {
    directory.path(of: RunDirectory.logName(of: id, role))
  }

  /// The command prints something, which is reported unless it is still on its way.
  func print(_ id: String, _ text: String, role: CommandRole? = nil, isTold: Bool = true) throws {
    let role = role ?? self.role(id)
    let path = log(id, role)
    if !FileManager.default.fileExists(atPath: path) {
      let file = LogFile(owning: try directory.make(RunDirectory.logName(of: id, role)))
      directory.logs.add(file, of: operation(id), role)
    }
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data(text.utf8))
    try handle.close()
    sizes[path, default: 0] += text.utf8.count
    if isTold {
      tell(.outputGrew(operation(id), role, byteCount: sizes[path, default: 0]))
    }
  }

  /// Another file of the same name, with this text.
  func replaceLog(of id: String, by text: String) throws {
    try Data(text.utf8).write(to: folder.appending(path: "new"))
    #expect(rename(folder.appending(path: "new").path, log(id, role(id))) == 0)
  }

  func end(
    _ id: String, _ status: CommandEnd.Status = .exited(0), timedOut: Bool = false,
    after milliseconds: Int = 100, role: CommandRole? = nil, peakMemory: Int64? = nil
  ) {
    let role = role ?? self.role(id)
    let end = CommandEnd(
      status, timedOut: timedOut, duration: Int64(milliseconds) * 1_000_000,
      peakMemory: peakMemory, outputByteCount: sizes[log(id, role), default: 0])
    tell(.ended(operation(id), role, end))
    directory.logs.remove(of: operation(id), role)
  }

  func settle(
    _ id: String, _ outcome: Outcome = .succeeded, isAllowed: Bool = false, _ cause: Cause = .itself
  ) {
    tell(.settled(operation(id), Ending(outcome, isAllowed: isAllowed), cause))
  }

  /// From start to success, printing the text.
  func pass(_ id: String, printing text: String = "", after milliseconds: Int = 100) throws {
    start(id)
    if !text.isEmpty { try print(id, text) }
    time += milliseconds
    end(id, after: milliseconds)
    settle(id)
  }

  func finish(_ exitStatus: Int32 = 0, _ reason: StopReason? = nil) {
    tell(.finished(RunEnd(exitStatus: exitStatus, stopReason: reason)))
  }
}

extension RunEvent.Kind {
  fileprivate static let sampleBeginning = RunEvent.Kind.began(
    RunBeginning(
      runID: "20260402-101502-k3",
      clock: RunClock(wallTime: 1_775_124_902_000_000_000, monotonicTime: 1),
      host: RunHost(name: "here", processorCount: 2), processID: 7))
}

/// Events that all happen in one turn.
final class StagedTurn {
  private let console: Console
  private let file: TemporaryFile

  init(_ plan: Plan) throws {
    file = try TemporaryFile()
    let screen = Screen(
      output: file.descriptor, messages: file.descriptor, options: ScreenOptions(),
      environment: { _ in nil })
    console = Console(
      plan: plan, directory: RunDirectory(owning: -1, path: "nowhere"), screen: screen,
      mode: .grouped)
    console.observe(RunEvent(at: 0, .sampleBeginning))
  }

  func settle(_ operation: OperationID, _ outcome: Outcome, _ cause: Cause) {
    console.observe(RunEvent(at: 0, .settled(operation, Ending(outcome), cause)))
  }

  /// Ends the turn; returns its lines.
  var lines: [String] {
    console.endTurn(at: 0)
    return file.text.split(separator: "\n").map(String.init)
  }
}
