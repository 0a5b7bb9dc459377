// `max_parallel` of a matrix whose instances are several steps each, in virtual time.

import Plans
import Scheduling
import Testing

@Suite struct `Instances of several steps that are limited in number` {
  /// The instances `x`, `y` and `z` of `g`, one at a time, of two steps each, one after the other. `x` waits for
  /// what is in `before`.
  private func simulation(
    _ decisions: [String: String] = [:], _ scripts: [String: String] = [:], kept: Set<String> = [],
    before: String? = nil
  ) -> Simulation {
    let instances = ["x", "y", "z"]
    let graph = instances.map { id in
      let after = id == "x" ? before ?? "" : ""
      return "\(id)/a: \(after); \(id)/b: \(id)/a; \(id): \(id)/a?done \(id)/b?done"
    }
    var usual = ["g": "join"]
    for id in instances { usual.merge(["\(id)/a": "run", "\(id)/b": "run", id: "join"]) { $1 } }
    return Simulation(
      graph: ((before.map { [$0] } ?? []) + graph).joined(separator: "; ")
        + "; g: x?done y?done z?done",
      scripts: scripts, decisions: usual.merging(decisions) { $1 },
      groups: [
        "x^": ["x/a", "x/b"], "y^": ["y/a", "y/b"], "z^": ["z/a", "z/b"], "g": instances,
      ],
      widths: ["g": 1], idleSteps: Set(kept.flatMap { ["\($0)/a", "\($0)/b"] }))
  }

  @Test func `begin one after the other`() {
    #expect(simulation().starts == ["x/a", "x/b", "y/a", "y/b", "z/a", "z/b"])
  }

  @Test func `do not wait if everything in them is kept`() {
    let run = simulation(
      ["y/a": "keep", "y/b": "keep", "z/a": "keep", "z/b": "keep"], ["x/a": "ok@5"],
      kept: ["y", "z"])
    #expect(run.starts == ["x/a", "x/b"])
    let kept = run.timeline().split(separator: " ").filter { $0.hasSuffix("=cached") }
    #expect(kept.filter { $0.contains("/") }.count == 4)
    #expect(kept.allSatisfy { $0.hasPrefix("0:") })
  }

  @Test func `wait for their turn if a step runs that was expected to be kept`() {
    #expect(
      simulation(["y/a": "keep"], ["x/a": "ok@5"], kept: ["y", "z"]).starts
        == ["x/a", "x/b", "y/b", "z/a", "z/b"])
  }

  @Test func `are under way if a step runs that was expected to be kept`() {
    #expect(
      simulation(
        ["z/a": "keep", "z/b": "keep"], ["y/b": "ok@5"], kept: ["y", "z"], before: "w"
      ).starts == ["w", "y/a", "y/b", "x/a", "x/b"])
  }

  @Test func `begin before their turn if those under way wait for them`() {
    let run = Simulation(
      graph: "x/a; y/a; x/b: x/a y/a; x: x/a?done x/b?done; y: y/a?done; g: x?done y?done",
      decisions: [
        "x/a": "run", "x/b": "run", "y/a": "run", "x": "join", "y": "join", "g": "join",
      ], groups: ["x^": ["x/a", "x/b"], "y^": ["y/a"], "g": ["x", "y"]], widths: ["g": 1])
    #expect(run.starts == ["x/a", "y/a", "x/b"])
  }

  @Test func `of a matrix in an instance of another one wait for both`() {
    let ids = ["x/m", "x", "y/m", "y", "g"]
    let run = Simulation(
      graph: "x/m/a; x/m/b; x/m: x/m/a?done x/m/b?done; x: x/m?done; y/m/a; y/m/b; "
        + "y/m: y/m/a?done y/m/b?done; y: y/m?done; g: x?done y?done",
      decisions: ["x/m/a": "run", "x/m/b": "run", "y/m/a": "run", "y/m/b": "run"].merging(
        ids.map { ($0, "join") }
      ) { $1 },
      groups: [
        "x/m": ["x/m/a", "x/m/b"], "x^": ["x/m"], "y/m": ["y/m/a", "y/m/b"], "y^": ["y/m"],
        "g": ["x", "y"],
      ], widths: ["g": 1, "x/m": 1, "y/m": 1])
    #expect(run.starts == ["x/m/a", "x/m/b", "y/m/a", "y/m/b"])
  }

  @Test func `are limited also if they become known while the run goes on`() {
    let run = Simulation(
      graph: "g/a; g/b: g/a; g: g/a?done g/b?done", decisions: ["g": "expand g[x] g[y]"],
      groups: ["g*": ["g/a", "g/b"]], widths: ["g": 1])
    #expect(run.starts == ["g[x]/a", "g[x]/b", "g[y]/a", "g[y]/b"])
  }
}
