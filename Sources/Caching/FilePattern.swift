// The patterns of `cache` and of `hashFiles`: `*`, `?` and `[…]` within a name, `**` for any directories.

import Glibc
package import RunFiles

/// A pattern in its parts.
package struct FilePattern: Hashable {
  /// The names; `.` and empty ones are left out.
  package let names: [String]
  package let isAbsolute: Bool
  /// True if it is the path of one file or directory.
  package let isPlain: Bool

  package init(_ text: String) {
    self.init(
      Self.parts(of: text), isAbsolute: Self.isAbsolute(text))
  }

  /// A pattern as an absolute one. A relative pattern starts at the directory, which is absolute, too;
  /// `..` takes the name before it away.
  package init(_ text: String, below directory: String) {
    var names: [String] = []
    for name in Self.parts(of: Self.isAbsolute(text) ? text : "\(directory)/\(text)") {
      if name == ".." { _ = names.popLast() } else { names.append(name) }
    }
    self.init(names, isAbsolute: true)
  }

  private init(_ names: [String], isAbsolute: Bool) {
    self.names = names
    self.isAbsolute = isAbsolute
    isPlain = !names.contains(where: Self.hasWildcard)
  }

  /// The path that it is, or the one of the directory that all matches are in; "." for the directory that
  /// it is relative to.
  package var fixedPath: String {
    let fixed = isPlain ? names[...] : names.prefix { !Self.hasWildcard($0) }
    let path = fixed.joined(separator: "/")
    return isAbsolute ? "/" + path : path.isEmpty ? "." : path
  }

  /// Its text, in which nothing is a wildcard: for paths.
  package var path: String { (isAbsolute ? "/" : "") + names.joined(separator: "/") }

  /// Whether the path, or a directory that it is in, matches.
  package func covers(_ path: String) -> Bool {
    guard Self.isAbsolute(path) == isAbsolute else { return false }
    return covers(names[...], Self.parts(of: path)[...])
  }

  /// Whether it covers an absolute path. A relative pattern starts at the directory.
  package func covers(_ path: String, below directory: String) -> Bool {
    if isAbsolute { return covers(path) }
    guard path.utf8.starts(with: (directory + "/").utf8) else { return false }
    return covers(String(Substring(path.utf8.dropFirst(directory.utf8.count + 1))))
  }

  /// Whether it finds a file of that path, if there is one: a path finds everything in a directory, a
  /// pattern with wildcards finds only what it matches itself.
  package func finds(_ path: String) -> Bool {
    if isPlain { return covers(path) }
    guard Self.isAbsolute(path) == isAbsolute else { return false }
    return finds(names[...], Self.parts(of: path)[...])
  }

  /// Whether it may find something in a directory of that path, or in one that is in it. Wildcards find nothing behind
  /// links; `links` are the numbers of the names in the path that are those of links.
  package func reaches(into folder: String, through links: Set<Int> = []) -> Bool {
    guard Self.isAbsolute(folder) == isAbsolute else { return false }
    return reaches(names[...], Self.parts(of: folder)[...], links)
  }

  private static func isAbsolute(_ path: String) -> Bool { path.utf8.first == UInt8(ascii: "/") }

  package static func == (left: Self, right: Self) -> Bool {
    left.isAbsolute == right.isAbsolute
      && left.names.elementsEqual(right.names) { $0.hasSameBytes(as: $1) }
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(isAbsolute)
    for name in names { hasher.combineBytes(of: name) }
  }

  private static func parts(of path: String) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }.filter { $0 != "." }
  }

  private func covers(_ pattern: ArraySlice<String>, _ parts: ArraySlice<String>) -> Bool {
    guard let first = pattern.first else { return true }
    if first == "**" {
      let rest = pattern.dropFirst()
      if rest.isEmpty { return !parts.isEmpty }
      return parts.indices.contains { covers(rest, parts[$0...]) }
    }
    guard let part = parts.first, Self.matches(first, part) else { return false }
    return covers(pattern.dropFirst(), parts.dropFirst())
  }

  private func finds(_ pattern: ArraySlice<String>, _ parts: ArraySlice<String>) -> Bool {
    guard let name = pattern.first else { return parts.isEmpty }
    guard let part = parts.first else { return false }
    let rest = pattern.dropFirst()
    if name == "**" {
      if !rest.isEmpty, finds(rest, parts) { return true }
      guard !part.hasPrefix(".") else { return false }
      return rest.isEmpty && parts.count == 1 || finds(pattern, parts.dropFirst())
    }
    return Self.matches(name, part) && finds(rest, parts.dropFirst())
  }

  private func reaches(
    _ pattern: ArraySlice<String>, _ parts: ArraySlice<String>, _ links: Set<Int>
  ) -> Bool {
    guard let part = parts.first else { return true }
    guard let name = pattern.first else { return isPlain && links.isDisjoint(with: parts.indices) }
    let rest = pattern.dropFirst()
    let isLink = links.contains(parts.startIndex)
    if name == "**" {
      if !rest.isEmpty, reaches(rest, parts, links) { return true }
      return !isLink && !part.hasPrefix(".") && reaches(pattern, parts.dropFirst(), links)
    }
    // The last name of a pattern with wildcards is that of a file.
    if rest.isEmpty, !isPlain { return false }
    if isLink, Self.hasWildcard(name) { return false }
    return Self.matches(name, part) && reaches(rest, parts.dropFirst(), links)
  }

  package static func hasWildcard(_ name: String) -> Bool {
    name.utf8.contains { byte in
      byte == UInt8(ascii: "*") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "[")
    }
  }

  /// Names that begin with a dot are matched only by a pattern that has the dot.
  package static func matches(_ pattern: String, _ name: String) -> Bool {
    fnmatch(pattern, name, FNM_PERIOD) == 0
  }

  /// The same for a name that need not be text.
  package static func matches(_ pattern: String, _ name: FileName) -> Bool {
    fnmatch(pattern, name.bytes, FNM_PERIOD) == 0
  }
}
