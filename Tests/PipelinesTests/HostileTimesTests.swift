// Files made to cost more than they are long: each is refused in a moment. The limits of processor
// time are those of a slow machine, and a debug build.

import Diagnostics
import Pipelines
import Plans
import TestSupport
import Testing

struct HostileTimesTests {
  private func measure(_ text: String, _ count: Int, in limit: Double) {
    var found = 0
    let time = processorTime { found = messages(text).count }
    #expect(found == count)
    #expect(time < limit, "\(time) s")
  }

  @Test(arguments: ["", "}}"])
  func `openings of expressions that are never closed`(end: String) {
    let text = String(repeating: "${{ x ", count: 30_000)
    measure("steps:\n  - id: a\n    run: '\(text)\(end)'\n", 1000, in: 30)
  }

  @Test func `unknown long names among many`() {
    func name(_ letter: Character, _ number: Int) -> String {
      String(repeating: letter, count: 124) + String(10_000 + number).dropFirst()
    }
    let params = (0..<400).map { "  \(name("a", $0)): x\n" }.joined()
    let steps = (0..<1000).map { "  - {id: s\($0), run: '${{ params.\(name("b", $0)) }}'}\n" }
    measure("params:\n\(params)steps:\n\(steps.joined())", 1000, in: 60)
  }

  @Test func `keys without values in a map of names`() {
    let keys = (0..<30_000).map { ", B\($0)" }.joined()
    measure("env: {A: x\(keys)}\nsteps: [{id: a, run: x}]\n", 1000, in: 30)
  }

  @Test func `many instances with the same mistakes`() {
    let axis = (0..<64).map(String.init).joined(separator: ", ")
    let variables = (0..<300).map { "V\($0): \"${{ fromJSON(params.a) }}\"" }.joined(
      separator: ", ")
    measure(
      """
      params: {a: x}
      steps:
        - {id: a, run: x, matrix: {x: [\(axis)], y: [\(axis)]}, env: {\(variables)}}
      """, 300, in: 60)
  }
}
