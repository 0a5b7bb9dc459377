// Tells the changes that a run has made itself from those of somebody else, as far as that can be
// known: the kernel does not say who has written a file. docs/watch.md, "What a run changes
// itself".

import Caching

struct OwnChanges {
  /// The treatment of a change.
  enum Verdict: Hashable {
    case counts
    /// The run may have made the change, so it does not end the run.
    case countsLater
    /// The run has made the change.
    case isOwn
    /// The change waits until something else starts a run: runs that it started have made it again and again.
    case waits
  }

  /// A verdict, and whether it is reported because it is new.
  struct Judgment: Hashable {
    let verdict: Verdict
    var isNew = false
  }

  /// Files that runs change again and again.
  private var learned: Set<PathName> = []
  /// Files and directories that runs have made.
  private var created: Set<PathName> = []
  /// Paths that somebody has removed while no run was in progress: a run that sees one come back has not made it.
  private var vanished: Set<PathName> = []
  /// The paths that the run in progress has seen come back.
  private var returned: Set<PathName> = []
  private var seen: Set<PathName> = []
  /// The number of consecutive runs in which a file was changed.
  private var streaks: [PathName: Int] = [:]
  private var wholeRuns = 0
  /// The number of runs that followed each other without a pause and in which an input was changed.
  private var following: [PathName: Int] = [:]
  /// Inputs that were changed in too many of these.
  private var waiting: Set<PathName> = []

  /// The number of runs that followed each other soon and that each file has started.
  private var starts: [PathName: Int] = [:]
  /// The paths that were reported as changing in each run.
  private var restless: Set<PathName> = []

  /// The number of such runs from which a file is perhaps written all the time.
  static let mostStarts = 5

  /// The number of such runs from which an input counts as changed by the runs themselves.
  static let mostFollowing = 3

  mutating func runStarts() { seen = [] }

  /// `isWhole` is false if the run was cancelled, so that it may not have reached everything.
  mutating func runEnds(isWhole: Bool) {
    // A path that is made there from now on is not the removed one.
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

  /// Called when no run follows the last one at once, so that the next one will have another cause.
  mutating func pauses() { following = [:] }

  /// Notes that a run starts because of a file. `isSoon` is true if the file was changed during the
  /// run before, or shortly after it. Returns the file when it has started many runs soon after
  /// each other, alone or in turn with others, for the first time.
  mutating func startsRun(because path: String?, isSoon: Bool) -> String? {
    if !isSoon { starts = [:] }
    guard let path else { return nil }
    let name = PathName(path)
    starts[name, default: 0] += 1
    let isRestless = starts[name, default: 0] >= Self.mostStarts
    return isRestless && restless.insert(name).inserted ? path : nil
  }

  /// Notes a directory that a run has made.
  mutating func make(_ folder: String) {
    if !hasVanished(folder) { created.insert(PathName(folder)) }
  }

  /// Notes a change that was made while no run was in progress. A file that is edited then is not a
  /// run's alone; files that runs have made stay theirs if somebody clears them away.
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

  /// True if somebody has removed a file, or a directory that it is in.
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
    // A step may give its files other names each time.
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

/// The contents of files when they were last looked at.
struct KnownContents {
  private var known: [PathName: FileContent] = [:]

  /// The largest size that is compared: longer files count as changed whenever they are written.
  private static let longest = 64 << 20

  /// True if a file has the same content as the last time; false the first time.
  mutating func isAsBefore(_ path: String) -> Bool {
    let content = FileContent(of: path, longest: Self.longest)
    defer { known[PathName(path)] = content }
    return content.map { $0 == known[PathName(path)] } ?? false
  }
}
