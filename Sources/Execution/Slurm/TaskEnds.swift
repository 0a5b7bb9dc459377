// Ends of tasks on their way into the journal.

import Scheduling

/// The numbers of the tasks that have ended and whose ends are not in the journal yet. A run that
/// resumes looks for a task without a noted end, so an end is noted after everything that follows
/// from it is recorded.
struct TaskEnds {
  /// The tasks of operations about which the run has not decided yet.
  private var undecided: [OperationID: [Int]] = [:]
  private var decided: [Int] = []

  var isEmpty: Bool { undecided.isEmpty && decided.isEmpty }

  mutating func add(_ number: Int, of operation: OperationID) {
    undecided[operation, default: []].append(number)
  }

  /// Adds tasks from which nothing follows.
  mutating func addDecided(_ numbers: [Int]) { decided += numbers }

  /// Notes that the run has decided what follows for the operation.
  mutating func decide(_ operation: OperationID) {
    if let numbers = undecided.removeValue(forKey: operation) { decided += numbers }
  }

  /// Takes the tasks whose ends may be noted, after the decisions are recorded.
  mutating func takeDecided() -> [Int] {
    defer { decided = [] }
    return decided
  }
}
