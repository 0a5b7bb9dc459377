// How step output reaches the screen: one implementation for each way of showing it. None keeps
// output in memory, because the logs already have it.

import Scheduling

/// Receives the growth and the end of logs; writes the part of them that is shown.
protocol StepOutput {
  /// The log can be read up to `byteCount`. `start` is when its operation first started.
  mutating func grew(
    _ stream: Stream, to byteCount: Int, start: Nanoseconds, at now: Nanoseconds)
  /// The log is complete. Called only for commands that printed something.
  mutating func ended(_ stream: Stream, isFailure: Bool)
  /// Leaves the command to be shown by somebody else from now on, while the output of others waits
  /// until `resume`. Returns the position up to which it was shown.
  mutating func suspend(for stream: Stream) -> Int
  mutating func resume()
  /// Notes how much time has passed.
  mutating func advance(to now: Nanoseconds)
  /// Shows everything that was not shown yet: nothing more will come.
  mutating func finish()
  /// When `advance` changes something; nil if only news can.
  var deadline: Nanoseconds? { get }
}

extension StepOutput {
  func resume() {}
  func advance(to now: Nanoseconds) {}
  func finish() {}
  var deadline: Nanoseconds? { nil }
}

/// Shows nothing, for `quiet` and `json`: output stays in the logs.
struct UnseenOutput: StepOutput {
  func grew(_ stream: Stream, to byteCount: Int, start: Nanoseconds, at now: Nanoseconds) {}
  func ended(_ stream: Stream, isFailure: Bool) {}
  func suspend(for stream: Stream) -> Int { 0 }
}
