// Which command is meant, in everything that is said between the machine and those that run commands.

package import Scheduling

/// A command of a run: at most one runs for an operation at a time. The run's own hooks have the
/// operation −1.
package struct CommandKey: Hashable, Sendable {
  package let operation: OperationID
  package let trial: Trial

  package init(operation: OperationID, trial: Trial) {
    self.operation = operation
    self.trial = trial
  }

  package static let runOperation = OperationID(-1)
}
