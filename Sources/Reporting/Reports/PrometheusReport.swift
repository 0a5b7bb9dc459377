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
    // What is not known has no metric.
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
      write(name, [("pipeline", pipeline)], value, to: sink)
    }
    writeHead("oprun_run_steps", "How many steps ended in which way.", to: sink)
    for count in Count.allCases where record.counts[count] > 0 {
      write(
        "oprun_run_steps", [("pipeline", pipeline)], outcome: count.field,
        "\(record.counts[count])", to: sink)
    }
    writeSteps(record, pipeline, to: sink)
  }

  private func writeSteps(_ record: RunRecord, _ pipeline: String, to sink: ByteSink) {
    let labels = { (step: StepRecord) in
      [("pipeline", pipeline), ("step", record.operations.name(step.operation))]
    }
    let durations = record.steps.compactMap { step in step.knownDuration.map { (step, $0) } }
    if !durations.isEmpty {
      writeHead(
        "oprun_step_duration_seconds", "How long the step took, with retries and hooks.", to: sink)
    }
    for (step, duration) in durations {
      write("oprun_step_duration_seconds", labels(step), decimalSeconds(duration), to: sink)
    }
    let results = record.steps.compactMap { step in step.isOK.map { (step, $0) } }
    if results.isEmpty { return }
    writeHead("oprun_step_ok", "1 if the step succeeded, 0 if not.", to: sink)
    for (step, isOK) in results { write("oprun_step_ok", labels(step), isOK ? "1" : "0", to: sink) }
  }

  private func writeHead(_ name: String, _ help: String, to sink: ByteSink) {
    sink.write(own: "# HELP \(name) \(help)\n# TYPE \(name) gauge\n")
  }

  private func write(
    _ name: String, _ labels: [(String, String)], outcome: StaticString? = nil, _ value: String,
    to sink: ByteSink
  ) {
    sink.write(own: name)
    for (index, label) in labels.enumerated() {
      sink.write(index == 0 ? "{" : ",")
      sink.write(own: label.0)
      sink.write("=\"")
      sink.write(own: escaped(sink.masked(label.1)))
      sink.write("\"")
    }
    if let outcome {
      sink.write(",outcome=\"")
      sink.write(outcome)
      sink.write("\"")
    }
    sink.write("} ")
    sink.write(own: value)
    sink.writeNewline()
  }

  private func escaped(_ text: String) -> String {
    guard text.utf8.contains(where: "\\\"\n".utf8.contains) else { return text }
    return text.replacingText("\\", with: "\\\\").replacingText("\"", with: "\\\"").replacingText(
      "\n", with: "\\n")
  }
}

extension StepRecord {
  /// Nil of a step that was not to run, or could not.
  fileprivate var isOK: Bool? {
    if settled.isLeft || settled.isUnended && settled.record == nil { return nil }
    return switch settled.ending.outcome {
    case .succeeded, .cached: true
    case .failed, .timedOut, .cancelled: false
    case .skipped, .blocked: nil
    }
  }
}
