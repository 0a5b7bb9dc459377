// When a failed download is tried again. Pure: the caller brings chance and waits.

/// Growing delays with chance in them, so that many who failed together do not come back together.
struct RetryPolicy: Hashable, Sendable {
  /// Further attempts after the first.
  var limit = 3
  /// Before the second attempt, in nanoseconds; each further delay is twice the last.
  var delay: Int64 = 500_000_000

  static let longestDelay: Int64 = 30_000_000_000
  /// In seconds. Who is told to come back later than that gives up.
  static let longestWait = 300

  /// In nanoseconds; nil if there is no further attempt. `attempt` counts from 1; `chance` is from 0
  /// to 1 and decides over the second half of the delay.
  func delay(after failure: ItemFailure, attempt: Int, chance: Double) -> Int64? {
    guard failure.mayPass, attempt <= limit else { return nil }
    let doubled = min(delay, Self.longestDelay) << Int64(min(attempt - 1, 20))
    let full = min(doubled, Self.longestDelay)
    let drawn = full / 2 + Int64(Double(full / 2) * chance)
    return max(drawn, Int64(failure.retryAfter ?? 0) * 1_000_000_000)
  }
}
