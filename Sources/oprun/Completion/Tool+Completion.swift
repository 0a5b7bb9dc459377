// `oprun __complete WORD…`, which the completion scripts call: it prints what the last word may be,
// one candidate in each line, with a description after a tab.

import Diagnostics
import Execution
import Glibc
import Pipelines
import Plans
import Reporting
import Scheduling
import State

extension Tool {
  /// The name of the command that the scripts call, which is not for people.
  static let completionCommand = "__complete"

  /// Prints the candidates. There are none from files that cannot be read; the reason goes to
  /// standard error, which the scripts discard.
  func complete(_ words: [String]) -> Int32 {
    let line = UnfinishedLine(words)
    for expected in line.expected {
      for candidate in candidates(for: expected, line) where candidate.word.hasPrefix(line.typed) {
        write(candidate, line)
      }
    }
    return ExitStatus.success
  }

  private func candidates(_ paths: [String]) -> [CompletionCandidate] {
    paths.map { CompletionCandidate($0) }
  }

  private func write(_ candidate: CompletionCandidate, _ line: UnfinishedLine) {
    let isPlain = candidate.word.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 }
    guard isPlain else { return }
    output.write(line.kept)
    output.write(candidate.word)
    if !candidate.description.isEmpty {
      output.write("\t")
      output.write(oneLine(candidate.description, columns: 80))
    }
    output.writeNewline()
  }

  private func candidates(
    for expected: UnfinishedLine.Expected, _ line: UnfinishedLine
  ) -> [CompletionCandidate] {
    let command = line.invocation.command
    return switch expected {
    case .command: Subcommand.all.map { CompletionCandidate($0.name, $0.summary) }
    case .option:
      (command.options + [Options.help])
        .filter { $0.isRepeatable || !line.invocation.hasValue(for: $0) }
        .map { CompletionCandidate($0.flag, $0.summary) }
    case .choice(let words): words.map { CompletionCandidate($0) }
    case .file: candidates(entries(at: line.typed) { _ in true })
    case .directory: candidates(entries(at: line.typed) { _ in false })
    case .pipelineFile: candidates(entries(at: line.typed, takesFile: isPipelineName))
    case .step: steps(line)
    case .parameter: parameters(line)
    case .run: runs(line.invocation)
    case .recordedStep: recordedSteps(line.invocation)
    case .word: words(line.typed)
    }
  }

  /// The plan of the file that the line names, or that is found for it.
  private func plan(_ line: UnfinishedLine) -> Plan? {
    guard var invocation = try? line.invocation.located(.system), enter(&invocation),
      let file = invocation.operands.first, file != "-"
    else { return nil }
    guard case .success(let plan) = plan(file, listingOptions(invocation)) else { return nil }
    keepUntilExit(plan)
    return plan
  }

  /// The steps of a pipeline; instances only when a bracket was typed.
  private func steps(_ line: UnfinishedLine) -> [CompletionCandidate] {
    guard let plan = plan(line) else { return [] }
    let showsInstances = line.typed.contains("[")
    var seen: Set<String> = []
    return plan.steps.indices.compactMap { index in
      let id = plan.steps[index].id
      let word = showsInstances ? id : String(id.prefix { $0 != "[" })
      guard word.hasPrefix(line.typed), seen.insert(word).inserted else { return nil }
      return CompletionCandidate(word, plan.title(of: OperationID(index)) ?? "")
    }
  }

  /// The parameters of a pipeline, or the values of the one whose name is written.
  private func parameters(_ line: UnfinishedLine) -> [CompletionCandidate] {
    guard let parameters = plan(line)?.parameters else { return [] }
    guard let equals = line.typed.firstIndex(of: "=") else {
      return parameters.map { CompletionCandidate($0.name + "=", $0.description ?? $0.type) }
    }
    let name = line.typed[..<equals]
    guard let parameter = parameters.first(where: { $0.name == name }) else { return [] }
    let values = parameter.type == "bool" ? ["true", "false"] : parameter.choices
    return values.map { CompletionCandidate("\(name)=\($0)") }
  }

  /// The words that can be explained, each once.
  private func words(_ typed: String) -> [CompletionCandidate] {
    Set(Explanation.words.filter { $0.hasPrefix(typed) }).sorted().map { word in
      CompletionCandidate(word, Explanation.all(of: word).first?.kind ?? "")
    }
  }

  private func runs(_ invocation: Invocation) -> [CompletionCandidate] {
    let most = 50
    var candidates: [CompletionCandidate] = []
    withRecords(invocation) { store in
      let runs = (try? store.runs(limit: most)) ?? []
      candidates = runs.map { run in
        let state = run.state(isInUse: run.exitStatus == nil && store.isInUse(run.name))
        return CompletionCandidate(run.name, "\(run.pipeline), \(state)")
      }
    }
    return candidates
  }

  /// The steps of the run that the line names, or of the newest one.
  private func recordedSteps(_ invocation: Invocation) -> [CompletionCandidate] {
    var candidates: [CompletionCandidate] = []
    withRecords(invocation) { store in
      let command = invocation.command
      guard
        let name = (try? runName(invocation.operands.first, in: store, command))
          ?? (try? runName(nil, in: store, command)),
        let run = try? store.run(named: name), let steps = try? store.steps(of: run)
      else { return }
      candidates = steps.map { CompletionCandidate($0.name, $0.ending?.outcome.word ?? "") }
    }
    return candidates
  }

  private func withRecords(_ invocation: Invocation, _ body: (StateStore) -> Void) {
    var invocation = invocation
    guard let folder = try? openState(&invocation), let store = try? openStore(folder) else {
      return
    }
    body(store)
  }
}
