// What is wrong with the first step of a file when it is a group: there is no other step before it.

import Pipelines
import Testing

struct FirstStepTests {
  @Test(arguments: [
    "matrix: {x: [1, 2]}, run: 'echo ${{ params.t }} ${{ matrix.x }}'",
    "matrix: {x: []}, run: 'echo ${{ params.t }}'",
    "matrix: {x: \"${{ steps.b.outputs.l }}\"}, depends_on: [b], run: 'echo ${{ params.t }}'",
    "timeout: '${{ params.t }}', steps: [{id: s, run: echo}]",
  ])
  func `a wrong value in a group that comes first is reported`(step: String) {
    let text = """
      params: {t: "a b"}
      steps:
        - {id: a, \(step)}
        - {id: b, run: echo, outputs: {l: list}}
      """
    guard case .errors(let errors) = planned(Array(text.utf8)) else {
      Issue.record("it must be refused: \(step)")
      return
    }
    #expect(errors.contains("'a b'") && errors.hasSuffix("pipeline.yml: 1 error\n"))
  }

  @Test func `a name with many brackets is looked up in time`() {
    let steps = (0..<14).reduce("{id: z, run: echo}") { inner, _ in "{id: g, steps: [\(inner)]}" }
    let name = String(repeating: "g[x]/", count: 2000)
    for end in ["y", "z["] {
      let text = "on_complete: \"echo ${{ steps['\(name)\(end)'].outcome }}\"\nsteps: [\(steps)]\n"
      guard case .errors(let errors) = planned(Array(text.utf8)) else {
        Issue.record("there is no such step")
        return
      }
      #expect(errors.contains("unknown step 'g[x]/"))
    }
  }

  @Test func `a bracket that is not closed makes no instance`() {
    let text = "steps: [{id: a, run: \"echo ${{ steps['e['].outcome }}\"}, {id: e, run: echo}]"
    guard case .errors(let errors) = planned(Array(text.utf8)) else {
      Issue.record("there is no such step")
      return
    }
    #expect(errors.contains("unknown step 'e['"))
    #expect(!errors.contains("depends_on"))
  }
}
