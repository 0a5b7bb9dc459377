import Plans
import Reporting
import Testing

@Suite struct `Graph formats` {
  private func graph(_ plan: Plan, _ format: GraphFormat) throws -> String {
    try written { plan.writeGraph(format, options: DrawingOptions(), to: $0) }
  }

  private let sample = samplePlan(
    "get@: ; build^4: get; fix: build!failed; report: build!done get")

  @Test func `the tree shows each operation once`() throws {
    #expect(
      try graph(sample, .tree) == """
        ● get  (queue net)
        ├─● build  (priority high)
        │ ├─● fix  (build failed)
        ●─╯ report  (build done)

        """)
  }

  @Test func `DOT has a cluster for each queue and labels for conditions`() throws {
    #expect(
      try graph(sample, .dot) == """
        digraph "sample.yml" {
          rankdir=LR;
          node [shape=box, style=rounded];
          subgraph "cluster_0" {
            label="default, 4 at once";
            "build" [label="build (priority high)"];
            "fix";
            "report";
          }
          subgraph "cluster_1" {
            label="net, 2 at once";
            "get";
          }
          "get" -> "build";
          "build" -> "fix" [label="failed", style=dashed];
          "build" -> "report" [label="done", style=dashed];
          "get" -> "report";
        }

        """)
  }

  @Test func `Mermaid numbers its nodes`() throws {
    #expect(
      try graph(sample, .mermaid) == """
        flowchart LR
          subgraph q0["default, 4 at once"]
            n1["build (priority high)"]
            n2["fix"]
            n3["report"]
          end
          subgraph q1["net, 2 at once"]
            n0["get"]
          end
          n0 --> n1
          n1 -. failed .-> n2
          n1 -. done .-> n3
          n0 --> n3

        """)
  }

  @Test func `JSON lists operations, edges and queues`() throws {
    #expect(
      try graph(samplePlan("a~1.5; b: a!done"), .json) == """
        {"version":1,"name":"sample.yml","operations":[
        {"id":"a","name":"a","kind":"step","queue":"default","priority":0,"expected_ms":1500,"command":"echo a","line":1},
        {"id":"b","name":"b","kind":"step","queue":"default","priority":0,"command":"echo b","line":2}],"edges":[
        {"from":"a","to":"b","when":"done"}],"queues":[
        {"name":"default","max_parallel":4,"suspended":false}]}

        """)
  }

  @Test func `labels cannot break out of their quotes`() throws {
    let settings = StepSettings(name: #"a "b" \ <i> & #1 `x` \#u{1b}[2J"#)
    let plan = samplePlan("end", settings: settings)
    #expect(
      try graph(plan, .dot).contains(
        #"  "end" [label="a \"b\" \\ <i> & #1 `x` \\u{1b}[2J"];"#))
    #expect(
      try graph(plan, .mermaid).contains(
        ##"  n0["a #quot;b#quot; \ #lt;i#gt; #amp; #35;1 #96;x#96; \u{1b}[2J"]"##))
    #expect(
      try graph(plan, .json).contains(
        ##""name":"a \"b\" \\ <i> & #1 `x` \u001b[2J""##))
  }

  @Test func `a quote is one also where an accent follows it`() throws {
    let plan = samplePlan("end", settings: StepSettings(name: "a\"\u{301}; b\\\u{301}"))
    #expect(
      try graph(plan, .dot).contains(
        "  \"end\" [label=\"a\\\"\u{301}; b\\\\\u{301}\"];"))
    #expect(try graph(plan, .mermaid).contains("  n0[\"a#quot;\u{301}; b\\\u{301}\"]"))
  }

  @Test func `a list shows names or commands`() throws {
    #expect(
      try written { samplePlan("a; bcd: a").writeList(columns: 80, to: $0) } == """
        a    $ echo a
        bcd  $ echo bcd

        """)
    #expect(
      try written { samplePlan("a; bcd: a").writeJSONList(to: $0) } == """
        [
        {"id":"a","name":"a","kind":"step","command":"echo a","depends_on":[],"line":1},
        {"id":"bcd","name":"bcd","kind":"step","command":"echo bcd","depends_on":["a"],"line":2}]

        """)
  }
}
