// The paths that are to be watched. It does not know which of them exist, or how changes are
// noticed.

import Caching

/// A path to a directory that is watched, or to something in it.
struct WatchedPath: Hashable {
  /// The absolute path, as it is declared: with links.
  let path: String
  /// The path without links before the last name.
  let place: String
  /// The indices of the names in the path that are links to directories.
  private(set) var links: Set<Int> = []

  /// Makes the path of a root.
  init(root: String) {
    path = root
    place = LinkTrail(root).end
  }

  private init(_ path: String, _ place: String, _ links: Set<Int>) {
    self.path = path
    self.place = place
    self.links = links
  }

  /// The path of an entry of the directory.
  func appending(_ name: String) -> WatchedPath {
    let join = { (folder: String) in folder == "/" ? "/" + name : "\(folder)/\(name)" }
    return WatchedPath(join(path), join(place), links)
  }

  /// The same path as a link to the directory `place`.
  func leading(to place: String) -> WatchedPath {
    let depth = path.utf8.lazy.filter { $0 == UInt8(ascii: "/") }.count
    return WatchedPath(path, place, links.union([depth - 1]))
  }

  static func == (left: Self, right: Self) -> Bool { left.path.hasSameBytes(as: right.path) }

  func hash(into hasher: inout Hasher) { hasher.combine(PathName(path)) }
}

struct WatchScope {
  /// The directories at which watching begins.
  var roots: [String] = []
  /// Paths that may lead through links in directories that are not watched otherwise.
  var leads: [String] = []
  /// True if a directory is to be watched, which may be the target of a link.
  var wants: (WatchedPath) -> Bool = { _ in false }
  /// The ways in which a directory behind a link is read; nil if it is wanted whatever other links
  /// lead to. Links may lead to the same directory, or in a cycle.
  var waysToRead: (WatchedPath) -> Set<FolderRead>? = { _ in nil }
  /// True if the target of a link matters.
  var follows: (WatchedPath) -> Bool = { _ in false }
}
