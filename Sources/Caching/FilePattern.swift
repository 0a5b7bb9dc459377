// The patterns of `cache`: `*`, `?` and `[…]` within a name, `**` for any directories.

import Glibc

/// A pattern in its parts.
package struct FilePattern: Hashable {
  /// The names; `.` and empty ones are left out.
  package let names: [String]
  package let isAbsolute: Bool

  package init(_ text: String) {
    isAbsolute = text.hasPrefix("/")
    names = text.split(separator: "/").map(String.init).filter { $0 != "." }
  }

  /// True if it is the path of one file or directory.
  package var isPlain: Bool { !names.contains(where: Self.hasWildcard) }

  /// The path that it is, or the one of the directory that all matches are in; "." for the directory that
  /// it is relative to.
  package var fixedPath: String {
    let fixed = isPlain ? names[...] : names.prefix { !Self.hasWildcard($0) }
    let path = fixed.joined(separator: "/")
    return isAbsolute ? "/" + path : path.isEmpty ? "." : path
  }

  /// Whether the path, or a directory that it is in, matches.
  func covers(_ path: String) -> Bool {
    guard path.hasPrefix("/") == isAbsolute else { return false }
    let parts = path.split(separator: "/").map(String.init)
    return matches(names[...], parts[...])
  }

  private func matches(_ pattern: ArraySlice<String>, _ parts: ArraySlice<String>) -> Bool {
    guard let first = pattern.first else { return true }
    if first == "**" {
      let rest = pattern.dropFirst()
      if rest.isEmpty { return !parts.isEmpty }
      return parts.indices.contains { matches(rest, parts[$0...]) }
    }
    guard let part = parts.first, Self.matches(first, part) else { return false }
    return matches(pattern.dropFirst(), parts.dropFirst())
  }

  static func hasWildcard(_ name: String) -> Bool {
    name.utf8.contains { byte in
      byte == UInt8(ascii: "*") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "[")
    }
  }

  /// Names that begin with a dot are matched only by a pattern that has the dot.
  static func matches(_ pattern: String, _ name: String) -> Bool {
    fnmatch(pattern, name, FNM_PERIOD) == 0
  }
}
