// Writes a run as a trace that chrome://tracing, Perfetto and speedscope read: the JSON object form
// of the "Trace Event Format", with a complete event for each command. https://ui.perfetto.dev
// opens it.

import Plans
import Scheduling

struct TraceReport: Report {
  func write(_ record: RunRecord, to sink: ByteSink) {
    sink.write("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n")
    writeName("process_name", of: 0, record.operations.plan.name, to: sink)
    for row in 0..<(record.commands.map { $0.row + 1 }.max() ?? 0) {
      sink.write(",\n")
      writeName("thread_name", of: row, own: "slot \(row + 1)", to: sink)
    }
    for command in record.commands {
      guard let end = command.end else { continue }
      sink.write(",\n")
      write(command, end, record.operations, to: sink)
    }
    sink.write("\n]}\n")
  }

  private func writeName(
    _ kind: StaticString, of row: Int, _ name: String, to sink: ByteSink
  ) {
    writeName(kind, of: row, own: sink.masked(name), to: sink)
  }

  private func writeName(
    _ kind: StaticString, of row: Int, own name: String, to sink: ByteSink
  ) {
    sink.write("{\"ph\":\"M\",\"pid\":1,\"tid\":")
    sink.write(decimal: row)
    sink.write(",\"name\":\"")
    sink.write(kind)
    sink.write("\",\"args\":{\"name\":")
    sink.write(ownJSON: name)
    sink.write("}}")
  }

  /// Writes an event. Times are in microseconds.
  private func write(
    _ command: CommandRecord, _ end: CommandEnd, _ operations: RunOperations, to sink: ByteSink
  ) {
    sink.write("{\"ph\":\"X\",\"pid\":1,\"tid\":")
    sink.write(decimal: command.row)
    sink.write(field: "ts")
    sink.write(decimal: Int(command.start / 1000))
    sink.write(field: "dur")
    sink.write(decimal: Int(end.duration / 1000))
    sink.write(field: "cat")
    if case .attempt = command.stream.role {
      sink.write("\"step\"")
    } else {
      sink.write("\"hook\"")
    }
    sink.write(field: "name")
    sink.write(json: operations.title(of: command.stream))
    sink.write(",\"args\":{\"end\":")
    sink.write(json: operations.words { $0.write(end, limit: nil, columns: .max) })
    sink.write(field: "processor_ms")
    sink.write(milliseconds: end.processorTime)
    if let peak = end.peakMemory {
      sink.write(field: "peak_memory")
      sink.write(decimal: Int(peak))
    }
    sink.write("}}")
  }
}
