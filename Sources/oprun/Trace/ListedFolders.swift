// Which directories a command looked through, so that a new file there may matter although it was not read.

import Caching

struct ListedFolders {
  /// All of them, as the step's patterns write them; empty for its own directory.
  let all: Set<String>
  /// Patterns for directories of which every new file may matter.
  let patterns: [String]
  /// Directories of which no pattern can be proposed, because the command writes there, too.
  let rest: Set<String>

  /// What a program wants to know that lists a directory.
  private enum Aim: Int {
    /// Whether files are there that it knows the names of.
    case files
    /// Only the set of files that match a pattern was looked at.
    case matches
    /// All names.
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

  /// `read` and `others` are what the command read, and what it and the steps before it wrote, as patterns write it.
  init(
    _ files: TracedFiles, _ place: TracedWorkspace, read: Set<String>, others: Set<String>
  ) {
    var aims: [String: Aim] = [:]
    for (path, programs) in files.listed where !place.isFromUpstream(path) {
      let aim = programs.map(Aim.init(program:)).max { $0.rawValue < $1.rawValue } ?? .names
      for name in files.names[path] ?? [path] {
        guard let folder = place.shownFolder(name), !TracedPath(folder).isInRepository else {
          continue
        }
        aims[folder] = Aim(rawValue: max(aim.rawValue, aims[folder]?.rawValue ?? 0))
      }
    }
    var whole: Set<String> = []
    var rest: Set<String> = []
    // A program that knows the names that it looks for lists its own directory to find out what it need not look for.
    for (folder, aim) in aims where aim != .files || !folder.isEmpty {
      let inside = read.map(TracedPath.init).filter { $0.folder == folder }
      let hasKinds = inside.contains { !$0.ending.isEmpty && (aim == .files || !$0.isHidden) }
      if aim != .names, hasKinds { continue }
      let isInside = { (path: String) in path.hasPrefix(folder + "/") }
      // If such a program has read nothing there, it wanted the names, or none of those that it knows is there yet.
      let isWhole = aim != .files || !read.contains(where: isInside)
      if !folder.isEmpty, isWhole, !others.contains(where: isInside) {
        whole.insert(folder)
      } else if folder.isEmpty || !inside.isEmpty {
        rest.insert(folder)
      }
    }
    all = Set(aims.keys)
    self.rest = Set(rest.map { $0.isEmpty ? "." : $0 })
    patterns = whole.filter { folder in !whole.contains { folder.hasPrefix($0 + "/") } }.map {
      folder in
      let isDeep = whole.contains { $0.hasPrefix(folder + "/") }
      return PatternSummary.escaped(folder) + (isDeep ? "/**" : "/*")
    }
  }
}
