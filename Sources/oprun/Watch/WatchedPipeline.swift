// A watched pipeline: its plan, the files that it was read from, and the directories that matter to
// it.

import Caching
import Diagnostics
import Glibc
import Plans

struct WatchedPipeline {
  let plan: Plan
  /// The absolute paths of the files that the pipeline was read from, including those that do not exist.
  private(set) var sources: Set<PathName>
  let workspace: String
  let declarations: Declarations
  /// The sources of its secrets.
  let secrets: [SecretSource]
  private let state: String

  init(
    _ plan: Plan, _ secrets: [SecretSource] = [], sources: Set<PathName>, workspace: String,
    state: String
  ) {
    self.plan = plan
    self.secrets = secrets
    self.sources = sources
    self.workspace = workspace
    self.state = state
    declarations = Declarations(plan, workspace: workspace)
  }

  /// The same pipeline, with other files that it was also read from.
  func readFrom(_ others: Set<PathName>) -> WatchedPipeline {
    var result = self
    result.sources.formUnion(others)
    return result
  }

  /// The paths that are to be watched for the pipeline.
  func scope(without ignored: IgnoredFiles) -> WatchScope {
    let others = (sources.map(\.text) + declarations.inputs.map(\.fixedPath)).filter {
      !isInWorkspace($0) && !isOfOthers($0)
    }
    let rules = ignored.rules.map { Self.folder(around: $0) }
    return WatchScope(
      roots: roots + rules, leads: others,
      wants: { wants($0, isIgnored: ignored.contains($0.path)) },
      waysToRead: { waysToRead($0, isIgnored: ignored.contains($0.path)) },
      follows: { follows($0, isIgnored: ignored.contains($0.path)) })
  }

  /// The directories at which watching begins: they, and the wanted ones in them, are watched.
  private var roots: [String] {
    var roots: Set<PathName> = [PathName(workspace)]
    for path in sources { roots.insert(PathName(Self.folder(around: path.text))) }
    for pattern in declarations.inputs {
      let path = pattern.fixedPath
      roots.insert(
        PathName(pattern.isPlain ? Self.folder(around: path) : Self.nearestFolder(path)))
    }
    return roots.map(\.text).filter { !isOfOthers($0) && !isInWorkspace($0) }
      .sorted { $0.precedesByBytes($1) }
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

  /// True if a directory is to be watched. Behind links, only declared files matter.
  func wants(_ folder: WatchedPath, isIgnored: Bool) -> Bool {
    if isOfOthers(folder.path) || isOfOthers(folder.place) { return false }
    return names(folder.path) || isNamed(folder, isIgnored: isIgnored)
  }

  /// The ways in which a directory behind a link is read as something in a directory; nil if patterns name the link.
  private func waysToRead(_ folder: WatchedPath, isIgnored: Bool) -> Set<FolderRead>? {
    isNamed(folder, isIgnored: isIgnored)
      ? nil : declarations.foldersRead(at: folder.place, as: folder.path)
  }

  private func isNamed(_ folder: WatchedPath, isIgnored: Bool) -> Bool {
    if sources.contains(where: { $0.text.isBelow(folder.path) }) { return true }
    if declarations.areIncomplete, folder.links.isEmpty, !isIgnored, isInWorkspace(folder.path) {
      return true
    }
    return declarations.reach(into: folder.path, onlyPlainly: isIgnored, links: folder.links)
  }

  /// True if the target of a link matters.
  private func follows(_ link: WatchedPath, isIgnored: Bool) -> Bool {
    sources.contains(PathName(link.path))
      || declarations.name(link.path) && (!isIgnored || names(link.path))
  }

  /// True if a path is that of the state directory or of git's, or in there.
  func isOfOthers(_ path: String) -> Bool {
    path.hasSameBytes(as: state) || path.isBelow(state) || path.hasSuffix("/.git")
      || path.containsText("/.git/")
  }

  func isInWorkspace(_ path: String) -> Bool { path.isBelow(workspace) }

  /// True if the path counts even if git ignores it: a step names it without wildcards.
  func names(_ path: String) -> Bool { declarations.namePlainly(path) }
}
