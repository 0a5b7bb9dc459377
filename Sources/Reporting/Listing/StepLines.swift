// The line of every step, in one pass over the file instead of one pass for each.

import Diagnostics
import Pipelines
import Scheduling

struct StepLines {
  private var lines: [Int32]

  init(_ plan: Plan) {
    lines = [Int32](repeating: 0, count: plan.steps.count)
    let order = plan.steps.indices.sorted { plan.steps[$0].span.start < plan.steps[$1].span.start }
    var rest = order[...]
    for file in plan.sources.files {
      var line: Int32 = 1
      var offset = file.start
      while let step = rest.first, Int(plan.steps[step].span.start) <= file.range.upperBound {
        let target = Int(plan.steps[step].span.start)
        for byte in file.bytes[(offset - file.start)..<(target - file.start)]
        where byte == UInt8(ascii: "\n") {
          line += 1
        }
        offset = target
        lines[step] = line
        rest.removeFirst()
      }
    }
  }

  subscript(operation: OperationID) -> Int { Int(lines[operation.index]) }
}
