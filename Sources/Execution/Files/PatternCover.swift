// Whether a pattern of `cache` covers a path, without looking whether anything is there.

import Glibc

/// A pattern that stands for what it matches, and for everything in directories that it matches.
package struct PatternCover {
  private let names: [Substring]
  private let isAbsolute: Bool

  package init(_ pattern: Substring) {
    names = pattern.split(separator: "/").filter { $0 != "." }
    isAbsolute = pattern.hasPrefix("/")
  }

  /// Whether it covers an absolute path. A relative pattern starts at the directory.
  package func covers(_ path: String, below directory: String) -> Bool {
    if !isAbsolute, !path.hasPrefix(directory + "/") { return false }
    let path = isAbsolute ? path[...] : path.dropFirst(directory.count)
    let parts = path.split(separator: "/").filter { $0 != "." }
    return matches(names[...], parts[...])
  }

  private func matches(_ pattern: ArraySlice<Substring>, _ parts: ArraySlice<Substring>) -> Bool {
    guard let first = pattern.first else { return true }
    if first == "**" {
      let rest = pattern.dropFirst()
      return rest.isEmpty ? !parts.isEmpty : parts.indices.contains { matches(rest, parts[$0...]) }
    }
    guard let part = parts.first, fnmatch(String(first), String(part), FNM_PERIOD) == 0 else {
      return false
    }
    return matches(pattern.dropFirst(), parts.dropFirst())
  }
}
