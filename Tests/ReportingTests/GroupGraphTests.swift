import Plans
import Reporting
import Testing

@Suite struct `Graphs with groups` {
  private func graph(_ plan: Plan, _ format: GraphFormat) throws -> String {
    try written { plan.writeGraph(format, options: DrawingOptions(), to: $0) }
  }

  private let sample = samplePlan(
    """
    get; test[os=linux]^4: get; test[os=mac]: get; test?: test[os=linux]!done test[os=mac]!done;
    one?: get!done; deploy/up: test; deploy?: deploy/up!done; last?: deploy one!failed
    """
  ).group("test", of: ["test[os=linux]", "test[os=mac]"])
    .group("one", .expanding("steps.get.outputs.names"))
    .group("deploy", .nested(path: "./up.yml"), of: ["deploy/up"])
    .late("one", if: "params.all")
    .late("deploy", if: "params.to == \"x\" &&\n  true", skipped: "if: params.to == \"x\" is false")
    .late("last", if: "always()", probes: ["tcp db:1"])

  @Test func `the tree tells of members and conditions`() throws {
    #expect(
      try graph(sample, .tree) == """
        ● get
        ├─● test[os=linux]  (priority high)
        ├─┼─● test[os=mac]
        │ ●─╯ test  (2 instances)
        ● │ one  (matrix of steps.get.outputs.names, known during the run, get done, if: params.all)
        │ ● deploy/up
        │ ● deploy  (./up.yml, 1 step, if: params.to == "x" is false)
        ●─╯ last  (one failed, if: always())

        """)
  }

  @Test func `DOT has shapes for groups`() throws {
    #expect(
      try graph(sample, .dot) == #"""
        digraph "sample.yml" {
          rankdir=LR;
          node [shape=box, style=rounded];
          "get";
          "test[os=linux]" [label="test[os=linux] (priority high)"];
          "test[os=mac]";
          "test" [label="test (2 instances)", shape=box3d];
          "one" [label="one (matrix of steps.get.outputs.names, known during the run, if: params.all)", shape=box3d];
          "deploy/up";
          "deploy" [label="deploy (./up.yml, 1 step, if: params.to == \"x\" is false)", shape=folder];
          "last" [label="last (if: always())"];
          "get" -> "test[os=linux]";
          "get" -> "test[os=mac]";
          "test[os=linux]" -> "test" [style=dotted, arrowhead=none];
          "test[os=mac]" -> "test" [style=dotted, arrowhead=none];
          "get" -> "one" [label="done", style=dashed];
          "test" -> "deploy/up";
          "deploy/up" -> "deploy" [style=dotted, arrowhead=none];
          "deploy" -> "last";
          "one" -> "last" [label="failed", style=dashed];
        }

        """#)
  }

  @Test func `Mermaid has shapes for groups`() throws {
    #expect(
      try graph(sample, .mermaid) == """
        flowchart LR
          n0["get"]
          n1["test[os=linux] (priority high)"]
          n2["test[os=mac]"]
          n3[["test (2 instances)"]]
          n4[["one (matrix of steps.get.outputs.names, known during the run, if: params.all)"]]
          n5["deploy/up"]
          n6[["deploy (./up.yml, 1 step, if: params.to == #quot;x#quot; is false)"]]
          n7["last (if: always())"]
          n0 --> n1
          n0 --> n2
          n1 -.- n3
          n2 -.- n3
          n0 -. done .-> n4
          n3 --> n5
          n5 -.- n6
          n6 --> n7
          n4 -. failed .-> n7

        """)
  }

  @Test func `JSON tells steps from groups`() throws {
    #expect(
      try graph(sample, .json) == #"""
        {"version":1,"name":"sample.yml","operations":[
        {"id":"get","name":"get","kind":"step","queue":"default","priority":0,"command":"echo get","line":1},
        {"id":"test[os=linux]","name":"test[os=linux]","kind":"step","group":"test","queue":"default","priority":4,"command":"echo test[os=linux]","line":2},
        {"id":"test[os=mac]","name":"test[os=mac]","kind":"step","group":"test","queue":"default","priority":0,"command":"echo test[os=mac]","line":3},
        {"id":"test","name":"test","kind":"group","members":["test[os=linux]","test[os=mac]"],"queue":"default","priority":0,"line":4},
        {"id":"one","name":"one","kind":"group","matrix":"steps.get.outputs.names","members":[],"if":"params.all","queue":"default","priority":0,"command":"echo one","line":5},
        {"id":"deploy/up","name":"deploy/up","kind":"step","group":"deploy","queue":"default","priority":0,"command":"echo deploy/up","line":6},
        {"id":"deploy","name":"deploy","kind":"group","pipeline":"./up.yml","members":["deploy/up"],"if":"params.to == \"x\" &&\n  true","skipped":"if: params.to == \"x\" is false","queue":"default","priority":0,"line":7},
        {"id":"last","name":"last","kind":"step","if":"always()","wait_for":["tcp db:1"],"queue":"default","priority":0,"command":"echo last","line":8}],"edges":[
        {"from":"get","to":"test[os=linux]","when":"ok"},
        {"from":"get","to":"test[os=mac]","when":"ok"},
        {"from":"test[os=linux]","to":"test","when":"done"},
        {"from":"test[os=mac]","to":"test","when":"done"},
        {"from":"get","to":"one","when":"done"},
        {"from":"test","to":"deploy/up","when":"ok"},
        {"from":"deploy/up","to":"deploy","when":"done"},
        {"from":"deploy","to":"last","when":"ok"},
        {"from":"one","to":"last","when":"failed"}],"queues":[
        {"name":"default","max_parallel":4,"suspended":false}]}

        """#)
  }

  @Test func `lists tell of members and conditions`() throws {
    let list = try written { sample.writeList(columns: 80, to: $0) }
    #expect(
      list == """
        get             $ echo get
        test[os=linux]  $ echo test[os=linux]
        test[os=mac]    $ echo test[os=mac]
        test            (2 instances)
        one             $ echo one  (matrix of steps.get.outputs.names, known during the run, if: params.all)
        deploy/up       $ echo deploy/up
        deploy          (./up.yml, 1 step, if: params.to == "x" is false)
        last            $ echo last  (if: always())

        """)
    let json = try written { sample.writeJSONList(to: $0) }
    #expect(
      json == #"""
        [
        {"id":"get","name":"get","kind":"step","command":"echo get","depends_on":[],"line":1},
        {"id":"test[os=linux]","name":"test[os=linux]","kind":"step","group":"test","command":"echo test[os=linux]","depends_on":["get"],"line":2},
        {"id":"test[os=mac]","name":"test[os=mac]","kind":"step","group":"test","command":"echo test[os=mac]","depends_on":["get"],"line":3},
        {"id":"test","name":"test","kind":"group","members":["test[os=linux]","test[os=mac]"],"depends_on":[],"line":4},
        {"id":"one","name":"one","kind":"group","matrix":"steps.get.outputs.names","members":[],"if":"params.all","command":"echo one","depends_on":["get"],"line":5},
        {"id":"deploy/up","name":"deploy/up","kind":"step","group":"deploy","command":"echo deploy/up","depends_on":["test"],"line":6},
        {"id":"deploy","name":"deploy","kind":"group","pipeline":"./up.yml","members":["deploy/up"],"if":"params.to == \"x\" &&\n  true","skipped":"if: params.to == \"x\" is false","depends_on":[],"line":7},
        {"id":"last","name":"last","kind":"step","if":"always()","wait_for":["tcp db:1"],"command":"echo last","depends_on":["deploy","one"],"line":8}]

        """#)
  }

  @Test func `above 500 edges Mermaid draws a matrix as one node`() throws {
    let count = 200
    let instances = (0..<count).map { "t[\($0)]" }
    let others = (0..<count).map { "u[\($0)]" }
    let lines =
      instances.map { "\($0): get" } + zip(others, instances).map { "\($0): \($1)" }
      + ["t?: " + instances.map { "\($0)!done" }.joined(separator: " ")]
      + ["u?: " + others.map { "\($0)!done" }.joined(separator: " "), "end: u t[7] u[9]!failed"]
    let plan = samplePlan("get;" + lines.joined(separator: ";"))
      .group("t", of: instances).group("u", of: others)
    #expect(
      try graph(plan, .mermaid) == """
        flowchart LR
          n0["get"]
          n401[["t (200 instances)"]]
          n402[["u (200 instances)"]]
          n403["end"]
          n0 --> n401
          n401 --> n402
          n402 --> n403
          n401 --> n403
          n402 -. failed .-> n403

        """)
    #expect(try graph(plan, .dot).split(separator: "\n").count == 4 + 404 + 803)
  }

  @Test func `instances of pipelines go into one node with all of their steps`() throws {
    let ids = (0..<260).map { "d[\($0)]" }
    let lines =
      ids.map { "\($0)/up: get" } + ids.map { "\($0)?: \($0)/up!done" }
      + ["d?: " + ids.map { "\($0)!done" }.joined(separator: " "), "end: d"]
    var plan = samplePlan("get;" + lines.joined(separator: ";")).group("d", of: ids)
    for id in ids { plan = plan.group(id, .nested(path: "./up.yml"), of: ["\(id)/up"]) }
    #expect(
      try graph(plan, .mermaid) == """
        flowchart LR
          n0["get"]
          n521[["d (260 instances)"]]
          n522["end"]
          n0 --> n521
          n521 --> n522

        """)
  }

  @Test func `ids of instances stay in their quotes`() throws {
    let plan = samplePlan(#"t[x="a\b#<c>"]; t?: t[x="a\b#<c>"]!done"#).group(
      "t", of: [#"t[x="a\b#<c>"]"#])
    #expect(
      try graph(plan, .dot) == #"""
        digraph "sample.yml" {
          rankdir=LR;
          node [shape=box, style=rounded];
          "t[x=\"a\\b#<c>\"]";
          "t" [label="t (1 instance)", shape=box3d];
          "t[x=\"a\\b#<c>\"]" -> "t" [style=dotted, arrowhead=none];
        }

        """#)
    #expect(
      try graph(plan, .mermaid) == #"""
        flowchart LR
          n0["t[x=#quot;a\b#35;#lt;c#gt;#quot;]"]
          n1[["t (1 instance)"]]
          n0 -.- n1

        """#)
    #expect(
      try graph(plan, .json) == #"""
        {"version":1,"name":"sample.yml","operations":[
        {"id":"t[x=\"a\\b#<c>\"]","name":"t[x=\"a\\b#<c>\"]","kind":"step","group":"t","queue":"default","priority":0,"command":"echo t[x=\"a\\b#<c>\"]","line":1},
        {"id":"t","name":"t","kind":"group","members":["t[x=\"a\\b#<c>\"]"],"queue":"default","priority":0,"line":2}],"edges":[
        {"from":"t[x=\"a\\b#<c>\"]","to":"t","when":"done"}],"queues":[
        {"name":"default","max_parallel":4,"suspended":false}]}

        """#)
  }

  @Test func `a group in a group is drawn once`() throws {
    let plan = samplePlan(
      """
      d/a; d/t[x]: d/a; d/t[y]: d/a; d/t?: d/t[x]!done d/t[y]!done;
      d?: d/a!done d/t[x]!done d/t[y]!done d/t!done; end: d
      """
    ).group("d/t", of: ["d/t[x]", "d/t[y]"])
      .group("d", .nested(path: "./d.yml"), of: ["d/a", "d/t"])
    #expect(
      try graph(plan, .mermaid) == """
        flowchart LR
          n0["d/a"]
          n1["d/t[x]"]
          n2["d/t[y]"]
          n3[["d/t (2 instances)"]]
          n4[["d (./d.yml, 3 steps)"]]
          n5["end"]
          n0 --> n1
          n0 --> n2
          n1 -.- n3
          n2 -.- n3
          n0 -.- n4
          n3 -.- n4
          n4 --> n5

        """)
    let json = try graph(plan, .json).split(separator: "\n")
    #expect(
      json[4...5].joined(separator: "\n") == """
        {"id":"d/t","name":"d/t","kind":"group","members":["d/t[x]","d/t[y]"],"group":"d",\
        "queue":"default","priority":0,"line":4},
        {"id":"d","name":"d","kind":"group","pipeline":"./d.yml","members":["d/a","d/t"],\
        "queue":"default","priority":0,"line":5},
        """)
    #expect(json.count { $0.contains(#""to":"d","when":"done""#) } == 2)
  }
}
