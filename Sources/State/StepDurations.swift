// How long steps took in earlier runs.

package import Scheduling

/// The durations of steps, by id. Of each, the last three times count, each twice as much as the one before it. It is as
/// small as the durations themselves: runs of many steps have it, and hardly use it.
package struct StepDurations {
  private var sums: [String: WeightedSum] = [:]

  /// How many steps are known.
  var count: Int { sums.count }

  package subscript(id: String) -> Nanoseconds? { sums[id]?.average }

  /// Makes room for as many steps.
  mutating func reserve(_ count: Int) { sums.reserveCapacity(count) }

  /// Adds how long a step took the time before those that were added; in microseconds.
  mutating func add(_ time: Int, of id: String) { sums[id, default: WeightedSum()].add(time) }
}

/// The sum of up to three durations, in one word.
private struct WeightedSum {
  /// The lowest three bits hold the sum of the weights, which are 4, 2 and 1; those above, that of the microseconds.
  private var word = 0
  private static let longest = 1 << 50

  mutating func add(_ time: Int) {
    let next = (8 - (word & 7)) / 2
    word += (min(time, Self.longest) * next) << 3 | next
  }

  var average: Nanoseconds { Nanoseconds(word >> 3) * 1000 / Nanoseconds(word & 7) }
}
