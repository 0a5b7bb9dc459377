// Cases of the pipeline language: files in, the plan or the errors out, all as text.

import Diagnostics
import Foundation
import Pipelines
import Plans
import Scheduling
import Testing

/// A block of a file in `Tests/Language`:
///
///     === what it shows
///     --- pipeline.yml
///     steps: …
///     --- deploy/other.yml
///     …
///     --- plan
///     what is expected
///
/// `params:` and `select:` lines before the first file are the command line's. The last part is what
/// is expected: `plan`, `errors`, `bad parameters` or `no selection`.
struct LanguageCase: Sendable, CustomTestStringConvertible {
  let file: String
  let name: String
  /// Everything but the expected part.
  let head: [String]
  let parameters: [ParameterArgument]
  let environment: [String: String]
  let selection: [String]
  let files: [String: String]
  let expected: String

  var testDescription: String { name }

  /// Every case of every file, in order.
  static let all: [LanguageCase] = {
    let names = files(in: "") + files(in: "translated/")
    return names.flatMap { name -> [LanguageCase] in
      let text = (try? String(contentsOf: folder.appending(path: name), encoding: .utf8)) ?? ""
      return read(text, from: name)
    }
  }()

  static let folder = repository.appending(path: "Tests/Language")

  /// Sorted; `translated/` holds what files of other tools become.
  private static func files(in part: String) -> [String] {
    let path = folder.appending(path: part).path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.filter { $0.hasSuffix(".cases") }.sorted().map { part + $0 }
  }

  private static func read(_ text: String, from file: String) -> [LanguageCase] {
    var blocks: [[String]] = []
    for line in text.components(separatedBy: "\n") {
      if line.hasPrefix("=== ") { blocks.append([]) }
      if !blocks.isEmpty { blocks[blocks.count - 1].append(line) }
    }
    return blocks.map { LanguageCase($0, file) }
  }

  private init(_ lines: [String], _ file: String) {
    self.file = file
    name = String(lines[0].dropFirst(4))
    var parts: [(title: String, lines: [String])] = [("", [])]
    for line in lines.dropFirst() {
      if line.hasPrefix("--- ") {
        parts.append((String(line.dropFirst(4)), []))
      } else {
        parts[parts.count - 1].lines.append(line)
      }
    }
    func given(_ key: String) -> [String] {
      parts[0].lines.filter { $0.hasPrefix(key + ": ") }.flatMap {
        $0.dropFirst(key.count + 2).split(separator: " ").map(String.init)
      }
    }
    func pairs(_ key: String) -> [(String, String)] {
      given(key).map { word in
        let sides = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(sides[0]), sides.count > 1 ? String(sides[1]) : "")
      }
    }
    parameters = pairs("params").map { ParameterArgument(name: $0, value: $1) }
    environment = Dictionary(pairs("env")) { $1 }
    selection = given("select")
    let isOutcome = LanguageCase.outcomes.contains(parts.last?.title ?? "")
    let sources = isOutcome ? parts.dropFirst().dropLast() : parts.dropFirst()
    files = Dictionary(
      sources.map { ($0.title, $0.lines.joined(separator: "\n") + "\n") }, uniquingKeysWith: { $1 })
    head =
      [lines[0]] + parts[0].lines + sources.flatMap { ["--- " + $0.title] + $0.lines }
    let last = isOutcome ? parts.last.map { ["--- " + $0.title] + $0.lines } ?? [] : []
    expected = last.joined(separator: "\n").trimmingCharacters(in: .newlines) + "\n"
  }

  private static let outcomes: Set = ["plan", "errors", "bad parameters", "no selection"]

  /// The result, in the form of the last part. Other files may take the place of those of the case.
  func outcome(_ otherFiles: [String: String]? = nil) -> String {
    var options = PlanningOptions(processorCount: 2, selection: selection)
    options.parameters = parameters
    options.inherited = InheritedVariables(environment)
    let files = otherFiles ?? self.files
    options.files = PipelineFiles { path, _ in .success(files[path].map { Array($0.utf8) }) }
    switch planned(Array((files["pipeline.yml"] ?? "").utf8), options) {
    case .plan(let plan): return "--- plan\n" + plan.described
    case .errors(let text): return "--- errors\n" + text
    case .badParameters(let text): return "--- bad parameters\n" + text
    case .noSelection(let text): return "--- no selection\n" + text + "\n"
    }
  }
}

extension Plan {
  /// Each operation with what it waits for and what it runs.
  var described: String {
    steps.indices.map { described(OperationID($0)) }.joined() + (slurmLine.map { $0 + "\n" } ?? "")
  }

  private func described(_ operation: OperationID) -> String {
    let step = steps[operation.index]
    let needs = graph.dependencies(of: operation).map { edge in
      steps[edge.from.index].id + (edge.condition == .ok ? "" : ":\(edge.condition)")
    }
    var lines = [step.id + (needs.isEmpty ? "" : " <- " + needs.joined(separator: " "))]
    if let group = groups[operation] {
      lines.append(described(group))
    } else {
      let command = step.work.shown?.text ?? "nothing"
      lines.append("$ " + command.replacing("\n", with: "\\n"))
    }
    if let reason = step.late?.skipReason { lines.append("skipped: " + reason) }
    if let condition = step.late?.condition { lines.append("if: " + condition) }
    lines += (step.late?.probes ?? []).map { "waits for " + $0 }
    lines += (step.late?.readiness ?? []).map { "is ready with " + $0 }
    if let cache = step.settings.cache {
      lines += cache.inputs.map { "reads " + $0 } + cache.outputs.map { "makes " + $0 }
      lines += cache.scratch.map { "may use " + $0 } + cache.tools.map { "depends on " + $0 }
      lines += cache.environment.map { "inherits " + $0 }
      if !cache.isEnforced { lines.append("is not confined") }
    }
    if let name = step.settings.name { lines.append("name " + name) }
    lines += step.settings.environment.map { "\($0.name)=\($0.value)" }
    if let folder = step.settings.workingDirectory { lines.append("in " + folder) }
    let spec = graph[operation]
    if spec.queue != .default { lines.append("on " + queues[spec.queue.index].name) }
    if let request = step.settings.slurm, groups[operation] == nil {
      let whole = slurm?.request(request, claiming: spec.claims) ?? request
      let retries = "\(whole.infrastructureRetries) infrastructure retries"
      lines.append("in Slurm with " + (whole.options + [retries]).joined(separator: " "))
    }
    let widths = spec.claims.map { pools[$0.pool.index].name }.filter {
      $0.hasSuffix("max_parallel")
    }
    if !widths.isEmpty { lines.append("within " + widths.joined(separator: " ")) }
    if groups[operation] == nil, let limit = step.settings.timeout {
      lines.append("timeout \(limit / 1_000_000)ms")
    }
    return lines.joined(separator: "\n  ") + "\n"
  }

  private var slurmLine: String? {
    slurm.map {
      "Slurm: at most \($0.maxQueued), \($0.submitInterval / 1_000_000)ms, \($0.poll / 1_000_000)ms, "
        + "\($0.fileWait / 1_000_000)ms"
    }
  }

  private func limits(of group: GroupPlan) -> String {
    (group.timeout.map { ", timeout \($0 / 1_000_000)ms" } ?? "")
      + (group.allowsFailure ? ", allow_failure" : "")
      + (group.failurePolicy == .continue ? "" : ", failure_policy \(group.failurePolicy)")
  }

  private func described(_ group: GroupPlan) -> String {
    let members = group.members.map { steps[$0.index].id }.joined(separator: " ")
    let width = group.width.map { ", max_parallel \($0)" } ?? ""
    let isFailFast = (group.isFailFast ? ", fail_fast" : "") + width
    let pattern = group.pattern.map { limits(of: $0.group) } ?? ""
    return switch group.kind {
    case .matrix: "= \(members)\(isFailFast)"
    case .expanding(let axes): "= matrix of \(axes)\(isFailFast)\(pattern)"
    case .nested(let path): "= \(path ?? "group"): \(members)\(limits(of: group))"
    }
  }
}
