// Changes that were noted, until they are looked at together.

struct ChangeBatch {
  /// What is known of one path.
  struct Entry: Hashable {
    /// It was there before all this.
    let existed: Bool
    var isFolder: Bool
    /// All of it has happened while a run was in progress.
    var isOfRun: Bool
  }

  private(set) var entries: [String: Entry] = [:]

  mutating func note(_ changes: [NotedChange], isOfRun: Bool) {
    for change in changes {
      if var entry = entries[change.path] {
        entry.isOfRun = entry.isOfRun && isOfRun
        entry.isFolder = entry.isFolder || change.isFolder
        entries[change.path] = entry
      } else {
        entries[change.path] = Entry(
          existed: change.existed, isFolder: change.isFolder, isOfRun: isOfRun)
      }
    }
  }

  /// All of them, without files that have come and gone.
  mutating func take(exists: (String) -> Bool) -> [(path: String, entry: Entry)] {
    defer { entries = [:] }
    return entries.filter { $0.value.existed || exists($0.key) }.sorted { $0.key < $1.key }.map {
      ($0.key, $0.value)
    }
  }
}
