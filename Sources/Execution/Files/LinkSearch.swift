// Finds the links in a directory: a rule for the directory does not hold for what they lead to.

import Caching
import Glibc
import RunFiles

/// All links in a directory, in what is in it, and in the directories that such links lead to. Nothing for a path
/// that is not a directory.
func links(in path: FileName) -> [FileName] {
  var search = LinkSearch()
  search.visit(path)
  return search.found
}

private struct LinkSearch {
  private(set) var found: [FileName] = []
  /// Links may lead in a circle.
  private var visited: Set<FolderIdentity> = []

  mutating func visit(_ path: FileName) {
    let folder = open(path.bytes, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return }
    guard let identity = FolderIdentity(of: folder), visited.insert(identity).inserted else {
      close(folder)
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
      if isLink { found.append(inner) }
      folders.append(inner)
    }
    for folder in folders { visit(folder) }
  }
}
