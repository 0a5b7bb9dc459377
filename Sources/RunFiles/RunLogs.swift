// The logs of the commands that are running: the code that writes logs adds them here, and the code
// that shows output finds them.

package import Plans
package import Scheduling

/// The logs of running commands. A log is listed from its first byte until the end of its command
/// has been reported, so there are never more logs than commands that run at the same time.
package final class RunLogs {
  private struct Key: Hashable {
    let operation: OperationID
    let role: CommandRole
  }

  private enum Source {
    case open(LogFile)
    case closed(() -> LogFile?)
  }

  private var logs: [Key: Source] = [:]
  /// The logs that were opened because somebody asked for them, the newest last.
  private var opened: [(key: Key, log: LogFile)] = []
  /// The maximum number of open logs. Thousands of commands may run elsewhere: their logs must not
  /// use up the descriptors of oprun.
  private static let mostOpened = 8

  package init() {}

  package func add(_ log: LogFile, of operation: OperationID, _ role: CommandRole) {
    logs[Key(operation: operation, role: role)] = .open(log)
  }

  /// Adds the log of a command that runs elsewhere, which is opened when somebody asks for it.
  package func add(
    of operation: OperationID, _ role: CommandRole, opening: @escaping () -> LogFile?
  ) {
    remove(of: operation, role)
    logs[Key(operation: operation, role: role)] = .closed(opening)
  }

  package func remove(of operation: OperationID, _ role: CommandRole) {
    let key = Key(operation: operation, role: role)
    guard let source = logs.removeValue(forKey: key) else { return }
    if case .closed = source { opened.removeAll { $0.key == key } }
  }

  /// True if the command has a log: it is running and has printed something.
  package func contains(_ operation: OperationID, _ role: CommandRole) -> Bool {
    logs[Key(operation: operation, role: role)] != nil
  }

  /// The log of the command; nil if it has printed nothing yet, or has ended.
  package func log(of operation: OperationID, _ role: CommandRole) -> LogFile? {
    let key = Key(operation: operation, role: role)
    switch logs[key] {
    case nil: return nil
    case .open(let log): return log
    case .closed(let open):
      if let known = opened.first(where: { $0.key == key }) { return known.log }
      guard let log = open() else { return nil }
      if opened.count >= Self.mostOpened { opened.removeFirst() }
      opened.append((key, log))
      return log
    }
  }
}
