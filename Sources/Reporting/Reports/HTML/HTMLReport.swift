// Writes a run as one HTML file, which needs no network: a table that works without the script, and
// the data from which the script draws the rest. It knows the data, not its appearance.

import Diagnostics
import Plans
import Scheduling

struct HTMLReport: Report {
  private static let tailLength = 200
  /// The maximum size of log tails in a page: one of 5,000 steps should stay small enough to send.
  private static let mostOfTails = 2 << 20
  private static let mostOfTail = 64 << 10
  /// The number of bytes of logs that are read only to count their lines.
  private static let mostCounted = 64 << 20

  func write(_ record: RunRecord, to sink: ByteSink) {
    sink.write(HTMLPage.beforeTitle)
    sink.write(xml: record.operations.plan.name)
    sink.write(HTMLPage.beforeTable)
    let reasons = record.steps.map(record.reason)
    writeTable(record, reasons, to: sink)
    sink.write(HTMLPage.beforeData)
    sink.isInScript = true
    writeData(record, reasons, to: sink)
    sink.isInScript = false
    sink.write(HTMLPage.beforeScript)
    sink.write(HTMLPage.drawingScript)
    sink.write(HTMLPage.comparisonScript)
    sink.write(HTMLPage.tableScript)
    sink.write(HTMLPage.end)
  }

  /// Writes the table that is seen without the script.
  private func writeTable(_ record: RunRecord, _ reasons: [String], to sink: ByteSink) {
    for (step, reason) in zip(record.steps, reasons) {
      sink.write("<tr><td>")
      sink.write(own: step.words)
      sink.write("<td>")
      sink.write(xml: record.operations.name(step.operation))
      sink.write("<td>")
      if let duration = step.knownDuration { sink.write(elapsed: duration) }
      sink.write("<td>")
      sink.write(xml: reason)
      sink.writeNewline()
    }
  }

  private func writeData(_ record: RunRecord, _ reasons: [String], to sink: ByteSink) {
    let operations = record.operations
    sink.write("{")
    sink.write(field: "name", isFirst: true)
    sink.write(json: operations.plan.name)
    if let beginning = record.beginning {
      sink.write(field: "run")
      sink.write(ownJSON: beginning.runID)
      sink.write(field: "host")
      sink.write(json: beginning.host.name)
      sink.write(field: "time")
      sink.write(ownJSON: timeInUTC(beginning.clock.wallTime))
    }
    sink.write(field: "wall")
    sink.write(milliseconds: record.wallTime)
    if let status = record.exitStatus {
      sink.write(field: "status")
      sink.write(decimal: Int(status))
    }
    if let given = record.givenStatus, given != record.exitStatus {
      sink.write(field: "given")
      sink.write(decimal: Int(given))
    }
    if record.wasLeft {
      sink.write(field: "left")
      sink.write("true")
    }
    if record.hasDied {
      sink.write(field: "died")
      sink.write("true")
    }
    if !record.remarks.isEmpty {
      sink.write(field: "remarks")
      sink.write(jsonList: record.remarks) { sink.write(json: $0) }
    }
    sink.write(field: "path")
    sink.write(jsonList: record.criticalPath) { sink.write(json: operations.name($0)) }
    sink.write(field: "commands")
    sink.write(jsonList: record.commands) { write($0, operations, to: sink) }
    if let previous = record.previous {
      sink.write(field: "before")
      write(previous, besides: record, to: sink)
    }
    sink.write(field: "groups")
    sink.write(jsonList: operations.neededGroups(by: record.steps.map(\.operation))) { group in
      sink.write("{")
      sink.write(field: "id", isFirst: true)
      sink.write(json: operations.name(group))
      write(needsOf: group, operations, to: sink)
      sink.write("}")
    }
    sink.write(field: "steps")
    writeSteps(record, reasons, to: sink)
    sink.write("}")
  }

  /// Writes the run before, and its steps that are not in this run.
  private func write(_ previous: PreviousRun, besides record: RunRecord, to sink: ByteSink) {
    sink.write("{")
    sink.write(field: "run", isFirst: true)
    sink.write(ownJSON: previous.name)
    sink.write(field: "time")
    sink.write(ownJSON: timeInUTC(previous.started))
    sink.write(field: "wall")
    sink.write(milliseconds: previous.wallTime)
    sink.write(field: "status")
    sink.write(decimal: previous.exitStatus)
    let names = Set(record.steps.map { record.operations.name($0.operation) })
    sink.write(field: "gone")
    sink.write(jsonList: previous.steps.filter { !names.contains($0.id) }) {
      sink.write(json: $0.id)
    }
    sink.write("}")
  }

  private func write(_ command: CommandRecord, _ operations: RunOperations, to sink: ByteSink) {
    sink.write("{")
    sink.write(field: "step", isFirst: true)
    let isOfRun = command.stream.operation.index < 0
    if isOfRun {
      sink.write("null")
    } else {
      sink.write(json: operations.name(command.stream.operation))
    }
    sink.write(field: "title")
    sink.write(json: operations.title(of: command.stream))
    sink.write(field: "row")
    sink.write(decimal: command.row)
    sink.write(field: "start")
    sink.write(milliseconds: command.start)
    if let end = command.end {
      sink.write(field: "time")
      sink.write(milliseconds: end.duration)
      sink.write(field: "cpu")
      sink.write(milliseconds: end.processorTime)
      if let peak = end.peakMemory {
        sink.write(field: "memory")
        sink.write(decimal: Int(peak))
      }
      sink.write(field: "ok")
      sink.write(end.isSuccess ? "true" : "false")
    }
    sink.write("}")
  }

  private func writeSteps(_ record: RunRecord, _ reasons: [String], to sink: ByteSink) {
    var rest = Self.mostOfTails
    var restToCount = Self.mostCounted
    let before = Dictionary(
      (record.previous?.steps ?? []).map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    let lines = StepLines(record.operations.plan)
    withUnsafeTemporaryAllocation(byteCount: Self.mostOfTail, alignment: 16) { buffer in
      sink.write(jsonList: zip(record.steps, reasons)) { step, reason in
        sink.write("{")
        write(step, record.operations, because: reason, to: sink)
        write(step, record, lines, to: sink)
        if let was = before[record.operations.name(step.operation)] {
          sink.write(field: "was")
          sink.write(ownJSON: was.ending.words)
          if let duration = was.duration {
            sink.write(field: "took")
            sink.write(milliseconds: duration)
          }
        }
        if rest > 0, let tail = record.tail(of: step, limit: Self.tailLength, buffer: buffer) {
          let text = tail.lines.joined(separator: "\n")
          rest -= text.utf8.count
          sink.write(field: "tail")
          sink.write(json: text)
          if let count = tail.lineCount(readingAtMost: restToCount, buffer: buffer) {
            restToCount -= tail.byteCount
            sink.write(field: "lines")
            sink.write(decimal: count)
          }
        }
        sink.write("}")
      }
    }
  }

  private func write(
    _ record: ReportedStep, _ operations: RunOperations, because reason: String,
    to sink: ByteSink
  ) {
    let step = operations.step(record.operation)
    sink.write(field: "id", isFirst: true)
    sink.write(json: operations.name(record.operation))
    if let name = operations.givenName(of: record.operation), name != step.id {
      sink.write(field: "name")
      sink.write(json: name)
    }
    sink.write(field: "outcome")
    sink.write(ownJSON: record.words)
    sink.write(field: "reason")
    sink.write(json: reason)
  }

  private func write(
    _ record: ReportedStep, _ run: RunRecord, _ lines: StepLines, to sink: ByteSink
  ) {
    let operations = run.operations
    let step = operations.step(record.operation)
    if let start = record.settled.record?.start {
      sink.write(field: "start")
      sink.write(milliseconds: start)
    }
    sink.write(field: "end")
    sink.write(milliseconds: record.end)
    sink.write(field: "place")
    sink.write(json: lines.location(of: operations.planned(record.operation)))
    if let command = record.settled.command ?? step.work.shown?.text {
      sink.write(field: "command")
      sink.write(json: command)
    }
    if let place = record.settled.decisive?.place {
      sink.write(field: "slurm")
      sink.write(json: place.words)
    }
    write(needsOf: record.operation, operations, to: sink)
  }

  /// Writes the dependencies of an operation, where a group stands for its members: thousands of
  /// instances of one step for each of thousands of another would be too much.
  private func write(needsOf operation: OperationID, _ operations: RunOperations, to sink: ByteSink)
  {
    sink.write(field: "needs")
    sink.write(jsonList: operations.needs(of: operation)) { sink.write(json: operations.name($0)) }
  }
}

extension RunOperations {
  /// The dependencies of an operation, each once.
  fileprivate func needs(of operation: OperationID) -> [OperationID] {
    var needs: [OperationID] = []
    forEachDependency(of: operation) { needs.append($0) }
    if needs.count < 2 { return needs }
    var seen: Set<OperationID> = []
    return needs.filter { seen.insert($0).inserted }
  }

  /// The groups among the dependencies of operations, and among those of these groups.
  fileprivate func neededGroups(by operations: [OperationID]) -> [OperationID] {
    var groups: [OperationID] = []
    var seen: Set<OperationID> = []
    func add(_ operation: OperationID) {
      guard standsForOthers(operation), seen.insert(operation).inserted else { return }
      groups.append(operation)
    }
    for operation in operations { forEachDependency(of: operation, add) }
    var next = 0
    while next < groups.count {
      forEachDependency(of: groups[next], add)
      next += 1
    }
    return groups
  }
}
