// What is still to be known of an operation whose dependencies are met, and of a service that is not ready.

package import Plans
package import Scheduling

/// The state of an operation at its gate. An operation that is not in the table of gates has not
/// reached its gate, or has passed it.
enum Gate {
  /// A question about it was asked; the answer may take several turns.
  case asked(Question)
  /// It waits for the conditions of `wait_for`, without a slot.
  case waiting(Probing)
  /// A service runs and is not ready: it is asked for its conditions.
  case starting(Probing)
  /// It is a group that was expanded during the run, or stands for its copies, and this many of its
  /// members have not ended.
  case gathering(unendedCount: Int)
  /// It is in a group whose instances are made now: they get copies of it.
  case unexpanded
  /// It is in an instance that begins when another one has ended.
  case held
  /// It could have started, and waits for another run that does the same.
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

  /// What it waits for; nil if it waits for nothing.
  var probing: Probing? {
    switch self {
    case .waiting(let probing), .starting(let probing): probing
    case .asked, .gathering, .unexpanded, .held, .deferred: nil
    }
  }

  /// Whether nobody is surprised that it waits, so that no event reports it.
  var isQuiet: Bool { if case .starting = self { true } else { false } }

  /// The same gate, with its conditions as the last probe has left them.
  func with(_ probing: Probing) -> Gate {
    if case .starting = self { .starting(probing) } else { .waiting(probing) }
  }
}

/// A question about an operation at its gate.
package enum Question: Hashable, Sendable {
  /// Its dependencies have ended. Does it run, and what does it run?
  case entry
  /// The conditions that it waited for hold. What does it run?
  case conditionsHold
  /// It has its slot and claims. Must it still run?
  case start
  /// All members of the group have ended. What are the outputs of the group?
  case join
  /// All members of a group in the background are ready or have ended. What are its outputs?
  case ready
}

/// The answer to a question.
package enum Decision: Sendable {
  /// It is ready, and runs this step.
  case run(ReadyStep)
  /// It has failed before it could start; the string says why.
  case fail(String)
  /// It does not run; the string says why.
  case skip(String)
  /// The enclosing step does not run, and so none of its steps does; `held` are those that keep what they did in an
  /// earlier run.
  case skipGroup(OperationID, String, held: Set<OperationID> = [])
  /// Instances take its place; there may be none.
  case expand([NewOperation])
  /// It does not run, because it did in an earlier run, and ended like this.
  case keep(Ending, Cause = .itself)
  /// All members of the group have ended.
  case join
  /// Another run does the same: it gives back its slot and claims until `startDeferred`.
  case later
  /// It waits for these conditions, one after the other, and runs this step; then the next question
  /// is asked.
  case wait([Probe], ReadyStep)

  /// Whether it may run something itself.
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
  /// If it is a group, a failure of it is allowed; nil means as planned.
  let allowsFailure: Bool?

  package init(step: PlannedStep, spec: OperationSpec, allowsFailure: Bool? = nil) {
    self.allowsFailure = allowsFailure
    self.step = step
    self.spec = spec
  }
}
