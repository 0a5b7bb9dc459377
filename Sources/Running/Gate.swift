// Where an operation stands between its met dependencies and readiness.

package import Plans
package import Scheduling

/// The state of an operation at its gate. An operation that is not in the table of gates has not
/// reached its gate, or has passed it.
enum Gate {
  /// A question about it was asked; the answer may take turns.
  case asked(Question)
  /// It waits for the conditions of `wait_for`, without a slot.
  case waiting(Probing)
  /// A service runs and is not ready: it is asked for its conditions.
  case starting(Probing)
  /// A group that was expanded while running: so many of its members have not ended.
  case gathering(unendedCount: Int)
  /// It timed out waiting, and waits for a slot for its hooks; in words, what it waited for.
  case expired(String)

  /// News about it are to come, whatever becomes of the other operations: the run is not at its end.
  var expectsNews: Bool {
    switch self {
    case .asked, .waiting, .starting: true
    case .gathering, .expired: false
    }
  }

  /// The operation is past its gate for the scheduler, which may start or end it.
  var isOpen: Bool {
    switch self {
    case .expired, .starting: true
    case .asked, .waiting, .gathering: false
    }
  }

  /// What it waits for; nil if it does not.
  var probing: Probing? {
    switch self {
    case .waiting(let probing), .starting(let probing): probing
    case .asked, .gathering, .expired: nil
    }
  }

  /// That it waits is what everybody expects.
  var isQuiet: Bool { if case .starting = self { true } else { false } }

  /// The same, with what the last look has changed.
  func with(_ probing: Probing) -> Gate {
    if case .starting = self { .starting(probing) } else { .waiting(probing) }
  }
}

/// What is asked about an operation at its gate.
package enum Question: Hashable, Sendable {
  /// Its dependencies have ended: whether it runs, and as what.
  case entry
  /// The conditions that it waited for hold: as what it runs.
  case conditionsHold
  /// All members of the group have ended: what the group gives to others.
  case join
}

/// The answer to a question.
package enum Decision: Sendable {
  /// It is ready, as this step.
  case run(ReadyStep)
  /// It has failed before it could start; in words, why.
  case fail(String)
  /// It does not run; in words, why.
  case skip(String)
  /// The step that it is in does not run: none of its steps does.
  case skipGroup(OperationID, String)
  /// Instances take its place; none is possible.
  case expand([NewOperation])
  /// All members of the group have ended.
  case join
  /// It waits for these, one after the other, as this step; then it is asked about again.
  case wait([Probe], ReadyStep)
}

/// An operation that is added while running.
package struct NewOperation: Sendable {
  let step: PlannedStep
  let spec: OperationSpec

  package init(step: PlannedStep, spec: OperationSpec) {
    self.step = step
    self.spec = spec
  }
}
