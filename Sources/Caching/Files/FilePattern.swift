// The patterns of `cache` and of `hashFiles`: `*`, `?` and `[…]` within a name (`NamePattern`), `**` for any directories.

import Diagnostics
import Glibc
package import RunFiles

/// One name of a pattern.
package struct PatternName: Hashable {
  enum Kind { case literal, wildcard, anyFolders }

  /// The pattern as it was written, or the name itself if it is literal.
  package let text: String
  let kind: Kind
  /// Nil unless it has wildcards.
  private let pattern: NamePattern?

  package var isLiteral: Bool { kind == .literal }
  /// True for `**`.
  package var isDeep: Bool { kind == .anyFolders }

  /// A name as it is written in a pattern. `[[]`, `[*]`, `[?]` and `[{]` stand for one character each, so a name with
  /// no other wildcards is literal.
  init(_ text: String) {
    if !NamePattern.hasSigns(text) {
      (self.text, kind, pattern) = (text, .literal, nil)
    } else if let literal = Self.unescaped(text) {
      (self.text, kind, pattern) = (literal, .literal, nil)
    } else if text == "**" {
      (self.text, kind, pattern) = (text, .anyFolders, nil)
    } else {
      (self.text, kind, pattern) = (text, .wildcard, NamePattern(text))
    }
  }

  /// The name of a directory, in which nothing is a wildcard.
  init(literal text: String) { (self.text, kind, pattern) = (text, .literal, nil) }

  /// Nil if it has a wildcard.
  private static func unescaped(_ text: String) -> String? {
    var rest = text.utf8[...]
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      guard FilePattern.signs.contains(byte) else {
        bytes.append(byte)
        continue
      }
      guard byte == UInt8(ascii: "["), let sign = rest.popFirst(), "*?[{".utf8.contains(sign),
        rest.popFirst() == UInt8(ascii: "]")
      else { return nil }
      bytes.append(sign)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Names that begin with a dot are matched only by a pattern that has the dot.
  package func matches(_ name: String) -> Bool {
    switch kind {
    case .literal: text.hasSameBytes(as: name)
    case .wildcard: pattern?.matches(name) == true
    case .anyFolders: !name.isHidden
    }
  }

  /// The same for a name that need not be text.
  package func matches(_ name: FileName) -> Bool {
    switch kind {
    case .literal: name.text?.hasSameBytes(as: text) == true
    case .wildcard:
      name.bytes.withUnsafeBytes { bytes in
        pattern?.matches(UnsafeRawBufferPointer(rebasing: bytes.dropLast())) == true
      }
    case .anyFolders: name.bytes.first != CChar(bitPattern: UInt8(ascii: "."))
    }
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.kind == right.kind && left.text.hasSameBytes(as: right.text)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combineBytes(of: text)
  }
}

extension String {
  fileprivate var isHidden: Bool { utf8.first == UInt8(ascii: ".") }
}

/// A pattern in its parts.
package struct FilePattern: Hashable {
  /// The names; `.` and empty ones are left out.
  package let names: [PatternName]
  package let isAbsolute: Bool
  /// True if it is the path of one file or directory.
  package let isPlain: Bool

  package init(_ text: String) {
    self.init(Self.names(of: text), isAbsolute: Self.isAbsolute(text))
  }

  /// A pattern as an absolute one. A relative pattern starts at the directory, which is absolute, too, and has no
  /// wildcards, whatever its name is; `..` takes the name before it away.
  package init(_ text: String, below directory: String) {
    let start = Self.isAbsolute(text) ? "" : directory
    self.init(resolving: Self.literalNames(of: start) + Self.names(of: text))
  }

  /// The path of a file, in which nothing is a wildcard, as an absolute one.
  package init(path: String, below directory: String) {
    let start = Self.isAbsolute(path) ? "" : directory
    self.init(resolving: Self.literalNames(of: start) + Self.literalNames(of: path))
  }

  private init(resolving all: [PatternName]) {
    var names: [PatternName] = []
    for name in all {
      if name.text == ".." { _ = names.popLast() } else { names.append(name) }
    }
    self.init(names, isAbsolute: true)
  }

  private init(_ names: [PatternName], isAbsolute: Bool) {
    self.names = names
    self.isAbsolute = isAbsolute
    isPlain = names.allSatisfy(\.isLiteral)
  }

  /// The path that it is, or the one of the directory that all matches are in; "." for the directory that
  /// it is relative to.
  package var fixedPath: String {
    let fixed = isPlain ? names[...] : names.prefix(while: \.isLiteral)
    let path = fixed.map(\.text).joined(separator: "/")
    return isAbsolute ? "/" + path : path.isEmpty ? "." : path
  }

  /// The same for a pattern that may be relative to this directory.
  package func fixedPath(in directory: String) -> String {
    let path = fixedPath
    return isAbsolute ? path : path == "." ? directory : "\(directory)/\(path)"
  }

  /// Its text, in which nothing is a wildcard: for paths.
  package var path: String {
    (isAbsolute ? "/" : "") + names.map(\.text).joined(separator: "/")
  }

  /// A path as a pattern that finds nothing else.
  package static func escaped(_ path: String) -> String {
    guard NamePattern.hasSigns(path) else { return path }
    var bytes: [UInt8] = []
    for byte in path.utf8 {
      bytes += signs.contains(byte) ? [UInt8(ascii: "["), byte, UInt8(ascii: "]")] : [byte]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isAbsolute(_ path: String) -> Bool { path.utf8.first == UInt8(ascii: "/") }

  private static func parts(of path: String) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }.filter { $0 != "." }
  }

  private static func literalNames(of path: String) -> [PatternName] {
    parts(of: path).map { PatternName(literal: $0) }
  }

  /// Several `**` in a row are one.
  private static func names(of text: String) -> [PatternName] {
    var names: [PatternName] = []
    for name in parts(of: text).map({ PatternName($0) })
    where !name.isDeep || names.last?.isDeep != true { names.append(name) }
    return names
  }

  fileprivate static let signs = Array("*?[".utf8)

  package static func hasWildcard(_ name: String) -> Bool { !PatternName(name).isLiteral }
}

// MARK: Matching

/// Each of these goes through a path once, with all places in the pattern at which it may be: several `**` cost no
/// more than the product of both lengths.
extension FilePattern {
  /// Whether the path, or a directory that it is in, matches.
  package func covers(_ path: String) -> Bool { places(after: path).last == names.count }

  /// Whether it covers an absolute path. A relative pattern starts at the directory.
  package func covers(_ path: String, below directory: String) -> Bool {
    places(after: path, below: directory).last == names.count
  }

  /// The places in the pattern that a path leads to. In directories with the same places, it covers the same names.
  package func places(after path: String) -> [Int] {
    guard Self.isAbsolute(path) == isAbsolute else { return [] }
    var places = self.places(from: [0])
    for part in Self.parts(of: path) {
      if places.isEmpty || places.last == names.count { break }
      places = advanced(places) { name in name.isDeep || name.matches(part) }
    }
    return places.last == names.count ? [names.count] : places
  }

  /// The same for an absolute path. A relative pattern starts at the directory.
  package func places(after path: String, below directory: String) -> [Int] {
    if isAbsolute { return places(after: path) }
    guard path.utf8.starts(with: (directory + "/").utf8) else { return [] }
    return places(after: String(Substring(path.utf8.dropFirst(directory.utf8.count + 1))))
  }

  /// Whether it finds a file of that path, if there is one: a path finds everything in a directory, a
  /// pattern with wildcards finds only what it matches itself.
  package func finds(_ path: String) -> Bool {
    if isPlain { return covers(path) }
    guard Self.isAbsolute(path) == isAbsolute else { return false }
    var places = self.places(from: [0])
    for part in Self.parts(of: path) {
      places = advanced(places) { $0.matches(part) }
      if places.isEmpty { return false }
    }
    return places.last == names.count
  }

  /// Whether it may find something in a directory of that path, or in one that is in it. Wildcards find nothing behind
  /// links; `links` are the numbers of the names in the path that are those of links.
  package func reaches(into folder: String, through links: Set<Int> = []) -> Bool {
    guard Self.isAbsolute(folder) == isAbsolute else { return false }
    var places = self.places(from: [0])
    let parts = Self.parts(of: folder)
    for (number, part) in parts.enumerated() {
      if places.last == names.count { return isPlain && links.allSatisfy { $0 < number } }
      let isLink = links.contains(number)
      places = advanced(places) { name in
        (name.isLiteral || !isLink) && name.matches(part)
      }
      // The last name of a pattern with wildcards is that of a file.
      if !isPlain, places.last == names.count { places.removeLast() }
      if places.isEmpty { return false }
    }
    return true
  }

  /// The places, with those behind `**`, which stands for no directory as well, unless it is the last name.
  private func places(from places: [Int]) -> [Int] {
    var result: [Int] = []
    for place in places {
      var place = place
      if result.last.map({ $0 < place }) != false { result.append(place) }
      while place + 1 < names.count, names[place].isDeep {
        place += 1
        if result.last.map({ $0 < place }) != false { result.append(place) }
      }
    }
    return result
  }

  /// The places after one more name, in their order.
  private func advanced(_ places: [Int], _ accepts: (PatternName) -> Bool) -> [Int] {
    var result: [Int] = []
    for place in places where place < names.count && accepts(names[place]) {
      if names[place].isDeep, result.last != place { result.append(place) }
      if !names[place].isDeep || place + 1 == names.count { result.append(place + 1) }
    }
    return self.places(from: result)
  }
}
