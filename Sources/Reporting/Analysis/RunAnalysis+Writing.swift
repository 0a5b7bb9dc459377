// The analysis of a run for people and for programs.

import Diagnostics
import Plans
package import Scheduling

extension RunAnalysis {
  private static let longestList = 10

  /// Writes the analysis; `changed` is the makespan of the scenario that was asked for.
  package func write(changed: Nanoseconds?, to sink: ByteSink) {
    writeHead(to: sink)
    writePath(to: sink)
    writeWaits(to: sink)
    if let changed { write(whatIf: changed, to: sink) }
  }

  private func write(whatIf changed: Nanoseconds, to sink: ByteSink) {
    sink.write("\nwhat if  ")
    sink.write(elapsed: changed)
    sink.write(" instead of ")
    sink.write(elapsed: simulated)
    if changed == simulated {
      sink.write(": no difference")
    } else {
      sink.write(changed < simulated ? ", " : ", longer by ")
      sink.write(elapsed: abs(simulated - changed))
      if changed < simulated { sink.write(" less") }
    }
    if hasLateInstances {
      sink.write(" (instances that became known during the run count as one step)")
    }
    sink.writeNewline()
  }

  private var work: Nanoseconds {
    record.commands.reduce(0) { $0 + ($1.end?.duration ?? 0) }
  }

  private func writeHead(to sink: ByteSink) {
    sink.write(oneLineText(record.operations.plan.name))
    sink.write("  ")
    sink.write(elapsed: record.wallTime)
    sink.write(", ")
    sink.write(elapsed: work)
    sink.write(" of work, ")
    let tenths = record.wallTime > 0 ? Int(work * 10 / record.wallTime) : 0
    sink.write("\(tenths / 10).\(tenths % 10) at once on average; ")
    sink.write("repeated in virtual time it takes ")
    sink.write(elapsed: simulated)
    sink.writeNewline()
  }

  private func writePath(to sink: ByteSink) {
    let steps = path(limit: Self.longestList)
    guard !steps.isEmpty else { return }
    let names = steps.map { sink.shortened(record.operations.name($0.operation)) }
    let width = min(40, names.map { displayWidth(of: $0) }.max() ?? 0)
    let omitted = stepsOfPath.count - steps.count
    sink.write(
      "\ncritical path\(omitted > 0 ? ", its \(steps.count) longest steps of \(stepsOfPath.count)" : "")\n"
    )
    for (step, name) in zip(steps, names) {
      sink.write("  \(name)")
      sink.write(spaces: width - displayWidth(of: name) + 2)
      write(elapsed: step.duration, width: 7, to: sink)
      let percent = Int((step.worth * 100).rounded())
      if step.atMost == 0 {
        sink.write("  others take as long: shortening it alone saves nothing\n")
      } else {
        sink.write("  could save up to ")
        sink.write(elapsed: step.atMost)
        sink.write("; each second less saves \(percent / 100).\(pad(percent % 100))s of the run\n")
      }
    }
  }

  private func writeWaits(to sink: ByteSink) {
    let waits = waits()
    guard !waits.isEmpty else { return }
    sink.write("\nready steps waited\n")
    for wait in waits.prefix(Self.longestList) {
      sink.write("  ")
      write(elapsed: wait.time, width: 7, to: sink)
      sink.write("  for \(words(wait.cause)), in ")
      sink.write(wait.stepCount, "step")
      sink.writeNewline()
    }
  }

  private func words(_ cause: Wait.Cause) -> String {
    let plan = record.operations.plan
    return switch cause {
    case .queue(let queue) where queue == .default: "a slot (-j \(plan.queues[0].width))"
    case .queue(let queue): "a slot of the queue '\(oneLineText(plan.queues[queue.index].name))'"
    case .pool(let pool):
      "'\(oneLineText(plan.pools[pool.index].name))'"
        + (plan.pools[pool.index].isGranted ? ", a mutex of the host" : "")
    case .other: "something else, such as a condition or a delay"
    }
  }

  private func write(elapsed time: Nanoseconds, width: Int, to sink: ByteSink) {
    let text = ByteSink.intoMemory()
    text.write(elapsed: time)
    sink.write(spaces: max(0, width - text.text.utf8.count))
    sink.write(text.text)
  }

  private func oneLineText(_ text: String) -> String { oneLine(text, columns: 60) }

  private func pad(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

// The analysis as JSON, which programs read.
extension RunAnalysis {
  /// Writes the fields of an object.
  package func writeFields(changed: Nanoseconds?, to sink: ByteSink) {
    sink.write(field: "run", isFirst: true)
    sink.write(ownJSON: record.beginning?.runID ?? "")
    let times: [(StaticString, Nanoseconds?)] = [
      ("wall_ms", record.wallTime), ("work_ms", work), ("simulated_ms", simulated),
      ("what_if_ms", changed),
    ]
    for case (let name, let time?) in times {
      sink.write(field: name)
      sink.write(milliseconds: time)
    }
    sink.write(field: "critical_path")
    sink.write(jsonList: path(limit: Self.longestList)) { step in
      sink.write("{")
      sink.write(field: "step", isFirst: true)
      sink.write(json: record.operations.name(step.operation))
      sink.write(field: "ms")
      sink.write(milliseconds: step.duration)
      sink.write(field: "saves_at_most_ms")
      sink.write(milliseconds: step.atMost)
      sink.write(field: "saves_per_second")
      let thousandths = Int((step.worth * 1000).rounded())
      sink.write(
        own: "\(thousandths / 1000).\(String(1000 + thousandths % 1000).dropFirst())}")
    }
    writeJSONWaits(to: sink)
  }

  private func writeJSONWaits(to sink: ByteSink) {
    let plan = record.operations.plan
    sink.write(field: "waits")
    sink.write(jsonList: waits()) { wait in
      sink.write("{")
      sink.write(field: "for", isFirst: true)
      switch wait.cause {
      case .queue(let queue): sink.write(json: "queue \(plan.queues[queue.index].name)")
      case .pool(let pool): sink.write(json: "pool \(plan.pools[pool.index].name)")
      case .other: sink.write("\"other\"")
      }
      sink.write(field: "ms")
      sink.write(milliseconds: wait.time)
      sink.write(own: ",\"steps\":\(wait.stepCount)}")
    }
  }
}
