// The directories that a command listed, in which a new file may matter although it was not read.

import Caching
import Diagnostics

struct ListedFolders {
  /// All listed directories, as the step's patterns write them; empty for its own directory.
  let all: PathSet
  /// Patterns for directories in which every new file may matter.
  let patterns: [String]
  /// Directories for which no pattern can be proposed, because the command writes there, too.
  let rest: PathSet

  /// The reason why a program lists a directory.
  private enum Aim: Int {
    /// To find out whether files exist whose names it knows.
    case files
    /// To find the files that match a pattern.
    case matches
    /// To get all names.
    case names

    init(program: String) {
      let name = program.split(separator: "/").last ?? ""
      if name == "make" || name.hasPrefix("python") || name == "node" || name == "perl" {
        self = .files
      } else {
        self = ["dash", "bash", "zsh", "ksh", "busybox"].contains(name) ? .matches : .names
      }
    }
  }

  /// `read` and `others` are the paths that the command read, and those that it and the steps
  /// before it wrote, as patterns write them.
  init(
    _ files: TracedFiles, _ place: TracedWorkspace, read: PathSet, others: PathSet
  ) {
    var aims: [PathName: Aim] = [:]
    for (path, programs) in files.listed where !place.isFromUpstream(path.text) {
      let aim = programs.map(Aim.init(program:)).max { $0.rawValue < $1.rawValue } ?? .names
      for name in files.names[path] ?? [path.text] {
        guard let folder = place.shownFolder(name), !TracedPath(folder).isInRepository else {
          continue
        }
        let known = aims[PathName(folder)]?.rawValue ?? 0
        aims[PathName(folder)] = Aim(rawValue: max(aim.rawValue, known))
      }
    }
    var whole: PathSet = []
    var rest: PathSet = []
    // A program that knows the names of its files lists its own directory to find out which of them
    // it need not look for.
    for (folder, aim) in aims where aim != .files || !folder.text.isEmpty {
      let folder = folder.text
      let inside = read.map(TracedPath.init).filter { $0.folder.hasSameBytes(as: folder) }
      let hasKinds = inside.contains { !$0.ending.text.isEmpty && (aim == .files || !$0.isHidden) }
      if aim != .names, hasKinds { continue }
      let isInside = { (path: String) in path.hasPrefix(folder + "/") }
      // If such a program has read nothing there, it wanted the names, or none of the known files
      // exists yet.
      let isWhole = aim != .files || !read.contains(where: isInside)
      if !folder.isEmpty, isWhole, !others.contains(where: isInside) {
        whole.insert(folder)
      } else if folder.isEmpty || !inside.isEmpty {
        rest.insert(folder)
      }
    }
    all = PathSet(aims.keys.map(\.text))
    self.rest = PathSet(rest.map { $0.isEmpty ? "." : $0 })
    patterns = whole.filter { folder in !whole.contains { folder.hasPrefix($0 + "/") } }.map {
      folder in
      let isDeep = whole.contains { $0.hasPrefix(folder + "/") }
      return PatternSummary.escaped(folder) + (isDeep ? "/**" : "/*")
    }
  }
}
