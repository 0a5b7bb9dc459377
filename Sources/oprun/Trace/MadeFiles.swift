// The files that a traced command made, and the outputs that are proposed for it.

import Caching
import Diagnostics

/// The made files, by what happened to them. All paths are written as in the step's patterns.
struct MadeFiles {
  let written: PathSet
  let temporary: PathSet
  /// Files that were read and then changed, which are nobody's result: to put one back would undo
  /// the changes of others.
  let changed: PathSet
  /// Files that were changed in repositories of git, as also a command does that only looks at them.
  let inRepository: PathSet
  /// Directories that got their names in the directory of the step, which no pattern can open.
  let renamedAtTop: PathSet
  /// Directories that were made and left.
  let folders: PathSet
  /// Directories that were removed and made again.
  let remade: PathSet
  /// Directories that were made and removed again, and those among them in the directory of the
  /// step, which no pattern can open.
  let temporaryFolders: PathSet
  let temporaryAtTop: PathSet
  private let replaced: PathSet
  private let renamed: PathSet
  private let empty: PathSet

  init(_ files: TracedFiles, shown: (PathSet) -> PathSet) {
    let folders = shown(files.folders)
    let written = shown(files.written)
    let temporary = shown(files.temporary)
    // A repository that the command has made itself is a result like others.
    let foreign = written.union(temporary).filter { path in
      guard let repository = TracedPath(path).repository else { return false }
      return !repository.contains("/") || !folders.contains(repository)
    }
    inRepository = foreign
    changed = shown(files.read).intersection(written).subtracting(foreign)
    self.folders = folders
    self.written = written.subtracting(foreign).subtracting(changed)
    self.temporary = temporary.subtracting(foreign)
    remade = shown(files.remadeFolders)
    let temporaryFolders = shown(files.temporaryFolders).filter { !TracedPath($0).isInRepository }
    self.temporaryFolders = temporaryFolders
    temporaryAtTop = temporaryFolders.filter { !$0.contains("/") }
    replaced = shown(files.replaced)
    let renamed = shown(files.renamedFolders)
    self.renamed = renamed
    renamedAtTop = renamed.filter { !$0.contains("/") }
    let around = PathSet(written.union(folders).map { TracedPath($0).folder })
    empty = folders.filter { !around.contains($0) && !TracedPath($0).isInRepository }
  }

  /// The patterns, sorted. `hasMadeAll` tells whether everything in a directory is a result.
  func outputs(beside read: PathSet, hasMadeAll: (String) -> Bool) -> [String] {
    let wholes = remade.filter { folder in
      !folder.hasPrefix("../") && !read.contains { $0.hasPrefix(folder + "/") }
        && hasMadeAll(folder)
    }
    var result = PathSet(wholes.map { PatternSummary.escaped($0) + "/" })
    let others = written.union(empty).filter { path in
      !wholes.contains { path.hasSameBytes(as: $0) || path.isBelow($0) }
    }
    for (folder, paths) in Dictionary(
      grouping: others, by: { TracedPath($0).folders.first ?? PathName("") })
    {
      let folder = folder.text
      let isOwn = !folder.isEmpty && folder != ".." && !read.contains { $0.hasPrefix(folder + "/") }
      // No wildcard matches a directory, or a name with a dot.
      let odd = paths.filter { empty.contains($0) || TracedPath($0).isHidden }
      let isOpened = renamed.contains { $0.hasPrefix(folder + "/") }
      if isOwn, !odd.isEmpty, hasMadeAll(folder) {
        result.insert(PatternSummary.escaped(folder) + "/")
      } else if isOwn, paths.count > 3 || isOpened {
        let isFlat = paths.allSatisfy { odd.contains($0) || TracedPath($0).folders.count == 1 }
        result.insert(PatternSummary.escaped(folder) + (isFlat ? "/*" : "/**"))
        result.formUnion(odd.map { pattern(for: $0, avoiding: read) })
      } else {
        result.formUnion(paths.map { pattern(for: $0, avoiding: read) })
      }
    }
    return result.sorted()
  }

  /// The pattern for an output. A file that is replaced needs its directory, which a wildcard opens.
  private func pattern(for path: String, avoiding read: PathSet) -> String {
    let text = PatternSummary.escaped(path)
    if empty.contains(path) { return text + "/" }
    if replaced.contains(path) {
      return Self.pattern(opening: path, avoiding: read) ?? text
    }
    let opened = renamed.filter { $0.contains("/") && path.hasPrefix($0 + "/") }
    guard let folder = opened.min(by: { $0.utf8.count < $1.utf8.count }) else { return text }
    return PatternSummary.escaped(folder) + "*"
      + PatternSummary.escapedEnd(String(Substring(path.utf8.dropFirst(folder.utf8.count))))
  }

  /// A pattern with a wildcard, which opens the directory of a path, and matches no path that is
  /// read: the path with a wildcard at its end, or one that matches the path alone. Nil if there is
  /// none.
  static func pattern(opening path: String, avoiding read: PathSet) -> String? {
    if !read.contains(where: {
      $0.utf8.count > path.utf8.count && $0.hasPrefix(path)
        && !$0.utf8.dropFirst(path.utf8.count).contains(UInt8(ascii: "/"))
    }) {
      return PatternSummary.escaped(path) + "*"
    }
    guard let end = path.lastIndex(where: { $0.isASCII && ($0.isLetter || $0.isNumber) }),
      !path[end...].contains("/")
    else { return nil }
    let rest = String(path[path.index(after: end)...])
    return PatternSummary.escaped(String(path[..<end])) + "[\(path[end])]"
      + PatternSummary.escapedEnd(rest)
  }
}

extension TracedFiles {
  /// True if everything in a directory was made by the command. The path is absolute.
  func hasMadeAll(in folder: String, names: (String) -> [String]?) -> Bool {
    (names(folder) ?? []).allSatisfy { name in
      let inner = "\(folder)/\(name)"
      return written.contains(inner)
        || names(inner) != nil && hasMadeAll(in: inner, names: names)
    }
  }
}
