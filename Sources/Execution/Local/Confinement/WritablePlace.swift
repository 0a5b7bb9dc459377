// The place that a pattern of outputs or scratch opens to a command, and the directories that are
// made for it. It does not know the rules of a kernel. docs/confined-steps.md, “What a pattern
// opens”.

import Caching
import Diagnostics
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
  /// The status of the path, or of the target of a link there; nil if there is nothing.
  private let found: stat?

  init(_ pattern: String, in directory: String) {
    self.pattern = pattern
    let parts = FilePattern(pattern)
    path = parts.fixedPath(in: directory)
    var status = stat()
    found = stat(path, &status) == 0 ? status : nil
    if parts.isPlain {
      let isFolder = found.map { $0.st_mode & S_IFMT == S_IFDIR } == true
      kind = pattern.hasSuffix("/") || isFolder ? .folder : .file
    } else {
      kind = .surroundings
    }
  }

  /// False if there is something other than a placeholder.
  private var isMissing: Bool { found.map(Placeholders.isLeft) ?? true }

  /// True if the place is a file in a directory that another place opens: the command makes it there
  /// itself, as it could not where a placeholder is.
  func isFile(inAnyOf folders: [WritablePlace]) -> Bool {
    kind == .file && folders.contains { path.isBelow($0.path) }
  }

  /// Makes the missing files and directories that a confined command needs.
  func make(_ placeholders: inout Placeholders) {
    guard isMissing else { return }
    switch kind {
    case .file: placeholders.addFile(path)
    case .folder: placeholders.addFolder(path)
    case .surroundings: placeholders.makeFolder(path)
    }
  }

  /// Makes only the directory around a file: the command can make the file itself.
  func makeFolder(_ placeholders: inout Placeholders) {
    guard isMissing else { return }
    guard kind == .file else { return make(&placeholders) }
    placeholders.removeLeft(path)
    placeholders.makeFolder(around: path)
  }

  /// True if the place is one of these directories.
  func isOne(of folders: Set<FileIdentity>) -> Bool {
    found.map { kind != .file && folders.contains(FileIdentity($0)) } ?? false
  }
}

extension Confinement.Patterns {
  var writablePlaces: [WritablePlace] { patterns.map { WritablePlace($0, in: directory) } }
}

extension [WritablePlace] {
  /// Makes the directories in which a command that is not confined makes files.
  func makeFolders() -> Placeholders {
    var placeholders = Placeholders()
    for place in self { place.makeFolder(&placeholders) }
    placeholders.mark()
    return placeholders
  }
}
