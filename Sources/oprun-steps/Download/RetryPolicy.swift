// Decides when a failed download is retried. Pure: the caller provides the random number and waits.

/// Growing delays with a random part, so that many downloads that failed together do not retry
/// together.
struct RetryPolicy: Hashable, Sendable {
  /// The number of further attempts after the first.
  var limit = 3
  /// The delay before the second attempt, in nanoseconds; each further delay is twice the previous
  /// one.
  var delay: Int64 = 500_000_000

  static let longestDelay: Int64 = 30_000_000_000
  /// The longest wait in seconds. If a server asks for more, the download gives up.
  static let longestWait = 300

  /// The delay in nanoseconds; nil if there is no further attempt. `attempt` counts from 1;
  /// `chance` is between 0 and 1 and determines the second half of the delay.
  func delay(after failure: ItemFailure, attempt: Int, chance: Double) -> Int64? {
    guard failure.mayPass, attempt <= limit else { return nil }
    let doubled = min(delay, Self.longestDelay) << Int64(min(attempt - 1, 20))
    let full = min(doubled, Self.longestDelay)
    let drawn = full / 2 + Int64(Double(full / 2) * chance)
    return max(drawn, Int64(failure.retryAfter ?? 0) * 1_000_000_000)
  }
}
