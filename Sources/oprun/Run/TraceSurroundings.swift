// The trace around a run, as the environment tells it.

import Diagnostics
import Glibc
import Plans
import Reporting

extension TraceContext {
  /// The trace for a run; nil if nobody could see its spans: the run is not part of a trace,
  /// nothing collects spans, and no events are written.
  static func ofRun(_ runID: String, _ invocation: Invocation) -> TraceContext? {
    let text = environmentValue("TRACEPARENT") ?? ""
    let parent = TraceParent(text)
    let isWanted =
      !text.isEmpty || invocation.text(Options.events) != nil
      || invocation.text(Options.output) == OutputMode.json.rawValue
      || collectors.contains { environmentValue($0)?.isEmpty == false }
    guard isWanted else { return nil }
    // TRACESTATE has no meaning without the trace that it was made for.
    if parent == nil { unsetenv("TRACESTATE") }
    return TraceContext(
      continuing: parent, newTrace: { (.random(in: .min ... .max), .random(in: .min ... .max)) },
      runID: runID)
  }

  /// The variables that tell programs with OpenTelemetry where to send their spans:
  /// https://opentelemetry.io/docs/specs/otel/protocol/exporter/
  private static let collectors = [
    "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
  ]
}
