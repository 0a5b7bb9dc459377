// Finds the file and the line of every step, in one pass over the file instead of one pass for
// each.

import Diagnostics
import Plans
import Scheduling

struct StepLines {
  private var lines: [Int32]
  /// The files of the steps, by their numbers among the files of the plan.
  private var files: [Int32]
  private let plan: Plan

  init(_ plan: Plan) {
    self.plan = plan
    lines = [Int32](repeating: 0, count: plan.steps.count)
    files = lines
    let order = plan.steps.indices.sorted { plan.steps[$0].span.start < plan.steps[$1].span.start }
    var rest = order[...]
    for (number, file) in plan.sources.files.enumerated() {
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
        files[step] = Int32(truncatingIfNeeded: number)
        rest.removeFirst()
      }
    }
  }

  /// `file:line` of an operation of the plan; empty without a file.
  func location(of operation: OperationID) -> String {
    let sources = plan.sources.files
    return sources.isEmpty
      ? "" : "\(sources[Int(files[operation.index])].path):\(lines[operation.index])"
  }

  /// Writes the fields of an operation that say where it is written.
  func writeFields(of operation: OperationID, to sink: ByteSink) {
    let file = Int(files[operation.index])
    if file > 0 {
      sink.write(field: "file")
      sink.write(json: plan.sources.files[file].path)
    }
    sink.write(field: "line")
    sink.write(decimal: Int(lines[operation.index]))
  }
}
