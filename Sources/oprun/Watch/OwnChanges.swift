// Tells what a run has changed itself from what somebody else has, as far as that can be known: the kernel does
// not say who has written a file. docs/watch.md, "What a run changes itself".

struct OwnChanges {
  /// What becomes of a change.
  enum Verdict: Hashable {
    case counts
    /// The run may have made it, so it does not end the run.
    case countsLater
    /// The run has made it.
    case isOwn
    /// The same, and that has just been found out.
    case isFoundOwn
  }

  /// Files that runs change again and again.
  private var learned: Set<String> = []
  /// Files that runs have made.
  private var created: Set<String> = []
  private var seen: Set<String> = []
  /// In how many runs on end a file was changed.
  private var streaks: [String: Int] = [:]
  private var wholeRuns = 0

  mutating func runStarts() { seen = [] }

  /// `isWhole` is false if the run was cancelled, so that it may not have come to everything.
  mutating func runEnds(isWhole: Bool) {
    if isWhole { streaks = streaks.filter { seen.contains($0.key) } }
    for path in seen { streaks[path, default: 0] += 1 }
    if isWhole { wholeRuns += 1 }
  }

  /// Judges a change of a file that no step declares, while a run is in progress. Hardly anybody changes
  /// files during the first run.
  mutating func judge(_ path: String, existed: Bool) -> Verdict {
    if !existed { created.insert(path) }
    if created.contains(path) || learned.contains(path) { return .isOwn }
    let longest = wholeRuns < 2 ? 1 : 2
    if streaks[path, default: 0] >= longest {
      learned.insert(path)
      return .isFoundOwn
    }
    seen.insert(path)
    return wholeRuns > 0 ? .counts : .countsLater
  }
}
