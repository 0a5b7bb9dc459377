// Long chains of services: each needs all before it, which must not cost as much as all of these lists.

import Pipelines
import Plans
import TestSupport
import Testing

struct ServiceChainTests {
  private func chain(_ count: Int) -> [UInt8] {
    let steps = (0..<count).map { index in
      "  - {id: s\(index), run: x, background: true"
        + (index == 0 ? "}\n" : ", depends_on: [s\(index - 1)]}\n")
    }
    return Array(
      ("steps:\n" + steps.joined() + "  - {id: last, run: x, depends_on: [s\(count - 1)]}\n").utf8)
  }

  @Test func `are planned and counted in a moment`() throws {
    var plan: Plan?
    let time = processorTime {
      if case .plan(let made) = planned(chain(12_000)) { plan = made }
    }
    var least = 0
    let count = processorTime { least = plan?.commandCounts.lowerBound ?? 0 }
    #expect(least == 12_002)
    #expect(time < 36 && count < 9, "planned in \(time) s, counted in \(count) s")
  }

  @Test func `count each service once, whichever ways lead to it`() throws {
    let text = """
      steps:
        - {id: base, run: x, background: true}
        - {id: left, run: x, background: true, depends_on: [base]}
        - {id: right, run: x, background: true, depends_on: [base]}
        - {id: both, run: x, depends_on: [left, right, base]}
        - {id: one, run: x, depends_on: [right]}
      """
    guard case .plan(let plan) = planned(Array(text.utf8)) else {
      Issue.record("not planned")
      return
    }
    #expect(plan.commandCounts.lowerBound == 5)
  }
}
