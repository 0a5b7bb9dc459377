// Many absolute patterns by the directories that they are about, so that asking all of them costs no more than asking
// those that may answer.

struct PatternIndex {
  /// The patterns that are paths.
  private var plain: Set<PathName> = []
  /// The patterns with wildcards, by the directory that their matches are below.
  private var wild: [PathName: [FilePattern]] = [:]
  /// The directories that lead to those that are paths, and to the directories of the others.
  private var waysToPlain: Set<PathName> = []
  private var waysToWild: Set<PathName> = []

  init(_ patterns: [FilePattern]) {
    for pattern in Set(patterns) {
      let path = pattern.fixedPath
      if pattern.isPlain {
        plain.insert(PathName(path))
        Self.addWays(to: path, &waysToPlain)
      } else {
        wild[PathName(path), default: []].append(pattern)
        Self.addWays(to: path, &waysToWild)
      }
    }
  }

  private static func addWays(to path: String, _ ways: inout Set<PathName>) {
    for folder in FoldersAround(path).dropFirst()
    where !ways.insert(PathName(folder)).inserted { return }
  }

  func covers(_ path: String) -> Bool {
    coversPlainly(path)
      || !wild.isEmpty
        && FoldersAround(path).contains { folder in
          wild[PathName(folder)]?.contains { $0.covers(path) } == true
        }
  }

  func coversPlainly(_ path: String) -> Bool {
    !plain.isEmpty && FoldersAround(path).contains { plain.contains(PathName($0)) }
  }

  /// Whether a path is on the way to what one may find: if it is a link, it decides where that is.
  func leads(through path: String) -> Bool {
    let path = PathName(path)
    return waysToPlain.contains(path) || waysToWild.contains(path) || wild[path] != nil
  }

  /// Whether one may find something in a directory, or in one that is in it.
  func reaches(into folder: String, onlyPlainly: Bool) -> Bool {
    if waysToPlain.contains(PathName(folder)) || coversPlainly(folder) { return true }
    if onlyPlainly || wild.isEmpty { return false }
    return waysToWild.contains(PathName(folder))
      || FoldersAround(folder).contains { around in
        wild[PathName(around)]?.contains { $0.reaches(into: folder) } == true
      }
  }
}

/// An absolute path, and the directories that it is in, up to `/`.
struct FoldersAround: Sequence, IteratorProtocol {
  private var rest: Substring?

  init(_ path: String) { rest = path[...] }

  mutating func next() -> Substring? {
    guard let path = rest else { return nil }
    rest =
      path == "/"
      ? nil
      : path.utf8.lastIndex(of: UInt8(ascii: "/")).map {
        $0 == path.startIndex ? path[...$0] : path[..<$0]
      }
    return path
  }
}
