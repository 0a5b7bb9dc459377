// Writes a run as a trace of OpenTelemetry: the JSON encoding of OTLP
// (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding), which a collector takes at /v1/traces.

import Plans
import Scheduling

struct OTLPReport: Report {
  func write(_ record: RunRecord, to sink: ByteSink) {
    guard let beginning = record.beginning, let trace = beginning.trace else {
      return sink.write("{\"resourceSpans\":[]}\n")
    }
    sink.write("{\"resourceSpans\":[{\"resource\":{\"attributes\":")
    writeAttributes(
      [("service.name", .own("oprun")), ("host.name", .text(beginning.host.name))], to: sink)
    sink.write("},\"scopeSpans\":[{\"scope\":{\"name\":\"oprun\"},\"spans\":[\n")
    writeRun(record, beginning, trace, to: sink)
    let (id, parent) = (trace.traceID, trace.runSpan)
    for command in record.commands {
      guard let end = command.end else { continue }
      sink.write(",\n")
      let span = trace.span(of: command.stream.operation, command.stream.role)
      writeIDs(of: span, below: parent, in: id, to: sink)
      let start = beginning.clock.wallTime + command.start
      let title = record.operations.title(of: command.stream)
      writeSpan(title, from: start, to: start + end.duration, sink)
      write(command, end, record.operations, to: sink)
    }
    sink.write("\n]}]}]}\n")
  }

  private func writeRun(
    _ record: RunRecord, _ beginning: RunBeginning, _ trace: TraceContext, to sink: ByteSink
  ) {
    writeIDs(of: trace.runSpan, below: trace.parentSpan, in: trace.traceID, to: sink)
    writeSpan(
      record.operations.plan.name, from: beginning.clock.wallTime,
      to: beginning.clock.wallTime + record.wallTime, sink)
    var attributes: [(StaticString, Attribute)] = [
      ("oprun.run.id", .own(beginning.runID)), ("oprun.steps", .number(record.steps.count)),
    ]
    if let status = record.givenStatus {
      attributes.append(("process.exit.code", .number(Int(status))))
    }
    let remarks = record.remarks.joined(separator: ", ")
    if !remarks.isEmpty { attributes.append(("oprun.end", .text(remarks))) }
    writeAttributes(attributes, to: sink)
    let isUndecided = record.end?.isDetached ?? true
    writeStatus(isOK: isUndecided ? nil : record.exitStatus == 0, to: sink)
  }

  /// Writes the beginning of a span.
  private func writeIDs(
    of span: String, below parent: String?, in trace: String, to sink: ByteSink
  ) {
    sink.write("{\"traceId\":\"")
    sink.write(own: trace)
    sink.write("\",\"spanId\":\"")
    sink.write(own: span)
    if let parent {
      sink.write("\",\"parentSpanId\":\"")
      sink.write(own: parent)
    }
    sink.write("\"")
  }

  /// Writes the rest of the span of a command, after its times.
  private func write(
    _ command: CommandRecord, _ end: CommandEnd, _ operations: RunOperations, to sink: ByteSink
  ) {
    let stream = command.stream
    sink.write("[")
    write("oprun.step", .text(operations.name(stream.operation)), to: sink)
    if case .attempt(let number) = stream.role {
      sink.write(",")
      write("oprun.attempt", .number(number), to: sink)
    }
    switch end.status {
    case .exited(let status):
      sink.write(",")
      write("process.exit.code", .number(Int(status)), to: sink)
    case .signalled, .notStarted, .outputsRefused, .abandoned, .lost: break
    }
    let words = operations.words { $0.write(end, limit: nil, columns: .max) }
    sink.write(",")
    write("oprun.end", .text(words), to: sink)
    sink.write("]")
    writeStatus(isOK: end.isSuccess, to: sink)
  }

  /// Writes the name, the kind (internal) and the times of a span, which are strings because they have 64 bits.
  private func writeSpan(
    _ name: String, from start: Nanoseconds, to end: Nanoseconds, _ sink: ByteSink
  ) {
    sink.write(field: "name")
    sink.write(json: name)
    sink.write(",\"kind\":1,\"startTimeUnixNano\":\"")
    sink.write(decimal: Int(start))
    sink.write("\",\"endTimeUnixNano\":\"")
    sink.write(decimal: Int(end))
    sink.write("\",\"attributes\":")
  }

  /// Writes a status; nil for a run that goes on.
  private func writeStatus(isOK: Bool?, to sink: ByteSink) {
    sink.write(",\"status\":{\"code\":")
    sink.write(decimal: isOK.map { $0 ? 1 : 2 } ?? 0)
    sink.write("}}")
  }

  private enum Attribute {
    case text(String)
    /// A word of oprun.
    case own(String)
    case number(Int)
  }

  private func writeAttributes(_ attributes: [(StaticString, Attribute)], to sink: ByteSink) {
    sink.write(jsonList: attributes) { name, value in write(name, value, to: sink) }
  }

  private func write(_ name: StaticString, _ value: Attribute, to sink: ByteSink) {
    sink.write("{\"key\":\"")
    sink.write(name)
    sink.write("\",\"value\":{")
    switch value {
    case .text(let text):
      sink.write("\"stringValue\":")
      sink.write(json: text)
    case .own(let text):
      sink.write("\"stringValue\":")
      sink.write(ownJSON: text)
    case .number(let number):
      sink.write("\"intValue\":\"")
      sink.write(decimal: number)
      sink.write("\"")
    }
    sink.write("}}")
  }
}
