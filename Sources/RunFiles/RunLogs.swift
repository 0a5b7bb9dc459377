// The logs of the commands that are running: the code that writes them puts them here, and the code
// that shows output finds them.

package import Plans
package import Scheduling

/// The open logs, by command. A log is here from its first byte until the end of its command has
/// been reported, so there are never more logs than commands that run at the same time.
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
