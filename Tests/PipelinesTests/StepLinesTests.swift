// A file without the lines of some steps has the others, as they were and where they were.

import Diagnostics
import Plans
import Testing

@testable import Pipelines

struct StepLinesTests {
  private func stepLines(of file: [UInt8]) -> [Range<Int>]? {
    LoadedPipeline(path: "p.yml", bytes: file, files: .none).writtenSteps?.lines
  }

  /// What a step is and where it stands.
  private func described(_ text: [UInt8]) throws -> [String: String] {
    let plan = try makePlan(path: "p.yml", bytes: text, options: PlanningOptions())
    var found: [String: String] = [:]
    for step in plan.steps {
      let line = plan.sources.position(of: step.span).line
      // Empty lines at the end of a block count.
      guard case .known(.script(let script)) = step.work else { throw Unplanned() }
      found[step.id] = "line \(line): \(script.string) \(step.settings.environment)"
    }
    return found
  }

  private static let pipeline = """
    # A comment before.
    env: {A: b}
    steps:
      - {id: a, run: one}   # behind a
      # before b
      - run: |+
          two

            deeper

        id: b

      -   id: c
          run: >-
            three
             four
    # at the edge

          env:
            B: "c

              d"
      - id: d
        cache: {inputs: [x]}
        run: |+
          five

      - { id: e,
          run: "seven" }
      - id: f
        run: |2+
            eight


    max_parallel: 3
    """

  @Test func `a part of the steps is what it is among all`() throws {
    let text = Array(Self.pipeline.utf8)
    let lines = try #require(stepLines(of: text))
    #expect(lines.count == 6)
    let all = try described(text)
    for kept in 1..<(1 << lines.count) {
      let others = lines.indices.filter { kept >> $0 & 1 == 0 }
      let part = try described(leavingOut(others.map { lines[$0] }, of: text))
      #expect(part.count == kept.nonzeroBitCount)
      #expect(part.allSatisfy { all[$0.key] == $0.value }, "\(part)")
    }
  }

  @Test func `what is behind the last step stays`() throws {
    for end in ["", "\n", "\nname: n\n", "\n# end\nname: n", "\n\n  # end\nname: n"] {
      let text = Array("steps:\n- {id: a, run: x}\n- id: b\n  run: |\n    y\(end)".utf8)
      let lines = try #require(stepLines(of: text))
      let left = leavingOut([lines[1]], of: text)
      let plan = try makePlan(path: "p.yml", bytes: left, options: PlanningOptions())
      #expect(plan.steps.map(\.id) == ["a"])
      #expect(plan.name == (end.contains("name") ? "n" : "p.yml"))
    }
  }

  @Test(arguments: [
    // More than one step in a line, or something else.
    "steps: [{id: a, run: x}, {id: b, run: y}]",
    "steps: [\n {id: a, run: x},\n {id: b, run: y}]",
    "{steps: [{id: a, run: x}]}",
    // Values for several places.
    "steps:\n- {id: a, run: &x y}\n- {id: b, run: *x}",
    "vars: &v {}\nsteps:\n- {id: a, run: x}",
    // Line ends that are not certain.
    "steps:\r\n- {id: a, run: x}",
    "steps:\n- {id: a, run: \"\u{2028}\"}",
    "steps:\n- {id: a, run: ü}",
    // No pipelines.
    "", "steps", "steps:\n- {id: a", "- a\n- b\n---\n- c",
  ])
  func `lines that are not of one step alone are not known`(text: String) {
    #expect(stepLines(of: Array(text.utf8))?.isEmpty != false)
  }
}
