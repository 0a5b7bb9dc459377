// Writes a run as metrics for the textfile collector of the Prometheus node exporter
// (https://prometheus.io/docs/instrumenting/exposition_formats/).

import Diagnostics
import Plans
import Scheduling

struct PrometheusReport: Report {
  func write(_ record: RunRecord, to sink: ByteSink) {
    let pipeline = record.operations.plan.name
    let isEnded = record.exitStatus != nil && !record.wasLeft
    var metrics = [
      (
        "oprun_run_ended",
        "1 if the run has ended, 0 if it is in progress, its jobs go on, or its oprun died.",
        isEnded ? "1" : "0"
      )
    ]
    // An unknown value has no metric.
    if isEnded, let status = record.givenStatus {
      let start = record.beginning?.clock.wallTime ?? 0
      metrics += [
        (
          "oprun_run_timestamp_seconds", "When the run ended, since 1970.",
          decimalSeconds(start + record.wallTime)
        ),
        (
          "oprun_run_duration_seconds", "How long the run took.", decimalSeconds(record.wallTime)
        ),
        ("oprun_run_exit_status", "The exit status of the run.", "\(status)"),
      ]
    }
    for (name, help, value) in metrics {
      writeHead(name, help, to: sink)
      write(name, pipeline, to: sink)
      sink.write(own: value)
      sink.writeNewline()
    }
    writeHead("oprun_run_steps", "How many steps ended in which way.", to: sink)
    for count in Count.allCases where record.counts[count] > 0 {
      write("oprun_run_steps", pipeline, .outcome(count.field), to: sink)
      sink.write(decimal: record.counts[count])
      sink.writeNewline()
    }
    writeSteps(record, pipeline, to: sink)
  }

  private func writeSteps(_ record: RunRecord, _ pipeline: String, to sink: ByteSink) {
    let steps = record.steps
    let name = { (index: Int) in record.operations.name(steps[index].operation) }
    var isFirst = true
    for index in steps.indices {
      guard let duration = steps[index].knownDuration else { continue }
      if isFirst {
        writeHead(
          "oprun_step_duration_seconds", "How long the step took, with retries and hooks.",
          to: sink)
      }
      isFirst = false
      write("oprun_step_duration_seconds", pipeline, .step(name(index)), to: sink)
      sink.write(decimalSeconds: duration)
      sink.writeNewline()
    }
    isFirst = true
    for index in steps.indices {
      guard let isOK = steps[index].isOK else { continue }
      if isFirst { writeHead("oprun_step_ok", "1 if the step succeeded, 0 if not.", to: sink) }
      isFirst = false
      write("oprun_step_ok", pipeline, .step(name(index)), to: sink)
      sink.write(isOK ? "1\n" : "0\n")
    }
  }

  private func writeHead(_ name: String, _ help: String, to sink: ByteSink) {
    sink.write(own: "# HELP \(name) \(help)\n# TYPE \(name) gauge\n")
  }

  /// A label beside that of the pipeline.
  private enum Label {
    case step(String)
    case outcome(StaticString)
  }

  /// Writes a line without its value.
  private func write(
    _ name: String, _ pipeline: String, _ label: Label? = nil, to sink: ByteSink
  ) {
    sink.write(own: name)
    sink.write("{pipeline=\"")
    sink.write(label: pipeline)
    switch label {
    case .step(let step):
      sink.write("\",step=\"")
      sink.write(label: step)
    case .outcome(let outcome):
      sink.write("\",outcome=\"")
      sink.write(outcome)
    case nil: break
    }
    sink.write("\"} ")
  }
}

extension ByteSink {
  /// Writes the value of a label, which is between quotes.
  fileprivate func write(label text: String) {
    write(own: masked(text), plain: isPlainInQuotes) { scalar in
      switch scalar {
      case "\\": write("\\\\")
      case "\"": write("\\\"")
      case "\n": write("\\n")
      default: write(own: String(scalar))
      }
    }
  }
}

extension ReportedStep {
  /// Nil for a step that was not to run, or could not.
  fileprivate var isOK: Bool? {
    if settled.isLeft || settled.isUnended && settled.record == nil { return nil }
    return switch settled.ending.outcome {
    case .succeeded, .cached: true
    case .failed, .timedOut, .cancelled: false
    case .skipped, .blocked: nil
    }
  }
}
