// What a pattern of outputs or scratch opens to a command, and the directories that are made for it. It does not know
// what a kernel is told. docs/confined-steps.md, “What a pattern opens”.

import Diagnostics
import Caching
import Glibc
import RunFiles
import Running

/// A path without wildcards is one file, if it is not a directory; anything else needs a directory in which files can
/// be made.
struct WritablePlace {
  enum Kind {
    case file
    /// A directory that is an output itself.
    case folder
    /// A directory in which a pattern finds files.
    case surroundings
  }

  let pattern: String
  let path: String
  let kind: Kind

  init(_ pattern: String, in directory: String) {
    self.pattern = pattern
    let parts = FilePattern(pattern)
    path = parts.fixedPath(in: directory)
    if parts.isPlain {
      kind = pattern.hasSuffix("/") || WritablePlace.isFolder(path) ? .folder : .file
    } else {
      kind = .surroundings
    }
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Makes the directory in which the command makes files, as far as it is missing.
  func makeFolder(_ placeholders: inout Placeholders) {
    switch kind {
    case .file:
      placeholders.makeFolder(path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "")
    case .folder: placeholders.addFolder(path)
    case .surroundings: placeholders.makeFolder(path)
    }
  }

  /// True if it is a directory that the workspace is, or is in.
  func opens(_ workspace: String) -> Bool {
    guard kind != .file, let place = realPath(path) else { return false }
    return place.hasSameBytes(as: workspace) || workspace.isBelow(place)
  }
}

extension Confinement.Patterns {
  var writablePlaces: [WritablePlace] { patterns.map { WritablePlace($0, in: directory) } }
}

extension [WritablePlace] {
  /// Makes the directories that a command makes files in, which is not confined.
  func makeFolders() -> Placeholders {
    var placeholders = Placeholders()
    for place in self {
      place.makeFolder(&placeholders)
      if place.kind == .file { placeholders.removeLeft(place.path) }
    }
    placeholders.mark()
    return placeholders
  }
}
