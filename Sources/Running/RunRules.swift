// How one run differs from another run of the same plan.

package import Plans

package struct RunRules: Sendable {
  /// True if a failure counts although it was allowed.
  package var isStrict = false
  /// True if every operation is asked about before it is ready.
  package var gatesAll = false
  /// True if a step with a cache is asked about again when it could start.
  package var asksAtStart = false
  /// Steps that are expected to be kept, so that they need not wait for instances of a matrix to end.
  package var idleSteps = IdleSteps()
  /// The number of commands that may run at the same time, whatever the queues allow.
  package var commandLimit = Int.max
  /// True if the mutexes of the machine are shared with other runs.
  package var sharesHostMutexes = false

  package init() {}
}
