// Which command is meant, in everything that is said between the machine and those that run commands.

package import Plans
package import Scheduling

/// One start of a command of a run; no two starts have the same. At most one command runs for an
/// operation at a time. The run's own hooks have the operation −1.
package struct CommandKey: Hashable, Sendable {
  package let operation: OperationID
  package let trial: Trial
  /// Counts the looks at one condition from 1; 0 for everything else.
  package let look: Int

  package init(operation: OperationID, trial: Trial, look: Int = 0) {
    self.operation = operation
    self.trial = trial
    self.look = look
  }

  package static let runOperation = OperationID(-1)
}
