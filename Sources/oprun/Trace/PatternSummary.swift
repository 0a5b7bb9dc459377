// Patterns for many files, as a person would write them: `src/**/*.c` instead of 400 paths.

import Caching
import Diagnostics

/// Summarises files. Paths are relative to the directory of the step.
struct PatternSummary {
  /// The smallest number of files of a kind in one directory that a pattern stands for.
  private static let fewest = 3
  /// The largest number of files without a common kind that are listed one by one.
  private static let most = 20

  /// The patterns, sorted; they match all of the paths, and none of `others`. In directories that
  /// were `listed`, a new file may matter, so that a pattern stands even for one file.
  static func patterns(
    for paths: PathSet, avoiding others: PathSet, listed: PathSet = []
  ) -> [String] {
    var result: PathSet = []
    var rest: PathSet = []
    var kinds: [PathName: [TracedPath]] = [:]
    for path in paths {
      let path = TracedPath(path)
      if path.isHidden || path.ending.text.isEmpty {
        rest.insert(path.text)
      } else {
        kinds[path.ending, default: []].append(path)
      }
    }
    let avoided = others.map(TracedPath.init)
    for (ending, files) in kinds {
      for group in groups(of: files) {
        let isListed = group.allSatisfy { listed.contains($0.folder) }
        let pattern = pattern(for: group, ending, fewest: isListed ? 1 : fewest)
        if let pattern, !avoided.contains(where: { pattern.matches($0) }) {
          result.insert(pattern.text)
        } else {
          rest.formUnion(group.map(\.text))
        }
      }
    }
    return result.union(PathSet(directories(of: rest, avoiding: others))).sorted()
  }

  /// Groups of files: those below one directory of the step, or in that itself, belong together.
  private static func groups(of files: [TracedPath]) -> [[TracedPath]] {
    Array(Dictionary(grouping: files) { $0.folders.first ?? PathName("") }.values)
  }

  private static func pattern(
    for files: [TracedPath], _ ending: PathName, fewest: Int
  ) -> Pattern? {
    guard files.count >= fewest, var common = files.first?.folders else { return nil }
    for file in files {
      common = Array(zip(common, file.folders).prefix { $0 == $1 }.map(\.0))
    }
    let isFlat = files.allSatisfy { $0.folders == common }
    return Pattern(folders: common, isDeep: !isFlat, ending: ending)
  }

  /// The paths; a directory stands for very many paths in it.
  private static func directories(of paths: PathSet, avoiding others: PathSet) -> [String] {
    let groups = Dictionary(grouping: paths) { TracedPath($0).folders.first ?? PathName("") }
    return groups.flatMap { folder, paths in
      let folder = folder.text
      let isOnlyRead = !others.contains { $0.hasPrefix(folder + "/") }
      let stands = paths.count > most && !folder.isEmpty && folder != ".." && isOnlyRead
      return (stands ? [folder] : paths).map(escaped)
    }
  }

  /// The paths of files that need not exist. No pattern stands for them: one that matches nothing
  /// would be taken for a mistake.
  static func names(of paths: PathSet, avoiding others: PathSet) -> [String] {
    directories(of: paths, avoiding: others)
  }

  /// The path, with its special characters escaped.
  static func escaped(_ path: String) -> String {
    let text = escapedEnd(path)
    return text.hasPrefix("!") || text == "~" || text.hasPrefix("~/") ? "./" + text : text
  }

  /// The end of a path, with wildcards escaped.
  static func escapedEnd(_ end: String) -> String {
    end.unicodeScalars.map { "*?[{$".unicodeScalars.contains($0) ? "[\($0)]" : String($0) }
      .joined()
  }

  private struct Pattern {
    let folders: [PathName]
    let isDeep: Bool
    let ending: PathName

    var text: String {
      (folders.map { escaped($0.text) } + (isDeep ? ["**"] : []) + ["*.\(escaped(ending.text))"])
        .joined(separator: "/")
    }

    func matches(_ path: TracedPath) -> Bool {
      path.ending == ending
        && (isDeep ? path.folders.starts(with: folders) : path.folders == folders)
    }
  }
}

/// A path in its parts.
struct TracedPath: Hashable {
  let text: String
  let folders: [PathName]
  let name: String
  /// The part of the name after the last dot; empty without one.
  let ending: PathName

  init(_ text: String) {
    self.text = text
    let names = text.split(separator: "/").map(String.init)
    folders = names.dropLast().map { PathName($0) }
    let name = names.last ?? ""
    self.name = name
    ending = PathName(
      name.utf8.lastIndex(of: UInt8(ascii: ".")).flatMap {
        $0 > name.startIndex ? String(name[name.utf8.index(after: $0)...]) : nil
      } ?? "")
  }

  /// True if no wildcard matches it.
  var isHidden: Bool {
    name.hasPrefix(".") || folders.contains { $0.text.hasPrefix(".") && $0.text != ".." }
  }

  /// The directory of the path; empty for that of the step.
  var folder: String { folders.map(\.text).joined(separator: "/") }

  /// The directory of git that the path is in; nil for another path.
  var repository: String? {
    let names = folders.map(\.text) + [name]
    return names.firstIndex(of: ".git").map { names[...$0].joined(separator: "/") }
  }

  var isInRepository: Bool { repository != nil }

  /// The directory of the path, ending in a slash; empty for that of the step.
  var prefix: String { folders.isEmpty ? "" : folder + "/" }
}
