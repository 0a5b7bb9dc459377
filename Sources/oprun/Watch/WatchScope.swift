// What is to be watched, as paths. Which of them exist, and how changes are noticed, is no concern of it.

import Caching

/// A path to a directory that is watched, or to something in it.
struct WatchedPath: Hashable {
  /// Absolute, as it is declared: with links.
  let path: String
  /// The same without links in front of the last name.
  let place: String
  /// The places of the names in the path that are links to directories.
  private(set) var links: Set<Int> = []

  /// A directory that all begins with.
  init(root: String) {
    path = root
    place = LinkTrail(root).end
  }

  private init(_ path: String, _ place: String, _ links: Set<Int>) {
    self.path = path
    self.place = place
    self.links = links
  }

  /// Something in the directory.
  func appending(_ name: String) -> WatchedPath {
    let join = { (folder: String) in folder == "/" ? "/" + name : "\(folder)/\(name)" }
    return WatchedPath(join(path), join(place), links)
  }

  /// The directory that the path leads to as that of a link.
  func leading(to place: String) -> WatchedPath {
    let depth = path.utf8.lazy.filter { $0 == UInt8(ascii: "/") }.count
    return WatchedPath(path, place, links.union([depth - 1]))
  }

  static func == (left: Self, right: Self) -> Bool { left.path.hasSameBytes(as: right.path) }

  func hash(into hasher: inout Hasher) { hasher.combine(PathName(path)) }
}

struct WatchScope {
  /// The directories that all begins with.
  var roots: [String] = []
  /// Paths that may lead through links in directories which are not watched otherwise.
  var leads: [String] = []
  /// Whether a directory is to be watched, which may be one that a link leads to.
  var wants: (WatchedPath) -> Bool = { _ in false }
  /// The ways in which a directory behind a link is read; nil if it is wanted whatever other links lead to. Links may
  /// lead to the same directory, or in a cycle.
  var waysToRead: (WatchedPath) -> Set<FolderRead>? = { _ in nil }
  /// Whether it matters what a link leads to.
  var follows: (WatchedPath) -> Bool = { _ in false }
}
