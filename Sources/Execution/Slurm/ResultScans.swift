// Times at which the results of jobs are looked for.

import Scheduling

/// Decides when the folders of results are listed: soon after a change was noticed in one,
/// otherwise less and less often since the last result. It does not know their contents.
struct ResultScans {
  private static let shortestDelay: Nanoseconds = 200_000_000
  private static let longestDelay: Nanoseconds = 2_000_000_000

  private var delay = Self.shortestDelay
  private var lastBegin: Nanoseconds = 0
  /// True if a folder has changed since the last scan.
  private var hasChanges = false

  /// When the next scan is due, as long as a job can write a result.
  var due: Nanoseconds { lastBegin + (hasChanges ? Self.shortestDelay / 4 : delay) }

  mutating func noteChange() { hasChanges = true }

  /// Begins a scan; returns whether a change was noticed since the last one.
  mutating func begin(at now: Nanoseconds) -> Bool {
    defer { hasChanges = false }
    lastBegin = now
    return hasChanges
  }

  mutating func end(found count: Int) {
    delay = count > 0 ? Self.shortestDelay : min(delay * 3 / 2, Self.longestDelay)
  }
}
