// Recorded runs as JSON. The fields are documented in docs/state.md.

import Plans
import Reporting
import RunFiles
import Scheduling
import State

extension Tool {
  /// Writes a run as an object; `more` adds fields.
  func write(json run: RecordedRunSummary, _ store: StateStore, more: () -> Void = {}) {
    output.write("{")
    output.write(field: "run", isFirst: true)
    output.write(json: run.name)
    write("state", run.state(isInUse: run.exitStatus == nil && store.isInUse(run.name)))
    write("pipeline", run.pipeline)
    write("file", run.file)
    write("workspace", run.workspace.map { store.folder.directory(of: $0) ?? $0 })
    write("started", UTCTime(secondsSince1970: run.started / 1_000_000).text + "Z")
    write("duration_ms", milliseconds: run.duration)
    write("exit_status", run.exitStatus)
    write("given_status", run.passedOn?.status)
    write("status_from", run.passedOn?.step)
    write("stop", run.stop?.text)
    if run.hookFailed { write("hook_failed", true) }
    write("host", run.host)
    write("resumes", run.resumed)
    let counts = run.endingCounts
    write("steps", counts.total)
    for count in Count.allCases
    where (count != .notEnded || run.exitStatus == nil)
      && (count != .left || run.wasLeft || counts[.left] > 0)
    {
      write(count.field, counts[count])
    }
    write("kept", run.endings.reduce(0) { $0 + ($1.isKept ? $1.number : 0) })
    write("log_bytes", run.logBytes)
    more()
    output.write("}")
  }

  func writeResumer(of shown: ShownRun) { write("resumed_by", shown.resumer) }

  func writeFields(of changes: [RecordedChange]) {
    if changes.isEmpty { return }
    output.write(field: "changes")
    output.write(jsonList: changes) { change in
      output.write("\n{")
      output.write(field: "action", isFirst: true)
      output.write(json: change.action)
      write("at_ms", milliseconds: change.time)
      write("by", change.user)
      write("words", change.words)
      output.write("}")
    }
  }

  func writeFields(of steps: [RecordedStep], _ shown: ShownRun) {
    output.write(field: "results")
    output.write(jsonList: steps) { step in
      output.write("\n{")
      output.write(field: "step", isFirst: true)
      output.write(json: step.name)
      write("outcome", step.ending?.outcome.word)
      write("allowed", step.ending?.isAllowed)
      write("cause", step.cause?.text)
      write("kept_from", step.origin)
      write("started_ms", milliseconds: step.started)
      write("duration_ms", milliseconds: step.duration)
      write("attempt", step.attempts)
      if step.attempts != nil { write("attempt_ms", milliseconds: step.last.duration) }
      write(step.last.status, step.last.detail)
      write("processor_ms", milliseconds: step.last.processor)
      write("peak_memory", step.last.memory.map { $0 << 10 })
      write("output_bytes", step.last.output)
      write(shown.place(of: step, shown.lastAttempt(of: step)))
      if let attempt = step.attempts {
        write("log", shown.logPath(of: step, String(attempt), step.last.output))
      }
      writeOutputs(of: step, shown)
      writeCommands(of: step, shown)
      output.write("}")
    }
  }

  private func write(_ status: Int?, _ detail: String?) {
    if let status, status < 0 { write("signal", -status) } else { write("exit_code", status) }
    write("detail", detail)
  }

  private func write(_ place: CommandPlacement?) {
    write("job", place?.job)
    write("node", place?.node)
    write("queue_reason", place?.reason)
  }

  private func writeOutputs(of step: RecordedStep, _ shown: ShownRun) {
    let outputs = shown.outputs[step.name] ?? []
    if outputs.isEmpty { return }
    output.write(field: "outputs")
    output.write("{")
    for (index, entry) in outputs.enumerated() {
      if index > 0 { output.write(",") }
      output.write(json: entry.name)
      output.write(":")
      output.write(entry.json ?? "null")
    }
    output.write("}")
  }

  private func writeCommands(of step: RecordedStep, _ shown: ShownRun) {
    let commands = shown.commands[step.name] ?? []
    if commands.isEmpty { return }
    output.write(field: "commands")
    output.write(jsonList: commands) { command in
      writeFields(of: command)
      write(shown.place(of: step, command.role))
      write("log", shown.logPath(of: step, command.role, command.last.output))
      output.write("}")
    }
  }

  /// Writes the hooks of the run itself.
  func writeHooks(of shown: ShownRun) {
    if shown.hooks.isEmpty { return }
    output.write(field: "hooks")
    output.write(jsonList: shown.hooks) { hook in
      writeFields(of: hook)
      write("log", shown.log(of: hook)?.path)
      output.write("}")
    }
  }

  private func writeFields(of command: RecordedStepCommand) {
    output.write("{")
    output.write(field: "role", isFirst: true)
    output.write(json: command.role)
    write("started_ms", milliseconds: command.started)
    write("duration_ms", milliseconds: command.last.duration)
    write(command.last.status, command.last.detail)
    write("output_bytes", command.last.output)
  }
}

// Fields; those without a value are left out.
extension Tool {
  private func write(_ field: StaticString, _ text: String?) {
    guard let text else { return }
    output.write(field: field)
    output.write(json: text)
  }

  private func write(_ field: StaticString, _ number: Int?) {
    guard let number else { return }
    output.write(field: field)
    output.write(decimal: number)
  }

  private func write(_ field: StaticString, _ isTrue: Bool?) {
    guard let isTrue else { return }
    output.write(field: field)
    output.write(isTrue ? "true" : "false")
  }

  private func write(_ field: StaticString, milliseconds microseconds: Int?) {
    write(field, microseconds.map { ($0 + 500) / 1000 })
  }
}
