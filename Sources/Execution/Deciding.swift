// What becomes of operations that are at their gate.

import Pipelines
import Scheduling

extension Plan {
  func decision(about operation: OperationID) -> Decision {
    let step = steps[operation.index]
    if groups[operation] != nil { return .join }
    if let reason = step.late?.skipReason { return .skip(reason) }
    return .run(step.settings)
  }
}
