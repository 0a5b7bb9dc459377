// How step output reaches the screen: one implementation for each way of showing it. None keeps
// output in memory, because the logs already have it.

import Scheduling

/// The values of `--output`.
package enum OutputMode: String, CaseIterable, Sendable {
  case grouped, prefixed, quiet
}

/// Receives the growth and the end of logs; writes what is shown of them.
protocol StepOutput {
  /// Called when the log can be read up to `byteCount`. `start` is when its operation first
  /// started.
  mutating func grew(_ stream: Stream, to byteCount: Int, start: Nanoseconds)
  /// Called when the log is complete, only for commands that printed something.
  mutating func ended(_ stream: Stream)
}

/// `quiet`: output stays in the logs.
struct UnseenOutput: StepOutput {
  func grew(_ stream: Stream, to byteCount: Int, start: Nanoseconds) {}
  func ended(_ stream: Stream) {}
}
