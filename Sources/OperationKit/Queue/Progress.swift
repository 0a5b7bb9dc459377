// How far a queue is.

import Synchronization

/// Counts units of work, under the names that Foundation uses.
public final class Progress: Sendable {
  private let total = Atomic<Int64>(0)
  private let completed = Atomic<Int64>(0)

  /// Makes a progress of so many units.
  public init(totalUnitCount: Int64 = 0) { total.store(totalUnitCount, ordering: .relaxed) }

  /// How much there is to do; while it is 0, the queue counts nothing.
  public var totalUnitCount: Int64 {
    get { total.load(ordering: .relaxed) }
    set { total.store(newValue, ordering: .relaxed) }
  }

  /// How much is done.
  public var completedUnitCount: Int64 {
    get { completed.load(ordering: .relaxed) }
    set { completed.store(newValue, ordering: .relaxed) }
  }

  /// From 0.0 to 1.0; 0.0 while nothing is known.
  public var fractionCompleted: Double {
    let total = totalUnitCount
    return total > 0 ? Double(completedUnitCount) / Double(total) : 0
  }

  /// Whether it is not known how much there is to do.
  public var isIndeterminate: Bool { totalUnitCount <= 0 }

  /// Whether all is done.
  public var isFinished: Bool { totalUnitCount > 0 && completedUnitCount >= totalUnitCount }

  func countOne() {
    if totalUnitCount > 0 { completed.add(1, ordering: .relaxed) }
  }
}
