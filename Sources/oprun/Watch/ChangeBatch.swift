// Noted changes, until they are looked at together.

import Caching

struct ChangeBatch {
  /// The changes of one path.
  struct Entry: Hashable {
    /// True if the path existed before all of the changes.
    let existed: Bool
    var kind: NotedChange.Kind
    /// True if all changes have happened while a run was in progress.
    var isOfRun: Bool
    /// True if all changes have happened in a place to which only a link leads.
    var isBehindLink = false
    /// True if a directory, or a link to one, became a file, or the other way round.
    var isAlsoFile = false
  }

  private(set) var entries: [PathName: Entry] = [:]

  mutating func note(_ changes: [NotedChange], isOfRun: Bool) {
    for change in changes {
      let path = PathName(change.path)
      if var entry = entries[path] {
        entry.isOfRun = entry.isOfRun && isOfRun
        entry.isBehindLink = entry.isBehindLink && change.isBehindLink
        if (entry.kind == .file) != (change.kind == .file) { entry.isAlsoFile = true }
        if entry.kind != .folder { entry.kind = change.kind }
        entries[path] = entry
      } else {
        entries[path] = Entry(
          existed: change.existed, kind: change.kind, isOfRun: isOfRun,
          isBehindLink: change.isBehindLink)
      }
    }
  }

  /// Takes all entries, without files and directories that have come and gone.
  mutating func take(exists: (String) -> Bool) -> [(path: String, entry: Entry)] {
    defer { entries = [:] }
    return entries.filter { $0.value.existed || exists($0.key.text) }
      .sorted { $0.key.text.precedesByBytes($1.key.text) }.map { ($0.key.text, $0.value) }
  }
}
