// The paths that a step declares in `cache`, as planning can compare them: by their text alone.
// Only a run knows whether files exist, and where links lead.

import Diagnostics
import Expressions
import Plans

/// The target of a declared path without wildcards.
enum DeclaredPlace {
  /// A path below the directory that oprun is started in, or an absolute path elsewhere.
  case path(ExactText)
  case outside
  /// The path leads out of that directory and perhaps back, and the name of the directory is not known.
  case unknown
}

/// Resolves paths against the directory that oprun is started in, whose path may be unknown.
struct DeclaredPaths {
  private let workspace: [Substring]?

  init(workspace: String?) { self.workspace = workspace.map { $0.split(separator: "/") } }

  /// The path of one file or directory; nil for a pattern with wildcards.
  func plain(_ pattern: String, in directory: String?) -> ExactText? {
    var copy = pattern
    if copy.withUTF8({ $0.contains(where: isWildcard) }) { return nil }
    if directory == nil, pattern.goesDown { return ExactText(text: pattern) }
    guard case .path(let path) = place(of: pattern, in: directory) else { return nil }
    return path
  }

  /// The path of a pattern with wildcards, whose text alone tells whether it equals another one;
  /// nil for a path without.
  func wild(_ pattern: String, in directory: String?) -> ExactText? {
    var copy = pattern
    guard copy.withUTF8({ $0.contains(where: isWildcard) }) else { return nil }
    if directory == nil, pattern.goesDown { return ExactText(text: pattern) }
    guard case .path(let path) = place(of: pattern, in: directory) else { return nil }
    return path
  }

  /// True if a pattern of a step in a relative directory leads out of the directory that oprun is started in.
  func isOutside(_ pattern: String, in directory: String?) -> Bool {
    if directory == nil, pattern.goesDown { return false }
    guard directory?.hasPrefix("/") != true, case .outside = place(of: pattern, in: directory)
    else { return false }
    return true
  }

  private func place(of pattern: String, in directory: String?) -> DeclaredPlace {
    let whole = joined(directory, pattern)
    let isAbsolute = whole.hasPrefix("/")
    var names = isAbsolute ? [] : workspace ?? []
    for name in whole.split(separator: "/") where name != "." {
      guard name == ".." else {
        names.append(name)
        continue
      }
      if names.popLast() == nil, workspace == nil, !isAbsolute { return .unknown }
    }
    let start = isAbsolute && workspace == nil ? nil : workspace ?? []
    guard let start, names.starts(with: start, by: { $0.utf8.elementsEqual($1.utf8) }),
      names.count > start.count
    else {
      return isAbsolute
        ? .path(ExactText(text: "/" + names.joined(separator: "/"))) : .outside
    }
    return .path(ExactText(text: names.dropFirst(start.count).joined(separator: "/")))
  }
}

/// The files that a declared output may contain and another step may make: all files in a
/// directory, or all matches of wildcards.
struct DeclaredSpace {
  private let names: [(text: String, pattern: NamePattern)]
  /// The text with which all paths in it begin.
  let beginning: String

  /// Makes the space of a pattern; `path` is its path as planning compares it.
  init(_ path: ExactText) {
    names = path.text.split(separator: "/").map(String.init).map { ($0, NamePattern($0)) }
    let fixed = path.text.partBeforeWildcards
    beginning = fixed.utf8.count == path.text.utf8.count ? fixed + "/" : fixed
  }

  /// True if the path, or a directory around it, matches. Each name that is examined takes one from
  /// `budget`; when nothing is left, nothing matches. Complexity: the names of the pattern times
  /// those of the path.
  func covers(_ path: ExactText, budget: inout Int) -> Bool {
    let path = path.text.split(separator: "/").map(String.init)
    budget -= path.count
    var (own, other) = (0, 0)
    // The part after the last `**` may be anywhere: if it does not match here, it is tried one name
    // further. An earlier `**` need not be tried again, because the last one matches whatever it
    // could.
    var afterLast: (own: Int, other: Int)?
    while own < names.count {
      budget -= 1
      if budget <= 0 { return false }
      if names[own].text == "**" {
        own += 1
        if own == names.count { return other < path.count && !path[other].hasPrefix(".") }
        afterLast = (own, other)
      } else if other < path.count, names[own].pattern.matches(path[other]) {
        (own, other) = (own + 1, other + 1)
      } else {
        guard let last = afterLast, last.other < path.count, !path[last.other].hasPrefix(".")
        else { return false }
        afterLast = (last.own, last.other + 1)
        (own, other) = (last.own, last.other + 1)
      }
    }
    return true
  }
}

private func isWildcard(_ byte: UInt8) -> Bool {
  byte == UInt8(ascii: "*") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "[")
}

extension ExactText {
  /// The directory around a path; nil if it has no name.
  var folder: ExactText? {
    text.utf8.lastIndex(of: UInt8(ascii: "/")).map { ExactText(text: String(text[..<$0])) }
  }
}

extension String {
  /// The part before the first wildcard.
  var partBeforeWildcards: String {
    String(Substring(utf8.prefix { !isWildcard($0) }))
  }
}
