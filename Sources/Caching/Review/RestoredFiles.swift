// The files that restoring the results of steps would put back, for steps that read them afterwards. It does not know
// which files are there now.

import Diagnostics
import Glibc
import Plans

/// Files that would be restored, by their paths from where oprun was started.
struct RestoredFiles {
  private var entries: [PathName: FileEntry] = [:]
  /// The paths in each directory, at any depth; "" is the one that oprun was started in.
  private var below: [PathName: [PathName]] = [:]
  /// Directories from which restoring removes what does not belong there.
  private var cleared: Set<PathName> = []

  var isEmpty: Bool { entries.isEmpty }

  /// Linear in the files, times the depth of their directories.
  mutating func add(_ files: [FileEntry], in directory: String, outputs: [String]) {
    let named = Set(outputs.map { PathName(FilePattern($0).path) })
    for entry in files {
      let path = PathName(directory.isEmpty ? entry.path : joined(directory, entry.path))
      if entries.updateValue(entry, forKey: path) == nil {
        for folder in folders(around: path.text) { below[folder, default: []].append(path) }
      }
      if entry.kind == .directory, named.contains(PathName(entry.path)) { cleared.insert(path) }
    }
  }

  /// The files that were found for inputs, as they will be once everything is restored.
  func applied(
    to found: [FileEntry], in directory: String, inputs: [String]
  ) -> [FileEntry] {
    let prefix = directory.isEmpty ? "" : directory + "/"
    let patterns = inputs.filter { !$0.hasPrefix("!") }.map { FilePattern($0) }
    let excluded = inputs.filter { $0.hasPrefix("!") }.map { FilePattern(String($0.dropFirst())) }
    var found = found
    if !cleared.isEmpty { found.removeAll { isCleared(prefix + $0.path) } }
    let links = targets(of: found)
    var replaced: Set<PathName> = []
    var added: [FileEntry] = []
    for path in candidates(for: patterns, in: directory) {
      guard let entry = entries[path] else { continue }
      let own = String(Substring(path.text.utf8.dropFirst(prefix.utf8.count)))
      // A pattern with wildcards finds no directories.
      guard
        patterns.contains(where: { $0.finds(own) && ($0.isPlain || entry.kind != .directory) }),
        !excluded.contains(where: { $0.covers(own) })
      else { continue }
      let behind = restoredBehind(entry, path)
      // The link is there, and leads to what is there.
      if links[PathName(own)] == entry.target, behind == nil { continue }
      replaced.insert(PathName(own))
      added.append(entry.moved(to: own))
      if var behind = behind?.moved(to: own) {
        behind.isBehindLink = true
        added.append(behind)
      }
    }
    found.removeAll { !$0.isOnlyListed && replaced.contains(PathName($0.path)) }
    return (found + added).sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
  }

  /// The first restored link among a path and the directories that it is in.
  func link(onTheWayTo path: String) -> String? {
    let places = folders(around: path).reversed() + [PathName(path)]
    return places.first { entries[$0]?.kind == .link }?.text
  }

  /// Whether something would be put back at a path or below it, or be removed with what is there.
  func changes(_ path: String) -> Bool {
    entries[PathName(path)] != nil || below[PathName(path)] != nil
      || folders(around: path).contains { cleared.contains($0) }
  }

  /// The paths that a pattern may find.
  private func candidates(for patterns: [FilePattern], in directory: String) -> Set<PathName> {
    var found: Set<PathName> = []
    for pattern in patterns where !pattern.isAbsolute {
      let fixed = pattern.fixedPath
      let place = PathName(
        fixed == "." ? directory : directory.isEmpty ? fixed : joined(directory, fixed))
      if entries[place] != nil { found.insert(place) }
      found.formUnion(below[place] ?? [])
    }
    return found
  }

  private func targets(of entries: [FileEntry]) -> [PathName: String] {
    var targets: [PathName: String] = [:]
    for entry in entries where entry.kind == .link { targets[PathName(entry.path)] = entry.target }
    return targets
  }

  private func isCleared(_ path: String) -> Bool {
    entries[PathName(path)] == nil && folders(around: path).contains { cleared.contains($0) }
  }

  /// The directories that a path is in, from the inside out, with "" as the last.
  private func folders(around path: String) -> [PathName] {
    var folders: [PathName] = []
    var rest = path[...]
    while let slash = rest.utf8.lastIndex(of: UInt8(ascii: "/")) {
      rest = rest[..<slash]
      folders.append(PathName(rest))
    }
    return folders.last?.text == "" ? folders : folders + [PathName("")]
  }

  /// The file that a restored link leads to, if that is restored, too, in the same directory or below it; or that there
  /// is none.
  private func restoredBehind(_ entry: FileEntry, _ path: PathName) -> FileEntry? {
    guard entry.kind == .link else { return nil }
    let start = path.text.lastIndex(of: "/").map { path.text[...$0] } ?? ""
    let target = entry.target.hasPrefix("/") ? entry.target : start + entry.target
    if let known = entries[PathName(target)] { return known.kind == .file ? known : nil }
    return access(target, F_OK) == 0 ? nil : FileEntry(entry.path, .absent)
  }
}
