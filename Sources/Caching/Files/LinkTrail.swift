// Where a path leads through links. What is read at its end is no concern of it.

import Diagnostics
import Glibc

/// The places that decide what is found at a path with links in it. They need not exist.
package struct LinkTrail {
  /// The links, and what is between them and the end, all of them without links before their last names. Directories that the
  /// first link is in are left out, because they lead to the path itself, too. Empty without a link.
  package private(set) var places: [String] = []
  /// The path without links.
  package private(set) var end = ""

  /// The number of links that Linux follows.
  private static let most = 40

  /// Follows an absolute path as far as there is something, and takes the rest as it is.
  package init(_ path: String) {
    var names = Self.names(in: path)
    var links = 0
    while let name = names.popLast() {
      if name == ".." {
        end = Self.folder(around: end)
        continue
      }
      let place = "\(end)/\(name)"
      let target = links < Self.most ? FileInspector.target(of: place, in: AT_FDCWD) : nil
      if let target {
        links += 1
        if target.hasPrefix("/") { end = "" }
        names += Self.names(in: target)
      } else {
        end = place
      }
      if links > 0 { places.append(place) }
    }
    if end.isEmpty { end = "/" }
    if let link = places.first { places.removeAll { link.isBelow($0) } }
  }

  /// Its names, the last one first.
  private static func names(in path: String) -> [Substring] {
    path.utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) }.filter { $0 != "." }
      .reversed()
  }

  private static func folder(around path: String) -> String {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? ""
  }
}
