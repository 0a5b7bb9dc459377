// Tells what a run has changed itself from what somebody else has, as far as that can be known: the kernel does
// not say who has written a file. docs/watch.md, "What a run changes itself".

import Caching

struct OwnChanges {
  /// What becomes of a change.
  enum Verdict: Hashable {
    case counts
    /// The run may have made it, so it does not end the run.
    case countsLater
    /// The run has made it.
    case isOwn
    /// It waits until something else starts a run: runs that it started have made it again and again.
    case waits
  }

  /// A verdict, and whether it is said: when it has just been found out.
  struct Judgment: Hashable {
    let verdict: Verdict
    var isNew = false
  }

  /// Files that runs change again and again.
  private var learned: Set<PathName> = []
  /// Files and directories that runs have made.
  private var created: Set<PathName> = []
  /// What somebody has removed while no run was in progress: a run that sees it come back has not made it.
  private var vanished: Set<PathName> = []
  /// The paths that the run in progress has seen come back.
  private var returned: Set<PathName> = []
  private var seen: Set<PathName> = []
  /// The number of runs on end in which a file was changed.
  private var streaks: [PathName: Int] = [:]
  private var wholeRuns = 0
  /// The number of runs, of those that followed each other without a pause, in which an input was changed.
  private var following: [PathName: Int] = [:]
  /// Inputs that were changed in too many of them.
  private var waiting: Set<PathName> = []

  /// How many runs each file has started, of those that followed each other soon.
  private var starts: [PathName: Int] = [:]
  /// The paths that were reported as changing in each run.
  private var restless: Set<PathName> = []

  /// A file that has started so many of them is perhaps written all the time.
  static let mostStarts = 5

  /// An input that was changed in so many of them is taken for what they change themselves.
  static let mostFollowing = 3

  mutating func runStarts() { seen = [] }

  /// `isWhole` is false if the run was cancelled, so that it may not have come to everything.
  mutating func runEnds(isWhole: Bool) {
    // What is made there from now on is not what was removed.
    vanished.subtract(returned)
    returned = []
    if isWhole {
      streaks = streaks.filter { seen.contains($0.key) }
      waiting = waiting.filter(seen.contains)
      wholeRuns += 1
    }
    for path in seen {
      streaks[path, default: 0] += 1
      following[path, default: 0] += 1
    }
  }

  /// No run follows the last one at once, so the next one will have another cause.
  mutating func pauses() { following = [:] }

  /// A run starts because of a file. `isSoon` says that it was changed during the run before, or shortly after it. Returns
  /// the file when it has started many runs soon after each other, alone or in turn with others, for the first time.
  mutating func startsRun(because path: String?, isSoon: Bool) -> String? {
    if !isSoon { starts = [:] }
    guard let path else { return nil }
    let name = PathName(path)
    starts[name, default: 0] += 1
    let isRestless = starts[name, default: 0] >= Self.mostStarts
    return isRestless && restless.insert(name).inserted ? path : nil
  }

  /// A run has made a directory.
  mutating func make(_ folder: String) {
    if !hasVanished(folder) { created.insert(PathName(folder)) }
  }

  /// Notes a change that was made while no run was in progress. What is edited then is not a run's alone; what runs have made
  /// stays theirs if somebody clears it away.
  mutating func noteForeign(_ path: String, isThere: Bool) {
    let name = PathName(path)
    if isThere {
      created.remove(name)
      vanished.remove(name)
    } else if !isOfRuns(name), !created.contains(where: { $0.text.isBelow(path) }),
      !learned.contains(where: { $0.text.isBelow(path) }),
      !streaks.contains(where: { $0.key.text.isBelow(path) })
    {
      vanished.insert(name)
    }
  }

  private func isOfRuns(_ path: PathName) -> Bool {
    created.contains(path) || learned.contains(path) || streaks[path, default: 0] > 0
  }

  /// Whether somebody has removed a file, or a directory that it is in.
  private mutating func hasVanished(_ path: String) -> Bool {
    if vanished.isEmpty { return false }
    var path = path
    while !path.isEmpty {
      let name = PathName(path)
      if vanished.contains(name) {
        returned.insert(name)
        return true
      }
      path = folder(around: path)
    }
    return false
  }

  /// Judges a change of a file that no step declares, while a run is in progress. Hardly anybody changes
  /// files during the first run.
  mutating func judge(_ path: String, existed: Bool) -> Judgment {
    let hasReturned = hasVanished(path)
    let existed = existed || hasReturned
    let path = PathName(path)
    if !existed { created.insert(path) }
    if created.contains(path) || learned.contains(path) { return Judgment(verdict: .isOwn) }
    let longest = wholeRuns < 2 ? 1 : 2
    if streaks[path, default: 0] >= longest {
      learned.insert(path)
      return Judgment(verdict: .isOwn, isNew: true)
    }
    seen.insert(path)
    return Judgment(verdict: wholeRuns > 0 ? .counts : .countsLater)
  }

  /// Judges a change of a file that a step declares as an input, while a run is in progress. It may be somebody's, so
  /// it is never forgotten.
  mutating func judgeInput(_ path: String, existed: Bool) -> Judgment {
    // A step may give the files that it makes other names each time.
    let path = PathName(existed ? path : folder(around: path) + "/")
    seen.insert(path)
    if waiting.contains(path) { return Judgment(verdict: .waits) }
    let count = following[path, default: 0]
    if count >= Self.mostFollowing {
      waiting.insert(path)
      return Judgment(verdict: .waits, isNew: true)
    }
    return Judgment(verdict: count + 1 < Self.mostFollowing ? .counts : .countsLater)
  }

  private func folder(around path: String) -> String {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? ""
  }
}

/// What files held when they were last looked at.
struct KnownContents {
  private var known: [PathName: FileContent] = [:]

  /// Longer files count as changed whenever they are written.
  private static let longest = 64 << 20

  /// Whether a file is what it was the last time. The first time it is not.
  mutating func isAsBefore(_ path: String) -> Bool {
    let content = FileContent(of: path, longest: Self.longest)
    defer { known[PathName(path)] = content }
    return content.map { $0 == known[PathName(path)] } ?? false
  }
}
