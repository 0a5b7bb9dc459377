// How step output reaches the screen: one implementation for each way of showing it. None keeps
// output in memory, because the logs already have it.

import Scheduling

/// Receives the growth and the end of logs; writes what is shown of them.
protocol StepOutput {
  /// The log can be read up to `byteCount`. `start` is when its operation first started.
  mutating func grew(
    _ stream: Stream, to byteCount: Int, start: Nanoseconds, at now: Nanoseconds)
  /// The log is complete. Told only of commands that printed something.
  mutating func ended(_ stream: Stream, isFailure: Bool)
  /// The command is shown by somebody else from now on, and what others print waits until `resume`.
  /// Answers how far it was shown.
  mutating func suspend(for stream: Stream) -> Int
  mutating func resume()
  /// Notes how much time has passed.
  mutating func advance(to now: Nanoseconds)
  /// Nothing more will come: what was not shown yet is shown now.
  mutating func finish()
  /// When `advance` changes something; nil if only news do.
  var deadline: Nanoseconds? { get }
}

extension StepOutput {
  func resume() {}
  func advance(to now: Nanoseconds) {}
  func finish() {}
  var deadline: Nanoseconds? { nil }
}

/// `quiet` and `json`: output stays in the logs.
struct UnseenOutput: StepOutput {
  func grew(_ stream: Stream, to byteCount: Int, start: Nanoseconds, at now: Nanoseconds) {}
  func ended(_ stream: Stream, isFailure: Bool) {}
  func suspend(for stream: Stream) -> Int { 0 }
}
