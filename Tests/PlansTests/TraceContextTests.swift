import Plans
import Scheduling
import Testing

@Suite struct `The trace of a run` {
  private let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
  private let span = "00f067aa0ba902b7"

  /// The cases of the standard's own test suite: github.com/w3c/trace-context, test/test.py.
  @Test func `a parent is read as the standard says`() throws {
    let sampled = try #require(TraceParent("00-\(trace)-\(span)-01"))
    #expect((sampled.traceID, sampled.spanID, sampled.flags) == (trace, span, 1))
    #expect(TraceParent("00-\(trace)-\(span)-00")?.flags == 0)
    #expect(TraceParent("00-\(trace)-\(span)-ff")?.flags == 3)
    #expect(TraceParent("cc-\(trace)-\(span)-01")?.spanID == span)
    #expect(TraceParent("cc-\(trace)-\(span)-01-what-the-future-will-be-like")?.traceID == trace)
    let zeros = String(repeating: "0", count: 32)
    for text in [
      "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-", "00-\(trace)-\(span)-1",
      "00-\(trace)-\(span)-01-", "00-\(trace)-\(span)-01-x", "00-\(trace)-\(span)-011",
      "ff-\(trace)-\(span)-01", "0-\(trace)-\(span)-01", "000-\(trace)-\(span)-01",
      "cc-\(trace)-\(span)-01.x", ".0-\(trace)-\(span)-01", "00-\(zeros)-\(span)-01",
      "00-\(trace)-\(zeros.prefix(16))-01", "00-\(trace.uppercased())-\(span)-01",
      "00-\(trace)-\(span.uppercased())-01", "00-\(trace)-\(span)-0A", "00_\(trace)_\(span)_01",
      "00-\(trace.dropLast())g-\(span)-01", " 00-\(trace)-\(span)-01", "00-\(trace)-\(span)-01 ",
      "00-\(trace.dropLast())é-\(span)-01", "00-\(trace)-\(span)-01\u{0}",
    ] {
      #expect(TraceParent(text) == nil, "\(text)")
    }
  }

  private func context(_ run: String, continuing text: String? = nil) -> TraceContext {
    TraceContext(
      continuing: text.flatMap { TraceParent($0) }, newTrace: { (0xAB, 0) }, runID: run)
  }

  @Test func `every command has a span of its own, the same whenever it is asked`() {
    let context = context("r", continuing: "00-\(trace)-\(span)-00")
    #expect((context.traceID, context.parentSpan) == (trace, span))
    let roles: [CommandRole] =
      (1...20).map { .attempt($0) }
      + HookKind.allCases.flatMap { kind in
        (1...5).flatMap { index in (1...3).map { .hook(kind, index: index, round: $0) } }
      }
    var seen: Set<String> = [context.runSpan]
    for operation in -1..<200 {
      for role in roles {
        let span = context.span(of: OperationID(operation), role)
        #expect(span.wholeMatch(of: /[0-9a-f]{16}/) != nil)
        seen.insert(span)
      }
    }
    #expect(seen.count == 1 + 201 * roles.count)
    let first = context.header(of: OperationID(3), .attempt(1))
    #expect(first == "00-\(trace)-\(context.span(of: OperationID(3), .attempt(1)))-00")
    #expect(context.span(of: OperationID(3), .probe(2)) == context.runSpan)
    #expect(self.context("r", continuing: "00-\(trace)-\(span)-00") == context)
  }

  @Test(arguments: [nil, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"])
  func `what is recorded of a trace gives the same spans`(parent: String?) {
    let live = context("r", continuing: parent)
    #expect(TraceContext(recorded: live.recorded, runID: "r") == live)
    #expect(TraceContext(recorded: "", runID: "r") == nil)
  }

  @Test func `runs with one parent have other spans, and one without has a trace of its own`() {
    let parent = "00-\(trace)-\(span)-01"
    let (one, two) = (context("a", continuing: parent), context("b", continuing: parent))
    #expect(one.traceID == two.traceID)
    #expect(one.runSpan != two.runSpan)
    let own = context("a")
    #expect(own.parentSpan == nil)
    #expect(own.traceID == "00000000000000ab0000000000000001")
    #expect(TraceParent(own.header(of: OperationID(0), .attempt(1)))?.flags == 3)
  }
}
