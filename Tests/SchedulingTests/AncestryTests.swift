// Which operations come before which: against a plain search, in thousands of random graphs.

import Scheduling
import TestSupport
import Testing

@Suite struct ancestry {
  @Test(
    arguments: [
      ("a; b: a; c: b", "a<b a<c b<c"),
      ("a; b; c: a b; d: c?done", "a<c a<d b<c b<d c<d"),
      ("c: b; b: a; a", "b<c a<c a<b"),
      // What waits until a service is ready does not wait for its end.
      ("a; s: a; b: s?ready; c: s?done", "a<s a<c s<c"),
    ])
  func `what comes before what`(_ text: String, _ expected: String) throws {
    let (graph, names) = graph(text)
    let ancestry = try #require(Ancestry(graph, budget: 1000))
    var found: Set<String> = []
    for (first, second) in pairs(of: graph) where ancestry.isBefore(first, second) {
      found.insert("\(names[first.index])<\(names[second.index])")
    }
    #expect(found == Set(expected.split(separator: " ").map(String.init)))
  }

  @Test func `what waits for a service comes after what the service waited for`() throws {
    let (graph, _) = graph("a; s: a; b: s?ready; c: a")
    let ancestry = try #require(Ancestry(graph, budget: 1000, followsServices: true))
    let (a, b, c) = (OperationID(0), OperationID(2), OperationID(3))
    #expect(ancestry.isBefore(a, b) && !ancestry.isBefore(b, a))
    #expect(!ancestry.isBefore(b, c) && !ancestry.isBefore(c, b))
  }

  @Test(arguments: [false, true]) func `random graphs`(followsServices: Bool) throws {
    for seed in 0..<300 {
      let graph = randomGraph(seed)
      let ancestry = try #require(
        Ancestry(graph, budget: .max, followsServices: followsServices))
      let reached = ancestors(in: graph, followsServices)
      for (first, second) in pairs(of: graph) {
        let isBefore = ancestry.isBefore(first, second)
        #expect(isBefore == reached[second.index].contains(first.index), "seed \(seed)")
      }
    }
  }

  @Test func `a cycle has none`() {
    #expect(Ancestry(graph("a: b; b: a").0, budget: 1000) == nil)
  }

  @Test func `a chain needs no search`() throws {
    var graph = Graph()
    for index in 0..<100_000 {
      let id = graph.append(OperationSpec())
      if index > 0 { graph.addEdge(from: OperationID(index - 1), to: id, when: .ok) }
    }
    let ancestry = try #require(Ancestry(graph, budget: 200_000))
    for index in stride(from: 0, to: 50_000, by: 50) {
      #expect(ancestry.isBefore(OperationID(index), OperationID(index + 50_000)))
      #expect(!ancestry.isBefore(OperationID(index + 50_000), OperationID(index)))
    }
  }

  @Test func `a search ends with the budget`() throws {
    let (graph, _) = graph("a; b: a; c: a; d: b c; x; y: x; z: y d; w: c z")
    let (first, second) = (OperationID(5), OperationID(7))
    #expect(try #require(Ancestry(graph, budget: 100)).isBefore(first, second))
    #expect(try #require(Ancestry(graph, budget: 2)).isBefore(first, second) == false)
  }
}

private func pairs(of graph: Graph) -> [(OperationID, OperationID)] {
  (0..<graph.count).flatMap { first in
    (0..<graph.count).map { (OperationID(first), OperationID($0)) }
  }
}

/// For each operation, all that come before it.
private func ancestors(in graph: Graph, _ followsServices: Bool) -> [Set<Int>] {
  var found = [Set<Int>](repeating: [], count: graph.count)
  for item in graph.dependenciesFirst().map({ Int($0) }) {
    for edge in graph.dependencies(of: OperationID(item))
    where followsServices || !edge.condition.waitsForReadiness {
      found[item].formUnion(found[edge.from.index].union([edge.from.index]))
    }
  }
  return found
}

private func randomGraph(_ seed: Int) -> Graph {
  var dice = SeededGenerator(seed: UInt64(seed))
  let count = dice.roll(2...30)
  var graph = Graph()
  for _ in 0..<count { graph.append(OperationSpec()) }
  let heights = (0..<count).shuffled(using: &dice)
  for _ in 0..<dice.roll(0...2 * count) {
    let (first, second) = (dice.roll(0...count - 1), dice.roll(0...count - 1))
    if heights[first] >= heights[second] { continue }
    let conditions = EdgeCondition.allCases
    graph.addEdge(
      from: OperationID(first), to: OperationID(second),
      when: conditions[dice.roll(0...conditions.count - 1)])
  }
  return graph
}
