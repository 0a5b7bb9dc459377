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
    for command in record.commands {
      guard let end = command.end else { continue }
      sink.write(",\n")
      write(command, end, record, (beginning, trace), to: sink)
    }
    sink.write("\n]}]}]}\n")
  }

  private func writeRun(
    _ record: RunRecord, _ beginning: RunBeginning, _ trace: TraceContext, to sink: ByteSink
  ) {
    sink.write(own: "{\"traceId\":\"\(trace.traceID)\",\"spanId\":\"\(trace.runSpan)\"")
    if let parent = trace.parentSpan { sink.write(own: ",\"parentSpanId\":\"\(parent)\"") }
    writeSpan(
      record.operations.plan.name, from: beginning.clock.wallTime,
      to: beginning.clock.wallTime + record.wallTime, sink)
    var attributes: [(String, Attribute)] = [
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

  private func write(
    _ command: CommandRecord, _ end: CommandEnd, _ record: RunRecord,
    _ run: (beginning: RunBeginning, trace: TraceContext), to sink: ByteSink
  ) {
    let stream = command.stream
    let span = run.trace.span(of: stream.operation, stream.role)
    sink.write(own: "{\"traceId\":\"\(run.trace.traceID)\",\"spanId\":\"\(span)\"")
    sink.write(own: ",\"parentSpanId\":\"\(run.trace.runSpan)\"")
    let start = run.beginning.clock.wallTime + command.start
    writeSpan(record.operations.title(of: stream), from: start, to: start + end.duration, sink)
    var attributes: [(String, Attribute)] = [
      ("oprun.step", .text(record.operations.name(stream.operation)))
    ]
    if case .attempt(let number) = stream.role {
      attributes.append(("oprun.attempt", .number(number)))
    }
    switch end.status {
    case .exited(let status): attributes.append(("process.exit.code", .number(Int(status))))
    case .signalled, .notStarted, .outputsRefused, .abandoned, .lost: break
    }
    let words = ByteSink.intoMemory()
    words.write(end, limit: nil, columns: .max)
    attributes.append(("oprun.end", .text(words.text)))
    writeAttributes(attributes, to: sink)
    writeStatus(isOK: end.isSuccess, to: sink)
  }

  /// The name, the kind (internal) and the times of a span, which are strings because they have 64 bits.
  private func writeSpan(
    _ name: String, from start: Nanoseconds, to end: Nanoseconds, _ sink: ByteSink
  ) {
    sink.write(",\"name\":")
    sink.write(json: name)
    sink.write(
      own: ",\"kind\":1,\"startTimeUnixNano\":\"\(start)\",\"endTimeUnixNano\":\"\(end)\"")
    sink.write(",\"attributes\":")
  }

  /// Nil is the status of a run that goes on.
  private func writeStatus(isOK: Bool?, to sink: ByteSink) {
    let code = isOK.map { $0 ? 1 : 2 } ?? 0
    sink.write(own: ",\"status\":{\"code\":\(code)}}")
  }

  private enum Attribute {
    case text(String)
    /// A word of oprun.
    case own(String)
    case number(Int)
  }

  private func writeAttributes(_ attributes: [(String, Attribute)], to sink: ByteSink) {
    sink.write(jsonList: attributes) { name, value in
      sink.write(own: "{\"key\":\"\(name)\",\"value\":{")
      switch value {
      case .text(let text):
        sink.write("\"stringValue\":")
        sink.write(json: text)
      case .own(let text):
        sink.write("\"stringValue\":")
        sink.write(ownJSON: text)
      case .number(let number): sink.write(own: "\"intValue\":\"\(number)\"")
      }
      sink.write("}}")
    }
  }
}
