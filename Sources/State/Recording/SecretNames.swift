// Names that contain secrets. Only their numbers tell them apart in a record, and an edit of the file gives those to
// others.

import Masking
import Plans

extension EarlierRun {
  /// The run without the results of steps whose names do not tell which they were: the same masked name is recorded
  /// more than once, or is not exactly once in the plan.
  func withoutAmbiguousNames(in plan: Plan, _ masker: Masker?) -> EarlierRun {
    guard let masker else { return self }
    let masked = steps.keys.filter(InstanceName.isMasked)
    if masked.isEmpty { return self }
    let recorded = Dictionary(
      masked.map { (InstanceName.withoutNumber($0), 1) }, uniquingKeysWith: +)
    let planned = Dictionary(
      plan.steps.lazy.map { (masker.mask($0.id), 1) }.filter { recorded[$0.0] != nil },
      uniquingKeysWith: +)
    var run = self
    for name in masked {
      let shown = InstanceName.withoutNumber(name)
      if recorded[shown] != 1 || planned[shown] != 1 { run.steps[name] = nil }
    }
    return run
  }
}
