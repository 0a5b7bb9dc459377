// What is still to be known of an operation whose dependencies are met, and of a service that is not ready.

package import Plans
package import Scheduling

/// The state of an operation at its gate. An operation that is not in the table of gates has not
/// reached its gate, or has passed it.
enum Gate {
  /// A question about the operation was asked; the answer may take several turns.
  case asked(Question)
  /// The operation waits for the conditions of `wait_for`, without a slot.
  case waiting(Probing)
  /// A service runs and is not ready: its conditions are checked.
  case starting(Probing)
  /// The operation ends after its members, or the copies that it stands for; this many of them have not ended.
  case gathering(unendedCount: Int)
  /// The operation is in a group whose instances are made now: they get copies of it.
  case unexpanded
  /// The operation is in an instance that begins when another one has ended.
  case held
  /// The operation could have started, and waits for another run that does the same.
  case deferred

  /// True if news about it will come, whatever happens to the other operations: the run is not at
  /// its end.
  var expectsNews: Bool {
    switch self {
    case .asked, .waiting, .starting, .deferred: true
    case .gathering, .unexpanded, .held: false
    }
  }

  /// True if the scheduler considers the operation past its gate, and may start or end it.
  var isOpen: Bool {
    switch self {
    case .starting: true
    case .asked, .waiting, .gathering, .unexpanded, .held, .deferred: false
    }
  }

  /// The conditions that the operation waits for; nil if there are none.
  var probing: Probing? {
    switch self {
    case .waiting(let probing), .starting(let probing): probing
    case .asked, .gathering, .unexpanded, .held, .deferred: nil
    }
  }

  /// True if the wait is expected, so that an event reports it only after some time.
  var isQuiet: Bool { if case .starting = self { true } else { false } }

  /// The same gate, with its conditions as the last probe has left them.
  func with(_ probing: Probing) -> Gate {
    if case .starting = self { .starting(probing) } else { .waiting(probing) }
  }
}

/// A question about an operation at its gate.
package enum Question: Hashable, Sendable {
  /// The dependencies of the operation have ended. Does it run, and what does it run?
  case entry
  /// The conditions that the operation waited for hold. What does it run?
  case conditionsHold
  /// The operation has its slot and claims. Must it still run?
  case start
  /// All members of the group have ended. What are the outputs of the group?
  case join
  /// All members of a group in the background are ready or have ended. What are its outputs?
  case ready
}

/// The answer to a question.
package enum Decision: Sendable {
  /// The operation is ready, and runs this step.
  case run(ReadyStep)
  /// The operation has failed before it could start; the string says why.
  case fail(String)
  /// The operation does not run; the string says why.
  case skip(String)
  /// The enclosing step does not run, and neither do its steps. Those in `held` keep what they did in an earlier run.
  case skipGroup(OperationID, String, held: Set<OperationID> = [])
  /// Instances take the place of the operation; there may be none.
  case expand([NewOperation])
  /// The operation does not run, because it did in an earlier run, and ended like this.
  case keep(Ending, Cause = .itself)
  /// All members of the group have ended.
  case join
  /// Another run does the same: the operation gives back its slot and claims until `startDeferred`.
  case later
  /// The operation waits for these conditions, one after the other; then `conditionsHold` is asked.
  /// The step is known as far as it can be before that.
  case wait([Probe], ReadyStep)

  /// True if the operation may run something itself.
  var mayRun: Bool {
    switch self {
    case .run, .wait: true
    case .expand, .fail, .skip, .skipGroup, .keep, .join, .later: false
    }
  }
}

/// An operation that is added during the run.
package struct NewOperation: Sendable {
  let step: PlannedStep
  let spec: OperationSpec
  /// True if a failure of the group is allowed; nil means as planned.
  let allowsFailure: Bool?

  package init(step: PlannedStep, spec: OperationSpec, allowsFailure: Bool? = nil) {
    self.allowsFailure = allowsFailure
    self.step = step
    self.spec = spec
  }
}
