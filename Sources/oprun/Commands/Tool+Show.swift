// `oprun show`: how a run went, step by step.

import Diagnostics
import Glibc
import Plans
import Reporting
import RunFiles
import Scheduling
import State

extension Tool {
  func show(_ invocation: Invocation) throws(UsageFailure) -> Int32 {
    var invocation = invocation
    guard let folder = try openState(&invocation) else { return ExitStatus.usage }
    return try withStore(folder) { store throws(UsageFailure) in
      let (run, words) = try runAndSteps(invocation.operands, in: store, .show)
      guard let shown = shownRun(run, store) else { return ExitStatus.cannotWrite }
      let chosen = try steps(words, among: shown.steps, of: run.name, .show)
      if invocation.isOn(Options.json) {
        write(json: run, store) {
          writeFields(of: (try? store.changes(of: run)) ?? [])
          writeFields(of: chosen, shown)
        }
        output.writeNewline()
      } else {
        if words.isEmpty { writeHead(run, store) } else { clipOutput() }
        write(chosen, shown, isWhole: !words.isEmpty)
      }
      return ExitStatus.success
    }
  }

  func shownRun(_ run: RecordedRunSummary, _ store: StateStore) -> ShownRun? {
    do throws(StoreFailure) {
      return ShownRun(
        run: run, isInUse: run.exitStatus == nil && store.isInUse(run.name),
        steps: try store.steps(of: run), commands: try store.commands(of: run),
        outputs: try store.outputs(of: run), folder: store.folder)
    } catch {
      say(error.message, help: error.help)
      return nil
    }
  }

  private func writeHead(_ run: RecordedRunSummary, _ store: StateStore) {
    clipOutput()
    let state = run.state(isInUse: run.exitStatus == nil && store.isInUse(run.name))
    output.write("\(run.name)  \(state)")
    if let status = run.exitStatus, status != 0 { output.write(", exit \(status)") }
    if let stop = run.stop { output.write(", stopped: \(oneLine(stop))") }
    output.writeNewline()
    write("pipeline", oneLine(run.pipeline))
    if let file = run.file { write("file", oneLine(file)) }
    let start = UTCTime(secondsSince1970: run.started / 1_000_000)
    write("started", start.text + "Z on \(oneLine(run.host))")
    if let duration = run.duration { write("took", elapsedText(Int64(duration) * 1000)) }
    write("steps", run.counts)
    if let resumed = run.resumed { write("resumes", resumed) }
    for change in (try? store.changes(of: run)) ?? [] {
      let moment = UTCTime(secondsSince1970: (run.started + change.time) / 1_000_000)
      write("changed", oneLine("\(change.words) \(moment.text)Z"))
    }
    output.writeNewline()
  }

  private func write(_ label: String, _ text: String) {
    output.write("  \(label)")
    output.write(spaces: max(2, 11 - label.utf8.count))
    output.write(text)
    output.writeNewline()
  }

  private func write(_ steps: [RecordedStep], _ shown: ShownRun, isWhole: Bool) {
    let widest = min(40, steps.map { displayWidth(of: printable($0.name)) }.max() ?? 0)
    for step in steps {
      let name = printable(step.name)
      output.write("\(step.mark) \(name)")
      output.write(spaces: max(0, widest - displayWidth(of: name)) + 2)
      output.write(shown.words(of: step))
      output.writeNewline()
      if isWhole { writeDetails(of: step, shown) }
    }
  }

  private func writeDetails(of step: RecordedStep, _ shown: ShownRun) {
    let commands = shown.commands.filter { $0.step == step.name }
    for command in commands where Int(command.role) != nil { write(command, of: step, shown) }
    if let attempts = step.attempts {
      let log = shown.logWords(of: step, String(attempts), step.output)
      write("attempt \(attempts)", step.commandWords + log)
    }
    for command in commands where Int(command.role) == nil { write(command, of: step, shown) }
    if let processor = step.processor, let memory = step.memory {
      let kib = memory < 10_240 ? "\(memory) KiB" : "\(memory >> 10) MiB"
      write("used", "\(elapsedText(Int64(processor) * 1000)) of processor time, \(kib) of memory")
    }
    for output in shown.outputs where output.step == step.name {
      let value = output.json.map { oneLine($0) } ?? "*** (not kept)"
      write("output", "\(printable(output.name)) = \(value)")
    }
  }

  private func write(_ command: RecordedStepCommand, of step: RecordedStep, _ shown: ShownRun) {
    let log = shown.logWords(of: step, command.role, command.output)
    write(command.title, command.words + log)
  }
}

/// A run with everything that is recorded about it.
struct ShownRun {
  let run: RecordedRunSummary
  let isInUse: Bool
  let steps: [RecordedStep]
  let commands: [RecordedStepCommand]
  let outputs: [RecordedOutput]
  let folder: StateFolder

  /// The path of a log; nil if there is none.
  func logPath(of step: RecordedStep, _ role: String, _ output: Int?) -> String? {
    guard output ?? 0 > 0, let role = CommandRole(recorded: role) else { return nil }
    let name = RunDirectory.logName(of: step.name, role)
    return folder.shown("runs/\(step.origin ?? run.name)/\(name)")
  }

  func logWords(of step: RecordedStep, _ role: String, _ output: Int?) -> String {
    logPath(of: step, role, output).map { "  \($0)" } ?? ""
  }

  /// How a step ended, in a few words.
  func words(of step: RecordedStep) -> String {
    guard let ending = step.ending else {
      return isInUse ? "running" : "was running when oprun died"
    }
    if let origin = step.origin { return "kept from \(origin)" }
    switch ending.outcome {
    case .succeeded: return step.elapsed + step.attemptWords
    case .cached: return "up to date"
    case .failed, .timedOut:
      let words = step.attempts == nil ? step.causeWords : step.commandWords + step.attemptWords
      let cause = step.attempts == nil || step.cause == nil ? "" : ": \(step.causeWords)"
      return words + cause + (ending.isAllowed ? ", allowed" : "")
    case .cancelled: return "cancelled" + (step.cause == nil ? "" : ": \(step.causeWords)")
    case .skipped: return "skipped: \(step.causeWords)"
    case .blocked: return "blocked: \(step.causeWords)"
    }
  }
}

extension RecordedStep {
  var mark: String {
    guard let ending else { return "…" }
    switch ending.outcome {
    case .succeeded: return origin == nil ? "✓" : "="
    case .cached: return "="
    case .failed, .timedOut: return ending.isAllowed ? "!" : "✗"
    case .cancelled, .skipped, .blocked: return "–"
    }
  }

  var elapsed: String { duration.map { elapsedText(Int64($0) * 1000) } ?? "" }

  var attemptWords: String { attempts.map { $0 > 1 ? " (attempt \($0))" : "" } ?? "" }

  /// `exit 1 after 3.4s`.
  var commandWords: String {
    if ending?.outcome == .timedOut { return "timed out after \(elapsed)" }
    return endWords(status, detail, after: elapsed)
  }

  /// `'unit' failed` for `dependency unit`.
  var causeWords: String {
    guard let cause else { return "" }
    let parts = cause.split(separator: " ", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { return oneLine(cause) }
    switch parts[0] {
    case "dependency": return "because of \(quoted(parts[1]))"
    case "wait": return "timed out waiting for \(oneLine(parts[1]))"
    case "hook": return "hook \(parts[1]) failed"
    default: return oneLine(parts[1])
    }
  }
}

extension RecordedStepCommand {
  /// `attempt 1`, `on_failure`.
  var title: String {
    Int(role).map { "attempt \($0)" } ?? role.prefix { $0 != "." }.description
  }

  var words: String {
    endWords(status, detail, after: duration.map { elapsedText(Int64($0) * 1000) } ?? "")
  }
}

/// How a command ended: `exit 1 after 3.4s`, `killed by SIGKILL after 2.0s`.
private func endWords(_ status: Int?, _ detail: String?, after time: String) -> String {
  if let detail { return oneLine(detail) }
  guard let status else { return "ended after \(time)" }
  let words = status < 0 ? "killed by \(signalName(Int32(clamping: -status)))" : "exit \(status)"
  return "\(words) after \(time)"
}

extension CommandRole {
  /// The role with this name in the database.
  init?(recorded: String) {
    if let number = Int(recorded) {
      self = .attempt(number)
      return
    }
    let parts = recorded.split(separator: ".").map(String.init)
    guard parts.count == 2, let index = Int(parts[1]),
      let kind = HookKind.allCases.first(where: { $0.key == parts[0] })
    else { return nil }
    self = .hook(kind, index: index)
  }
}
