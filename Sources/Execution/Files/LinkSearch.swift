// Finds the links in a directory: a rule for the directory does not hold for their targets.

import Caching
import Glibc
import RunFiles

/// The wanted links in a directory, in everything in it, and in the directories that such links
/// lead to. Empty for a path that is not a directory. The directory `closed` is not searched.
func links(
  in path: FileName, without closed: String?, where isMeant: (FileName) -> Bool
) -> [FileName] {
  withoutActuallyEscaping(isMeant) { isMeant in
    var search = LinkSearch(isMeant: isMeant)
    if let closed { search.close(closed) }
    search.visit(path)
    return search.found
  }
}

private struct LinkSearch {
  private(set) var found: [FileName] = []
  let isMeant: (FileName) -> Bool
  /// The directories that were visited: links may form a cycle.
  private var visited: Set<FileIdentity> = []

  init(isMeant: @escaping (FileName) -> Bool) { self.isMeant = isMeant }

  mutating func close(_ path: String) {
    if let identity = FileIdentity(at: path) { visited.insert(identity) }
  }

  mutating func visit(_ path: FileName) {
    let folder = open(path.bytes, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return }
    guard let identity = FileIdentity(of: folder), visited.insert(identity).inserted else {
      Glibc.close(folder)
      return
    }
    var folders: [FileName] = []
    _ = forEachEntry(owning: folder) { name, kind in
      if kind == Int(DT_REG) { return }
      let inner = FileName(FileName(name), in: path)
      var status = stat()
      let isLink =
        kind == Int(DT_LNK)
        || kind == Int(DT_UNKNOWN) && lstat(inner.bytes, &status) == 0
          && status.st_mode & S_IFMT == S_IFLNK
      if isLink {
        guard isMeant(inner) else { return }
        found.append(inner)
      }
      folders.append(inner)
    }
    for folder in folders { visit(folder) }
  }
}
