// A failed step, in full: how it ended, the end of its output, where to look further.

import Diagnostics
import Pipelines
import Scheduling

struct FailureBlock {
  private let plan: Plan
  private let names: StepNames
  private let screen: Screen
  private let sink: ByteSink

  private static let tailLength = 40

  init(plan: Plan, names: StepNames, screen: Screen) {
    self.plan = plan
    self.names = names
    self.screen = screen
    sink = screen.messages
  }

  func write(_ failure: SettledOperation, blocked: Sample<OperationID>) {
    let step = plan.steps[failure.operation.index]
    writeHeading(failure, step)
    writeCommand(of: failure, step)
    if let decisive = failure.decisive, decisive.end.outputByteCount > 0 {
      writeLog(Stream(operation: failure.operation, trial: decisive.trial))
    }
    if blocked.count > 0 { writeBlocked(blocked) }
  }

  /// `✗ unit  exit 1 after 3.4s (attempt 2 of 2)  gallery.yml:14`.
  private func writeHeading(_ failure: SettledOperation, _ step: PlannedStep) {
    screen.write(.failed)
    sink.write(" ")
    sink.write(step.id, in: .strong, isColored: screen.colorsMessages)
    if let name = step.settings.name, name != step.id {
      sink.write(" (")
      sink.write(oneLine(name))
      sink.write(")")
    }
    sink.write("  ")
    writeEnd(failure, step.settings)
    sink.write("  ")
    sink.write(oneLine(plan.sources.place(of: step.span)))
    sink.writeNewline()
  }

  private func writeEnd(_ failure: SettledOperation, _ settings: StepSettings) {
    guard let decisive = failure.decisive else { return sink.write("failed") }
    if case .hook(let kind) = failure.cause {
      sink.write(kind.keyText)
      sink.write(" hook: ")
      sink.write(decisive.end, limit: nil)
    } else {
      sink.write(decisive.end, limit: settings.timeout)
      sink.write(attemptOf: decisive.trial, limit: settings.retry.limit)
    }
  }

  /// `  $ make test    in ./src`.
  private func writeCommand(of failure: SettledOperation, _ step: PlannedStep) {
    var action = step.action
    if case .hook(let kind, let index)? = failure.decisive?.trial {
      let hooks = step.settings.hooks[kind]
      guard hooks.indices.contains(index - 1) else { return }
      action = hooks[index - 1]
    }
    sink.write("  $ ")
    sink.write(firstLineOf: action, columns: screen.columns - 4)
    if let directory = step.settings.workingDirectory {
      sink.write("    in ")
      sink.write(oneLine(directory))
    }
    sink.writeNewline()
  }

  private func writeLog(_ stream: Stream) {
    let path = names.log(of: stream)
    let tail = LogTail(
      path: path, limit: Self.tailLength, columns: screen.columns - 4, buffer: screen.scratch)
    guard let tail else { return screen.writeUnreadable(path) }
    for line in tail.lines {
      sink.write("  | ", in: .faint, isColored: screen.colorsMessages)
      sink.write(line)
      sink.writeNewline()
    }
    sink.write("  log  ")
    sink.write(oneLine(path))
    sink.write("  (")
    if let count = tail.lineCount {
      sink.write(count, "line")
    } else {
      sink.write(byteCount: tail.byteCount)
    }
    if tail.lineCount != tail.lines.count {
      sink.write(", last ")
      sink.write(decimal: tail.lines.count)
      sink.write(" shown")
    }
    sink.write(")\n")
  }

  private func writeBlocked(_ blocked: Sample<OperationID>) {
    sink.write("  blocked because of it: ")
    for (index, operation) in blocked.first.enumerated() {
      if index > 0 { sink.write(", ") }
      sink.write(names[operation])
    }
    if blocked.count > blocked.first.count {
      sink.write(" and ")
      sink.write(grouped: blocked.count - blocked.first.count)
      sink.write(" more")
    }
    sink.writeNewline()
  }
}
