// Where who shows output finds the logs of the commands that run now: those that write them put
// them here.

package import Plans
package import Scheduling

/// The open logs, by command. A log is here from its first byte until the end of its command has been
/// told, so there are never more than commands that run at once.
package final class RunLogs {
  private struct Key: Hashable {
    let operation: OperationID
    let role: CommandRole
  }

  private var logs: [Key: LogFile] = [:]

  package func add(_ log: LogFile, of operation: OperationID, _ role: CommandRole) {
    logs[Key(operation: operation, role: role)] = log
  }

  package func remove(of operation: OperationID, _ role: CommandRole) {
    logs[Key(operation: operation, role: role)] = nil
  }

  /// Nil if the command has printed nothing yet, or has ended.
  package func log(of operation: OperationID, _ role: CommandRole) -> LogFile? {
    logs[Key(operation: operation, role: role)]
  }
}
