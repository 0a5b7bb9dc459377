// TRACEPARENT, from the environment of a run to its steps and events.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct TraceTests {
  private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
  private static let pipeline = """
    steps:
      - id: a
        run: echo "$TRACEPARENT ${TRACESTATE-none}" >>seen; test "$OPRUN_ATTEMPT" = 2
        retry: 1
        on_complete: echo "$TRACEPARENT" >>seen
      - {id: own, run: 'echo "$TRACEPARENT" >own', env: {TRACEPARENT: mine}}
    """

  private struct Seen {
    let lines: [[String]]
    let started: [String: Any]
    let spans: [String]
    let own: String
  }

  private func run(_ environment: [String: String], events: Bool = true) throws -> Seen {
    let place = try Workspace(named: "trace", holding: [])
    try place.write(Self.pipeline, to: "pipeline.yml")
    let end = try place.run(
      "oprun pipeline.yml --output quiet \(events ? "--events events" : ""); cat seen",
      environment: environment)
    #expect(end.errors == "")
    let text = events ? try place.run("cat events").output : ""
    let all = try text.split(separator: "\n").map {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
    }
    let commands = all.filter { $0["event"] as? String == "command_started" }
    let ended = all.filter { $0["event"] as? String == "command_ended" }
    #expect(
      Set(commands.compactMap { $0["span"] as? String })
        == Set(ended.compactMap { $0["span"] as? String }))
    return Seen(
      lines: end.output.split(separator: "\n").map { $0.components(separatedBy: " ") },
      started: all.first ?? [:],
      spans: commands.filter { $0["step"] as? String == "a" }.compactMap { $0["span"] as? String },
      own: try place.run("cat own").output)
  }

  @Test func `each attempt and hook is a span of the trace that the run is part of`() throws {
    let seen = try run(["TRACEPARENT": Self.parent, "TRACESTATE": "vendor=1"])
    #expect(seen.started["trace"] as? String == "4bf92f3577b34da6a3ce929d0e0e4736")
    #expect(seen.started["parent_span"] as? String == "00f067aa0ba902b7")
    #expect(seen.spans.count == 3)
    #expect(
      seen.lines.map(\.[0]) == seen.spans.map { "00-4bf92f3577b34da6a3ce929d0e0e4736-\($0)-01" })
    #expect(seen.lines.prefix(2).map(\.[1]) == ["vendor=1", "vendor=1"])
    #expect(Set(seen.spans + [seen.started["span"] as? String ?? ""]).count == 4)
    #expect(seen.own == "mine\n")
  }

  @Test func `an invalid one is ignored, and the run is a trace of its own`() throws {
    let environment = ["TRACEPARENT": Self.parent + "x", "TRACESTATE": "vendor=1"]
    let (one, two) = (try run(environment), try run([:]))
    for seen in [one, two] {
      let trace = try #require(seen.started["trace"] as? String)
      #expect(seen.started["parent_span"] == nil)
      #expect(seen.lines.map(\.[0]) == seen.spans.map { "00-\(trace)-\($0)-03" })
      #expect(seen.lines.prefix(2).map(\.[1]) == ["none", "none"])
    }
    #expect(one.started["trace"] as? String != two.started["trace"] as? String)
  }

  @Test(arguments: ["", "TRACEPARENT=\(parent) "])
  func `a report that is made later has the ids of the run`(prefix: String) throws {
    let place = try Workspace(named: "trace", holding: [])
    try place.write(Self.pipeline, to: "pipeline.yml")
    let keys = "trace|span|parent_span|traceId|spanId|parentSpanId"
    let ids = "grep -oE '\"(\(keys))\":\"[0-9a-f]*' | cut -d'\"' -f4 | sort -u"
    let live = try place.run(
      "\(prefix)oprun pipeline.yml --output quiet --events events; cat events | \(ids)")
    #expect(live.output.split(separator: "\n").count == (prefix.isEmpty ? 6 : 7), "\(live.errors)")
    #expect(try place.run("oprun report --format otlp | \(ids)").output == live.output)
  }

  @Test func `commands are told of it if somebody can see it`() throws {
    #expect(try run([:], events: false).lines == [["", "none"], ["", "none"]])
    let collected = try run(["OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"], events: false)
    #expect(collected.lines.allSatisfy { $0[0].hasPrefix("00-") })
  }
}
