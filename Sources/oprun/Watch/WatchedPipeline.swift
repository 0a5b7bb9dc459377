// A pipeline as it is watched: its plan, the files that it was read from, and which directories matter to it.

import Caching
import Diagnostics
import Glibc
import Plans

struct WatchedPipeline {
  let plan: Plan
  /// The files that it was read from, absolute, also those that do not exist.
  let sources: Set<PathName>
  let workspace: String
  let declarations: Declarations
  private let state: String

  init(_ plan: Plan, sources: Set<PathName>, workspace: String, state: String) {
    self.plan = plan
    self.sources = sources
    self.workspace = workspace
    self.state = state
    declarations = Declarations(plan, workspace: workspace)
  }

  /// The directories that all begins with: they, and those in them that are wanted, are watched.
  var roots: [String] {
    var roots: Set<PathName> = [PathName(workspace)]
    for path in sources { roots.insert(PathName(Self.folder(around: path.text))) }
    for pattern in declarations.inputs {
      let path = pattern.fixedPath
      roots.insert(
        PathName(pattern.isPlain ? Self.folder(around: path) : Self.nearestFolder(path)))
    }
    return roots.map(\.text).filter { !isOfOthers($0) }.sorted { $0.precedesByBytes($1) }
  }

  private static func folder(around path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else {
      return "/"
    }
    return nearestFolder(String(path[..<slash]))
  }

  private static func nearestFolder(_ path: String) -> String {
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return path }
    return path == "/" ? path : folder(around: path)
  }

  /// Whether a directory is to be watched.
  func wants(_ folder: String, isIgnored: Bool) -> Bool {
    if isOfOthers(folder) { return false }
    if sources.contains(where: { $0.text.isBelow(folder) }) { return true }
    if declarations.areIncomplete, !isIgnored, isInWorkspace(folder) { return true }
    return declarations.reach(into: folder, onlyPlainly: isIgnored)
  }

  /// Whether a path is that of the state directory or of git's, or in there.
  func isOfOthers(_ path: String) -> Bool {
    path.hasSameBytes(as: state) || path.isBelow(state) || path.hasSuffix("/.git")
      || path.containsText("/.git/")
  }

  func isInWorkspace(_ path: String) -> Bool { path.isBelow(workspace) }

  /// Whether it counts even if git ignores it: a step names it without wildcards.
  func names(_ path: String) -> Bool { declarations.namePlainly(path) }
}
