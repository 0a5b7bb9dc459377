// Checks the declared files of a finished plan.

import Diagnostics
import Plans
import Scheduling

extension PlanBuilder {
  /// Reports cached steps whose declared files collide. Does nothing for plans without cached steps.
  func checkDeclarations(of plan: Plan) {
    guard log.isEmpty, gated.contains(where: { plan.steps[$0.index].settings.cache != nil }) else {
      return
    }
    DeclarationCheck(planner, numbers, plan).report(to: &log)
  }
}
