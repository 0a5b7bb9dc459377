// Ends of tasks on their way into the journal.

import Scheduling

/// The numbers of the tasks that have ended and whose ends are not in the journal yet: what is not there is found again by
/// who resumes the run, so an end is noted after everything that follows from it is recorded.
struct TaskEnds {
  /// The tasks of operations of which nothing is decided yet.
  private var undecided: [OperationID: [Int]] = [:]
  private var decided: [Int] = []

  var isEmpty: Bool { undecided.isEmpty && decided.isEmpty }

  mutating func add(_ number: Int, of operation: OperationID) {
    undecided[operation, default: []].append(number)
  }

  /// Adds tasks from which nothing follows.
  mutating func addDecided(_ numbers: [Int]) { decided += numbers }

  /// Notes that it is decided what becomes of the operation.
  mutating func decide(_ operation: OperationID) {
    if let numbers = undecided.removeValue(forKey: operation) { decided += numbers }
  }

  /// Takes the tasks whose ends may be noted, after what was decided is recorded.
  mutating func takeDecided() -> [Int] {
    defer { decided = [] }
    return decided
  }
}
