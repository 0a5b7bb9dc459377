// When something ran, over several runs of which each resumes the one before.

/// A moment in one run of a chain of runs.
struct Moment: Comparable, Hashable {
  /// The number of the run.
  let run: Int
  /// The time since the start of the run, in microseconds.
  let time: Int

  init(_ run: Int, _ time: Int = 0) {
    self.run = run
    self.time = time
  }

  /// The moment before every run.
  static let first = Moment(0)
  /// After all runs.
  static let last = Moment(.max, .max)

  /// The end of its run.
  var endOfRun: Moment { Moment(run, .max) }

  static func < (left: Moment, right: Moment) -> Bool {
    (left.run, left.time) < (right.run, right.time)
  }
}
