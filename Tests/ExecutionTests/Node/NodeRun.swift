// The directory of a run as jobs of a cluster see it, and jobs in it: the real program, started as Slurm
// would.

import Foundation
import Plans
import Running
import Scheduling
import TestSupport

@testable import Execution

final class NodeRun {
  let folder: String
  let files: NodeFiles
  /// Where the commands run.
  let workspace: String

  init() throws {
    let place = FileManager.default.temporaryDirectory.appending(path: "node-\(UUID().uuidString)")
    folder = place.appending(path: "run").path
    workspace = place.appending(path: "work").path
    try FileManager.default.createDirectory(atPath: workspace, withIntermediateDirectories: true)
    mkdir(folder, 0o700)
    files = try NodeFiles.make(in: folder)
  }

  deinit {
    try? FileManager.default.removeItem(
      atPath: URL(filePath: folder).deletingLastPathComponent().path)
  }

  /// Writes a task whose command is a script.
  func write(
    _ script: String, number: Int = 1, limits: TaskLimits = TaskLimits(), secrets: [String] = [],
    settings: StepSettings = StepSettings(), replaceable: [String] = [], isRepeated: Bool = false
  ) throws {
    let outputs = "s.\(number).outputs"
    let command = Command(
      CommandKey(operation: OperationID(0), role: .attempt(number)),
      .script(script, shell: ["/bin/sh", "-e"]),
      in: CommandEnvironment([EnvironmentVariable(name: "OWN", value: "own")]),
      variables: [EnvironmentVariable(.output, "\(folder)/\(outputs)")], settings: settings,
      files: (log: "s.\(number).log", outputs: outputs))
    let task = TaskFile(
      command: command, workspace: workspace, runID: "r", limits: limits, secrets: secrets,
      replaceable: replaceable, isRepeated: isRepeated)
    try files.write(task, number: number)
  }

  /// Starts a job for a task. What oprun itself says goes into the file `said-JOB.RESTART`. The prefix is
  /// a part of a shell's command line.
  func start(
    _ words: String = "1", job: Int = 100, restart: Int? = nil, prefix: String = "exec",
    variables: [String: String] = [:]
  ) throws -> Child {
    var environment = ProcessInfo.processInfo.environment
    for name in environment.keys where name.hasPrefix("OPRUN") { environment[name] = nil }
    environment["SLURM_JOB_ID"] = String(job)
    environment["SLURM_RESTART_COUNT"] = restart.map { String($0) }
    environment["SLURMD_NODENAME"] = "n2"
    environment.merge(variables) { $1 }
    return try Child(
      script: """
        cd / || exit 99
        exec </dev/null >'\(folder)/said-\(job).\(restart ?? 0)' 2>&1
        export SWIFT_BACKTRACE=enable=no
        \(prefix) '\(builtProgram("oprun"))' __task '\(folder)' \(words)
        """, environment: environment)
  }

  func said(job: Int = 100, restart: Int = 0) -> String {
    content(of: "\(folder)/said-\(job).\(restart)")
  }

  func log(_ number: Int = 1) -> String { content(of: "\(folder)/s.\(number).log") }

  /// What is in a file of the workspace.
  func work(_ name: String) -> String { content(of: "\(workspace)/\(name)") }

  func awaits(_ name: String) -> Bool {
    let end = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < end {
      if access("\(workspace)/\(name)", F_OK) == 0 { return true }
      usleep(3000)
    }
    return false
  }

  func touch(_ name: String) {
    _ = FileManager.default.createFile(atPath: "\(workspace)/\(name)", contents: nil)
  }

  private func content(of path: String) -> String {
    (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
  }

  /// Everything that the jobs have left for oprun, in lines.
  var story: String {
    get throws {
      var lines = try files.claims().sorted().map { task in
        "claim \(task): \(try files.claim(of: task) ?? "")"
      }
      lines += try files.starts().sorted().map { start in
        let note = String(decoding: try files.content(of: .starts, start.name) ?? [], as: UTF8.self)
        let values = note.split(separator: "\n").map { $0.split(separator: "=").last ?? "" }
        return "start \(start.name): \(values[0]) \(values[2])"
      }
      lines += try files.results().sorted().map { start in
        "result \(start.name): \(try files.result(of: start).map(words) ?? "")"
      }
      lines += try files.stops().sorted().map { "stop \($0.name)" }
      return lines.joined(separator: "\n")
    }
  }

  private func words(_ result: TaskResult) -> String {
    var words = ["\(result.end.status)"]
    if result.end.timedOut { words.append("timed out") }
    if let outputs = result.outputs {
      words.append("outputs \(String(decoding: outputs, as: UTF8.self).debugDescription)")
    }
    words.append("log \(result.logSize)")
    for event in result.events {
      switch event {
      case .notice(let text): words.append("notice \(text)")
      case .orphans(let processes, let action):
        words.append("\(action) \(processes.map(\.name).joined(separator: " "))")
      case .outOfReach(let processes): words.append("lost \(processes.count)")
      }
    }
    if let failure = result.stateFailure { words.append("state: \(failure)") }
    return words.joined(separator: ", ")
  }

  /// The names in the directory of the run, without what is known to be there.
  var leftovers: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let hidden = NodeFiles.Folder.allCases.flatMap { part in
      let all = try? FileManager.default.contentsOfDirectory(atPath: files.shown(part))
      return (all ?? []).filter { $0.hasPrefix(".") }
    }
    return (names.filter { $0 != "@node" && !$0.hasPrefix("said-") } + hidden).sorted()
  }
}
