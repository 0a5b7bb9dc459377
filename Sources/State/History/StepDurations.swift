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

extension StateStore {
  /// How long the steps of a pipeline file took the last three times that they succeeded. Runs in which everything was up
  /// to date say nothing about it. `stepCount` is the number of steps that are asked about. Of those in `expanded`, whose
  /// instances became known in each run, it is the time that the instances took together.
  package func durations(
    of place: PipelinePlace, stepCount: Int, expanded: Set<String> = []
  ) throws(StoreFailure) -> StepDurations {
    try perform { database throws(DatabaseFailure) in
      let runs = try database.prepare(
        """
        SELECT id, (SELECT count(*) FROM result WHERE run = id) FROM run WHERE \(try database.runsOfPlace())
          AND (log_bytes IS NOT NULL OR exit_status IS NULL) ORDER BY id DESC LIMIT \(Self.mostRuns)
        """)
      let results = try database.prepare(
        """
        SELECT step.name, duration, started, \(RecordedOutcome.isPlainSuccess) FROM result JOIN step ON step.id = step
          WHERE run = ? \(expanded.isEmpty ? "AND \(RecordedOutcome.isPlainSuccess)" : "") AND origin IS NULL
            AND started IS NOT NULL AND duration IS NOT NULL
        """)
      runs.bind(place)
      var durations = StepDurations()
      var (runCount, olderResults) = (0, 0)
      while try runs.next() {
        let count = try runs.number(1) ?? 0
        if runCount == 0 { durations.reserve(count) }
        // Only a few steps may have run in the last ones. Those before are looked at for the others, if it is cheap.
        if runCount >= 3 {
          olderResults += count
          if durations.count >= stepCount || olderResults > Self.mostOlderResults { break }
        }
        runCount += 1
        results.bind(1, try runs.number(0))
        var spans: [String: InstanceSpan] = [:]
        while try results.next() {
          guard let name = results.text(0), let time = try results.number(1),
            let start = try results.number(2)
          else { continue }
          let isSuccess = try results.number(3) == 1
          if isSuccess { durations.add(time, of: name) }
          guard !expanded.isEmpty,
            let origin = InstanceName(name).origins.first(where: expanded.contains)
          else { continue }
          spans[origin, default: InstanceSpan()].add(start: start, time, isSuccess: isSuccess)
        }
        for (step, span) in spans { if let time = span.time { durations.add(time, of: step) } }
      }
      return durations
    }
  }

  /// How many runs are looked at, and how many results of those before the last three.
  private static let (mostRuns, mostOlderResults) = (30, 5000)
}

/// The time from the start of the first instance of a step to the end of the last one.
private struct InstanceSpan {
  private var start = Int.max
  private var end = 0
  private var haveSucceeded = true

  mutating func add(start: Int, _ time: Int, isSuccess: Bool) {
    self.start = min(self.start, start)
    end = max(end, start + time)
    haveSucceeded = haveSucceeded && isSuccess
  }

  /// Nil if one of them did not succeed.
  var time: Int? { haveSucceeded ? end - start : nil }
}
