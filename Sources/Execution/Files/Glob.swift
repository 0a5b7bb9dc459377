// Finds files by pattern, as `FilePattern` says what matches.

import Caching
import Glibc
import RunFiles

/// The regular files that match any of the patterns, sorted bytewise, each once. Paths are like the
/// patterns: below the folder, which is where oprun was started if it has no name, or absolute. Links
/// to directories are not followed. Names need not be text.
func files(matching patterns: [String], in folder: String = "") -> [FileName] {
  var found: Set<FileName> = []
  for pattern in patterns {
    let pattern = FilePattern(pattern)
    var search = GlobSearch(names: pattern.names)
    let start = pattern.isAbsolute ? "/" : folder.isEmpty ? "" : folder + "/"
    search.visit(start.characters, from: 0)
    found.formUnion(search.found)
  }
  return found.sorted { $0.precedes($1) }
}

private struct GlobSearch {
  /// Which part of the pattern was looked for in which directory.
  private struct Visit: Hashable {
    let path: [CChar]
    let index: Int
  }

  let names: [String]
  private(set) var found: [FileName] = []
  private var visited: Set<Visit> = []

  init(names: [String]) { self.names = names }

  /// Visits a directory. `path` ends in a slash or is empty, and has no NUL; `index` is that of the next part of
  /// the pattern. The recursion is as deep as directories are nested, which the length of paths
  /// limits.
  mutating func visit(_ path: [CChar], from index: Int) {
    guard index < names.count, visited.insert(Visit(path: path, index: index)).inserted else {
      return
    }
    let name = names[index]
    if name == "**" {
      visit(path, from: index + 1)
      let shown = entries(of: path).filter { $0.bytes.first != dot }
      if index + 1 == names.count { take(shown, in: path) }
      for entry in shown { enter(entry, in: path, from: index) }
    } else if index + 1 == names.count {
      let candidates =
        FilePattern.hasWildcard(name)
        ? entries(of: path).filter { FilePattern.matches(name, $0) }
        : [FileName(joining: name.characters)]
      take(candidates, in: path)
    } else if FilePattern.hasWildcard(name) {
      for entry in entries(of: path) where FilePattern.matches(name, entry) {
        enter(entry, in: path, from: index + 1)
      }
    } else {
      visit(path + name.characters + [slash], from: index + 1)
    }
  }

  private mutating func enter(_ entry: FileName, in path: [CChar], from index: Int) {
    var status = stat()
    let inner = path + entry.bytes
    guard lstat(inner, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return }
    visit(path + entry.characters + [slash], from: index)
  }

  private mutating func take(_ entries: [FileName], in path: [CChar]) {
    for entry in entries {
      let file = FileName(joining: path, entry.characters)
      var status = stat()
      if stat(file.bytes, &status) == 0, status.st_mode & S_IFMT == S_IFREG { found.append(file) }
    }
  }

  private func entries(of path: [CChar]) -> [FileName] {
    let here = path.isEmpty ? [dot, 0] : path + [0]
    let folder = open(here, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    var names: [FileName] = []
    if folder >= 0 { _ = forEachName(owning: folder) { names.append(FileName($0)) } }
    return names
  }
}

private let dot = CChar(bitPattern: UInt8(ascii: "."))
private let slash = CChar(bitPattern: UInt8(ascii: "/"))

extension String {
  /// The bytes without a NUL at the end.
  fileprivate var characters: [CChar] { utf8.map { CChar(bitPattern: $0) } }
}
