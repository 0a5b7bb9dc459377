// What became of the steps of a run in the runs that went on with it. docs/design-state.md, "Successors".

import Plans
import Scheduling

extension StateStore {
  /// Lets the newest end of each step in the runs that went on with this one count in place of what is recorded here.
  func addSuccessors(
    to earlier: inout EarlierRun, _ database: Database
  ) throws(DatabaseFailure) {
    for successor in try database.successors(of: earlier.number) {
      earlier.successors.append(successor)
      earlier.take(try steps(of: successor, in: Database.ownResults(ofRun: "?1"), database))
      earlier.lose(try begunInVain(in: successor, database))
      earlier.passOver(try steps(of: successor, in: Database.passedOver(inRun: "?1"), database))
    }
  }

  /// The steps that began in a run and have no end there that may be kept, and whether they failed.
  private func begunInVain(
    in run: Int, _ database: Database
  ) throws(DatabaseFailure) -> [String: Bool] {
    let rows = try database.prepare(
      """
      SELECT name, outcome FROM \(Database.begunInVain(inRun: "?1")) AS result
        JOIN step ON step.id = result.step
      """)
    rows.bind(1, run)
    var names: [String: Bool] = [:]
    while try rows.next() {
      guard let name = rows.text(0) else { continue }
      let outcome = try rows.number(1).flatMap(RecordedOutcome.init)
      names[name] = outcome?.ending.outcome.isFailure == true
    }
    return names
  }
}

extension EarlierRun {
  /// Takes what ran in a run that went on with this one, and can be kept.
  fileprivate mutating func take(_ newer: [String: EarlierStep]) {
    for (name, step) in newer {
      forget(name)
      steps[name] = step
      if !step.outcome.ending.outcome.isFailure { failed.remove(name) }
    }
  }

  /// Forgets what ran anew in a run that went on with this one, and did not succeed there.
  fileprivate mutating func lose(_ names: [String: Bool]) {
    for (name, isFailure) in names {
      forget(name)
      unfinished.insert(name)
      cutOff.insert(name)
      if isFailure { failed.insert(name) }
    }
  }

  /// Forgets everything of a step but whether it failed: something newer counts.
  private mutating func forget(_ name: String) {
    hasRunSince = true
    steps[name] = nil
    unfinished.remove(name)
    cutOff.remove(name)
    passedOver[name] = nil
  }

  /// Takes what was skipped or blocked in a run that went on with this one. The instances of a group that was have no end of
  /// their own there.
  fileprivate mutating func passOver(_ newer: [String: EarlierStep]) {
    if newer.isEmpty { return }
    for name in steps.keys where newer[name] == nil {
      guard let group = Self.groups(around: name).lazy.compactMap({ newer[$0] }).first else {
        continue
      }
      pass(over: name, at: group.settled)
      steps[name] = nil
    }
    for (name, step) in newer {
      pass(over: name, at: step.settled)
      steps[name] = step
      if step.wasSkipped { failed.remove(name) }
    }
  }

  /// What a step of this name is in, or is an instance of, if the values of a matrix hold no brackets and slashes.
  private static func groups(around name: String) -> [String] {
    name.utf8.indices.filter { [UInt8(ascii: "/"), UInt8(ascii: "[")].contains(name.utf8[$0]) }
      .map { String(name[..<$0]) }
  }

  private mutating func pass(over name: String, at moment: Moment) {
    guard unfinished.contains(name) || steps[name].map({ !$0.didNotRun }) == true else { return }
    forget(name)
    passedOver[name] = moment
  }
}
