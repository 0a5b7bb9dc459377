// The graph: its edges, its order, its cycles.

import Scheduling
import Testing

@Suite struct `a graph` {
  @Test func `edges are walked in the order they were added`() {
    let (graph, names) = graph("a; b; c: b a?done a; d: a")
    let into = graph.dependencies(of: OperationID(2)).map {
      "\(names[$0.from.index])?\($0.condition)"
    }
    let out = graph.dependents(of: OperationID(0)).map { "\(names[$0.to.index])?\($0.condition)" }
    #expect(into == ["b?ok", "a?done", "a?ok"])
    #expect(out == ["c?done", "c?ok", "d?ok"])
    #expect(graph.dependencies(of: OperationID(0)).isEmpty)
    #expect(graph.dependents(of: OperationID(1)).first?.to == OperationID(2))
    #expect(graph.dependents(of: OperationID(0)).count == 3)
  }

  @Test func `an operation is given back as it was appended`() {
    var spec = OperationSpec()
    spec.queue = QueueID(3)
    spec.priority = -7
    spec.expected = 12
    spec.claims = [Claim(PoolID(1), amount: 5), Claim(PoolID(0), amount: 2)]
    var graph = Graph()
    graph.append(OperationSpec())
    let id = graph.append(spec)
    #expect(graph[id].queue == QueueID(3))
    #expect(graph[id].priority == -7)
    #expect(graph[id].expected == 12)
    #expect(graph[id].claims == [Claim(PoolID(0), amount: 2), Claim(PoolID(1), amount: 5)])
    #expect(graph[OperationID(0)].expected == nil)
    #expect(graph[OperationID(0)].claims == [])
  }

  @Test(
    arguments: [
      ("a; b; c", "a b c"),
      ("a: c; b; c", "b c a"),
      ("a: d; b: c; c; d; e", "c b d a e"),
      ("a: b; b: c; c: d; d", "d c b a"),
      ("a: a", nil),
      ("a: b; b: a; c", nil),
    ] as [(String, String?)])
  func `the topological order keeps file order`(_ text: String, _ expected: String?) {
    let (graph, names) = graph(text)
    let order = graph.topologicalOrder()?.map { names[$0.index] }.joined(separator: " ")
    #expect(order == expected)
  }
}

@Suite struct cycles {
  @Test(
    arguments: [
      ("a; b: a; c: a b", nil),
      ("a: b; b: c; c", nil),
      ("a: a", "a"),
      ("a; b: a b", "b"),
      ("a: b; b: a", "a b"),
      ("a: c; b: a; c: b", "a c b"),
      ("a: b; b: c; c: a", "a b c"),
      // Operations before a cycle and after it are not on it.
      ("x; a: x b; b: a; y: b", "a b"),
      // The shorter of two is found; of equals, the one with the smallest start.
      ("a: b; b: c; c: a; d: e; e: d", "d e"),
      ("d: e; e: d; a: b; b: a", "d e"),
      ("a: b; b: c; c: d; d: a b", "b c d"),
      // One cycle leads into the other.
      ("a: b; b: c; c: d; d: b; e: f a; f: e", "e f"),
      // Edges count whatever their condition.
      ("a: b?failed; b: a?done", "a b"),
    ] as [(String, String?)])
  func `a cycle is shown by its shortest path`(_ text: String, _ expected: String?) {
    let (graph, names) = graph(text)
    let cycle = graph.shortestCycle()?.map { names[$0.index] }.joined(separator: " ")
    #expect(cycle == expected)
  }

  @Test(
    arguments: [
      ("a; b: a", ""),
      ("a: c; b: a; c: b; d: d; e", "d, a c b"),
      // The two have an operation in common.
      ("a: b; b: a c; c: b", "a b"),
      ("a: b; b: a; c: d; d: c; e: f; f: e", "a b, c d"),
    ])
  func `separate cycles are all found, up to a limit`(_ text: String, _ expected: String) {
    let (graph, names) = graph(text)
    let cycles = graph.separateCycles(atMost: 2).map { cycle in
      cycle.map { names[$0.index] }.joined(separator: " ")
    }
    #expect(cycles.joined(separator: ", ") == expected)
  }

  @Test func `one cycle through all operations is found`() {
    let count = 100_000
    let graph = chain(count, closed: true)
    #expect(graph.shortestCycle()?.map(\.index) == [0] + (1..<count).reversed())
  }

  @Test func `a short cycle is found among long ones`() {
    var graph = chain(100_000, closed: true)
    for index in stride(from: 0, to: 99_000, by: 7) {
      graph.addEdge(from: OperationID(index), to: OperationID(index + 11), when: .ok)
    }
    graph.addEdge(from: OperationID(70_002), to: OperationID(70_000), when: .ok)
    #expect(graph.shortestCycle()?.map(\.index) == [70_000, 70_002, 70_001])
  }

  @Test func `layers between two cycles do not hide them`() {
    var graph = Graph()
    for _ in 0..<3_000 { graph.append(OperationSpec()) }
    for index in 3..<2_994 {
      for step in 1...5 where index + step < 2_996 {
        graph.addEdge(from: OperationID(index), to: OperationID(index + step), when: .ok)
      }
    }
    for (from, to) in [(0, 1), (1, 2), (2, 0), (2, 3), (2_995, 2_996), (2_996, 2_995)] {
      graph.addEdge(from: OperationID(from), to: OperationID(to), when: .ok)
    }
    #expect(graph.shortestCycle()?.map(\.index) == [2_995, 2_996])
  }

  @Test func `a million in a chain have no cycle`() {
    var graph = Graph()
    for _ in 0..<1_000_000 { graph.append(OperationSpec()) }
    for index in 1..<1_000_000 {
      graph.addEdge(from: OperationID(index), to: OperationID(index - 1), when: .ok)
    }
    #expect(graph.shortestCycle() == nil)
    #expect(graph.topologicalOrder()?.first == OperationID(999_999))
  }

  private func chain(_ count: Int, closed: Bool) -> Graph {
    var graph = Graph()
    for _ in 0..<count { graph.append(OperationSpec()) }
    for index in 1..<count {
      graph.addEdge(from: OperationID(index - 1), to: OperationID(index), when: .ok)
    }
    if closed { graph.addEdge(from: OperationID(count - 1), to: OperationID(0), when: .ok) }
    return graph
  }
}
