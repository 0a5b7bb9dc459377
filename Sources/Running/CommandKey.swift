// Identifies a command, in all communication between the machine and the executors.

package import Plans
package import Scheduling

/// Identifies one start of a command of a run; no two starts have the same key. At most one command
/// runs for an operation at a time. The run's own hooks have the operation −1.
package struct CommandKey: Hashable, Sendable {
  package let operation: OperationID
  package let role: CommandRole
  /// Counts the probes of one condition from 1; 0 for everything else.
  package let repetition: Int

  package init(operation: OperationID, role: CommandRole, repetition: Int = 0) {
    self.operation = operation
    self.role = role
    self.repetition = repetition
  }
}
