// Finds files by pattern, as `FilePattern` says what matches.

import Caching
import Glibc

/// The regular files that match any of the patterns, sorted bytewise, each once. Paths are like the
/// patterns: below the folder, which is where oprun was started if it has no name, or absolute. Links
/// to directories are not followed.
func files(matching patterns: [String], in folder: String = "") -> [String] {
  var found: Set<String> = []
  for pattern in patterns {
    let pattern = FilePattern(pattern)
    var search = GlobSearch(names: pattern.names)
    search.visit(pattern.isAbsolute ? "/" : folder.isEmpty ? "" : folder + "/", from: 0)
    found.formUnion(search.found)
  }
  return found.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
}

private struct GlobSearch {
  let names: [String]
  private(set) var found: [String] = []
  private var visited: Set<String> = []

  init(names: [String]) { self.names = names }

  /// Visits a directory. `path` ends in a slash or is empty; `index` is that of the next part of
  /// the pattern. The recursion is as deep as directories are nested, which the length of paths
  /// limits.
  mutating func visit(_ path: String, from index: Int) {
    guard index < names.count, visited.insert("\(index) \(path)").inserted else { return }
    let name = names[index]
    if name == "**" {
      visit(path, from: index + 1)
      if index + 1 == names.count {
        take(entries(of: path).filter { !$0.hasPrefix(".") }, in: path)
      }
      for entry in entries(of: path) where !entry.hasPrefix(".") && isFolder(path + entry) {
        visit(path + entry + "/", from: index)
      }
    } else if index + 1 == names.count {
      let candidates =
        FilePattern.hasWildcard(name)
        ? entries(of: path).filter { FilePattern.matches(name, $0) } : [name]
      take(candidates, in: path)
    } else if FilePattern.hasWildcard(name) {
      for entry in entries(of: path)
      where FilePattern.matches(name, entry) && isFolder(path + entry) {
        visit(path + entry + "/", from: index + 1)
      }
    } else {
      visit(path + name + "/", from: index + 1)
    }
  }

  private mutating func take(_ entries: [String], in path: String) {
    found += entries.filter { isFile(path + $0) }.map { path + $0 }
  }

  private func entries(of path: String) -> [String] {
    guard let folder = opendir(path.isEmpty ? "." : path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  private func isFile(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  private func isFolder(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
