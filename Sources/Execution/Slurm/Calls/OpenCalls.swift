// The calls of Slurm's commands that are not answered yet.

import Running
import Scheduling

/// The purposes of the calls under way, by their numbers.
struct OpenCalls {
  enum Purpose {
    case submission(SlurmBatch)
    case look(since: Nanoseconds)
    case cancellation([CommandKey], unwanted: [String])
    case kill([CommandKey])
    case other
  }

  private var purposes: [Int: Purpose] = [:]
  private var nextNumber = 1

  var isEmpty: Bool { purposes.isEmpty }

  /// Returns the number of the call.
  mutating func add(_ purpose: Purpose) -> Int {
    defer { nextNumber += 1 }
    purposes[nextNumber] = purpose
    return nextNumber
  }

  mutating func remove(_ number: Int) -> Purpose? { purposes.removeValue(forKey: number) }

  var isSubmitting: Bool {
    purposes.values.contains { if case .submission = $0 { true } else { false } }
  }

  var isCancelling: Bool {
    purposes.values.contains { if case .cancellation = $0 { true } else { false } }
  }

  /// True if none of the calls changes anything.
  var areLooks: Bool {
    purposes.values.allSatisfy { if case .look = $0 { true } else { false } }
  }

  /// The jobs without a task whose end was asked for.
  var unwantedJobs: [String] {
    purposes.values.flatMap { purpose -> [String] in
      if case .cancellation(_, let jobs) = purpose { jobs } else { [] }
    }.sorted()
  }
}
