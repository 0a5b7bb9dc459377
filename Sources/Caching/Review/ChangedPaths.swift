// Files that have changed, and which of them patterns find. Who found out that they have changed is no
// concern of it.

/// Absolute paths.
package struct ChangedPaths {
  /// Sorted bytewise, each once.
  package let files: [String]
  /// Directories of which it is not known what has changed in them.
  package let folders: [String]
  /// Most steps have patterns that others have, too.
  private let known = KnownSummaries()

  package init(_ files: some Sequence<String>, folders: [String] = []) {
    self.files = Set(files.map { PathName($0) }).map(\.text).sorted(by: Self.isBefore)
    self.folders = folders
  }

  package var isEmpty: Bool { files.isEmpty && folders.isEmpty }

  package var count: Int { files.count + folders.lazy.filter { !contains($0) }.count }

  /// One of them, and how many there are; nil if there is none.
  package var summary: Summary? {
    (files.first ?? folders.first).map { Summary(path: $0, count: count) }
  }

  /// Some files in a few words.
  package struct Summary: Hashable {
    package let path: String
    package let count: Int
  }

  /// The paths that a pattern finds and none of the others covers; nil if there are none. All patterns are absolute.
  /// Logarithmic, linear in the names of the pattern, and linear in those below the directory where the pattern's
  /// wildcards begin.
  func found(by pattern: FilePattern, except excluded: [FilePattern]) -> Summary? {
    if !excluded.isEmpty { return search(pattern, except: excluded) }
    if let known = known.summaries[pattern] { return known }
    let summary = search(pattern, except: [])
    known.summaries[pattern] = .some(summary)
    return summary
  }

  private func search(_ pattern: FilePattern, except excluded: [FilePattern]) -> Summary? {
    var first: String?
    var count = 0
    var taken: Set<PathName> = []
    func take(_ path: String) {
      if excluded.contains(where: { $0.covers(path) }) { return }
      // A link to a directory is among the files, too.
      if !folders.isEmpty, !taken.insert(PathName(path)).inserted { return }
      first = first ?? path
      count += 1
    }
    let fixed = pattern.fixedPath
    if contains(fixed) { take(fixed) }
    // A link that leads to it now leads elsewhere.
    var around = fixed[...]
    while let slash = around.utf8.lastIndex(of: UInt8(ascii: "/")), slash > around.startIndex {
      around = around[..<slash]
      if contains(String(around)) { take(String(around)) }
    }
    for path in below(fixed) where pattern.isPlain || pattern.finds(path) { take(path) }
    for folder in folders where pattern.reaches(into: folder) { take(folder) }
    return first.map { Summary(path: $0, count: count) }
  }

  package func contains(_ path: String) -> Bool {
    let index = firstIndex(notBefore: path)
    return index < files.count && files[index].hasSameBytes(as: path)
  }

  /// The paths in a directory and below it.
  package func below(_ folder: String) -> ArraySlice<String> {
    let prefix = folder == "/" ? folder : folder + "/"
    let first = firstIndex(notBefore: prefix)
    return files[first...].prefix { $0.utf8.starts(with: prefix.utf8) }
  }

  private func firstIndex(notBefore path: String) -> Int {
    var low = 0
    var high = files.count
    while low < high {
      let middle = (low + high) / 2
      if Self.isBefore(files[middle], path) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private static func isBefore(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }
}

/// The summaries that were made for patterns.
private final class KnownSummaries {
  var summaries: [FilePattern: ChangedPaths.Summary?] = [:]
}
