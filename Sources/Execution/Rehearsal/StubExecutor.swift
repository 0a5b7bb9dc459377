// An executor that starts nothing: its commands do what the stubs of a test say.

import Diagnostics
import Expressions
import Plans
import RunFiles
import Running
import Scheduling

/// Runs commands as stubs say.
final class StubExecutor: Executor {
  let commandLimit = Int.max
  /// The latest start for each id of a step; those of hooks and probes for `id.on_failure`.
  private(set) var commands: [String: RehearsedCommand] = [:]
  private let stubs: [String: TestStub]
  /// The operations of the run, with those that it has added.
  var graph: () -> Graph = { Graph() }
  /// The ends to come, the earliest last.
  private var coming: [(at: Nanoseconds, order: Int, key: CommandKey, end: CommandEnd)] = []
  private var startedAt: [CommandKey: Nanoseconds] = [:]
  private var outputs: [CommandKey: [UInt8]] = [:]
  private var startCount = 0
  /// The number of checks so far, for each probe.
  private var looks: [String: Int] = [:]
  private var news: [CommandNews] = []

  private static let usualDuration: Nanoseconds = 1_000_000_000

  init(_ stubs: [String: TestStub]) { self.stubs = stubs }

  func start(_ command: Command, at now: Nanoseconds) {
    let name = command.key.role.stubName(of: command.step)
    commands[name] = RehearsedCommand(
      text: command.text, variables: command.environment.variables + command.variables)
    let stub = stubs[name] ?? stubs[command.key.role.stubName(of: command.step.withoutInstances)]
    let end = status(of: command, named: name, stub)
    startedAt[command.key] = now
    if let stub, !stub.outputs.isEmpty { outputs[command.key] = stub.outputBytes(of: command) }
    // A service goes on until it is stopped.
    if stub?.duration == nil, end == .exited(0), isService(command.key) { return }
    let duration = stub?.duration ?? usualDuration(of: command.key)
    add(command.key, CommandEnd(end, duration: duration), at: now + duration)
  }

  private func status(
    of command: Command, named name: String, _ stub: TestStub?
  ) -> CommandEnd.Status {
    guard let stub else { return .exited(0) }
    var number = 1
    switch command.key.role {
    case .attempt(let attempt): number = attempt
    case .probe, .hook:
      looks[name, default: 0] += 1
      number = looks[name] ?? 1
    }
    if let failures = stub.failures, number > failures { return .exited(0) }
    switch stub.end {
    case .exit(let code): return .exited(code)
    case .signal(let signal): return .signalled(signal)
    }
  }

  private func usualDuration(of key: CommandKey) -> Nanoseconds {
    guard case .attempt = key.role else { return 0 }
    let graph = graph()
    return graph.knows(key.operation)
      ? graph.expected(of: key.operation) ?? Self.usualDuration : Self.usualDuration
  }

  private func isService(_ key: CommandKey) -> Bool {
    guard case .attempt = key.role else { return false }
    let graph = graph()
    return graph.knows(key.operation) && !graph.takesSlot(key.operation)
  }

  private func add(_ key: CommandKey, _ end: CommandEnd, at time: Nanoseconds) {
    startCount += 1
    let entry = (at: time, order: startCount, key: key, end: end)
    var (low, high) = (0, coming.count)
    while low < high {
      let middle = (low + high) / 2
      if coming[middle].at > time { low = middle + 1 } else { high = middle }
    }
    coming.insert(entry, at: low)
  }

  func outputs(of key: CommandKey) -> [UInt8]? { outputs.removeValue(forKey: key) ?? [] }

  func stop(_ key: CommandKey, with signal: Int32, at now: Nanoseconds) {
    end(key, by: signal, now)
  }

  func kill(_ key: CommandKey, at now: Nanoseconds) { end(key, by: 9, now) }

  private func end(_ key: CommandKey, by signal: Int32, _ now: Nanoseconds) {
    guard let start = startedAt.removeValue(forKey: key) else { return }
    if let index = coming.firstIndex(where: { $0.key == key }) { coming.remove(at: index) }
    let duration = now - start
    add(key, CommandEnd(.signalled(signal), duration: duration), at: now)
  }

  func ready(_ number: Int, at now: Nanoseconds) {}

  func advance(to now: Nanoseconds) {
    while let next = coming.last, next.at <= now {
      coming.removeLast()
      startedAt[next.key] = nil
      news.append(.ended(next.key, next.end))
    }
  }

  var deadline: Nanoseconds? { coming.last?.at }

  func takeNews() -> [CommandNews] {
    defer { news = [] }
    return news
  }

  func close() {}
}

extension Graph {
  /// True for an operation of the graph; the run itself, which has hooks and commands, is none.
  fileprivate func knows(_ id: OperationID) -> Bool { id.index >= 0 && id.index < count }
}

extension Command {
  /// The id of the step, or the name of the run itself.
  var step: String {
    variables.first { $0.name == OprunVariable.step.rawValue }?.value ?? ""
  }

  fileprivate var text: String {
    switch work {
    case .words(let words): words.joined(separator: " ")
    case .script(let text, _): text
    case .builtin(let words): words.joined(separator: " ")
    }
  }
}

extension CommandRole {
  /// The name of the stub: `unit`, `unit.on_failure`, `unit.wait_for`; `on_failure` for the run itself.
  fileprivate func stubName(of step: String) -> String {
    let prefix = step == RunDirectory.runHookName ? "" : step + "."
    return switch self {
    case .attempt: step
    case .hook(let kind, _, _): prefix + kind.key
    case .probe: prefix + "wait_for"
    }
  }
}

extension String {
  /// The id without the instance: `test` for `test[os=linux]`.
  fileprivate var withoutInstances: String {
    guard let bracket = firstIndex(of: "[") else { return self }
    return String(self[..<bracket])
  }
}

extension TestStub {
  /// The outputs as a command would write them. A command of `vars` has one output, the text that it prints.
  fileprivate func outputBytes(of command: Command) -> [UInt8] {
    let first = outputs.first?.value ?? .null
    if command.step.hasPrefix("vars."), case .string(let text) = first { return Array(text.utf8) }
    return outputs.flatMap { name, value in Array("\(name):json=\(value.json)\n".utf8) }
  }
}
