// Finds files by pattern; `FilePattern` decides what matches.

import Caching
import Glibc
import RunFiles

/// The regular files that match any of the patterns, sorted bytewise, each once. Paths are like the
/// patterns: below the directory where oprun was started, or absolute. Links to directories are not
/// followed. Names need not be text.
func files(matching patterns: [String]) -> [FileName] { FileSearch().files(matching: patterns) }

/// Where files are looked for, and which are found.
struct FileSearch {
  /// The directory that patterns begin in; "" for that in which oprun was started.
  var folder = ""
  /// True if inputs of a cached step are found: patterns lead through links to directories, and a
  /// link to a directory that matches is among the results, for all that is in the directory.
  var findsInputs = false
  /// Files that are found all the same, but hide nothing else.
  var excluded: [FilePattern] = []
  /// A directory, without links in its path, that is not searched.
  var closed: String?
  /// The search ends once more files than these are found.
  var most = Int.max

  /// All files whose paths match one of the patterns, sorted by their bytes.
  func files(matching patterns: [String]) -> [FileName] {
    var found: Set<FileName> = []
    for pattern in patterns {
      let pattern = FilePattern(pattern)
      if found.count > most { break }
      var search = GlobSearch(
        names: pattern.names, followsLinks: findsInputs, closed: closed
      ) { path in
        excluded.map { $0.places(after: path, below: folder) }
      }
      search.most = most
      let start = pattern.isAbsolute ? "/" : folder.isEmpty ? "" : folder + "/"
      search.visit(start.characters, from: 0)
      found.formUnion(search.found)
    }
    return found.sorted { $0.precedes($1) }
  }
}

private struct GlobSearch {
  /// A part of the pattern, and the directory in which it was looked for.
  private struct Visit: Hashable {
    let path: [CChar]
    let index: Int
  }

  /// A directory behind a link. It is looked through once: links may form a cycle. With other exclusions, which
  /// depend on its path, it counts as another one.
  private struct Linked: Hashable {
    let device: UInt
    let number: UInt
    let index: Int
    let exclusions: [[Int]]
  }

  let names: [PatternName]
  let followsLinks: Bool
  /// The number of files after which the search ends.
  var most = Int.max
  private let closed: (path: String, identity: FileIdentity?)?
  private let exclusions: (String) -> [[Int]]
  private(set) var found: [FileName] = []
  private var visited: Set<Visit> = []
  private var linked: Set<Linked> = []

  init(
    names: [PatternName], followsLinks: Bool, closed: String?,
    exclusions: @escaping (String) -> [[Int]]
  ) {
    self.names = names
    self.followsLinks = followsLinks
    self.closed = closed.map { ($0, FileIdentity(at: $0)) }
    self.exclusions = exclusions
  }

  /// Visits a directory. `path` ends in a slash or is empty, and has no NUL; `index` is that of the next part of
  /// the pattern. The recursion is as deep as directories are nested, which the length of paths
  /// limits.
  mutating func visit(_ path: [CChar], from index: Int) {
    guard found.count <= most, index < names.count,
      visited.insert(Visit(path: path, index: index)).inserted
    else { return }
    let name = names[index]
    if name.isDeep {
      visit(path, from: index + 1)
      let shown = entries(of: path).filter { $0.bytes.first != dot }
      for entry in shown where !enter(entry, in: path, from: index) {
        if index + 1 == names.count { take([entry], in: path) }
      }
    } else if index + 1 == names.count {
      let candidates =
        name.isLiteral
        ? [FileName(joining: name.text.characters)]
        : entries(of: path).filter { name.matches($0) }
      take(candidates, in: path)
    } else if name.isLiteral {
      visit(path + name.text.characters + [slash], from: index + 1)
    } else {
      for entry in entries(of: path) where name.matches(entry) {
        _ = enter(entry, in: path, from: index + 1)
      }
    }
  }

  /// Enters a directory; false for anything that is not searched.
  private mutating func enter(_ entry: FileName, in path: [CChar], from index: Int) -> Bool {
    let inner = FileName(joining: path, entry.characters)
    if kind(of: inner) != S_IFDIR {
      guard let target = folder(behind: inner) else { return false }
      let linked = Linked(
        device: UInt(target.st_dev), number: UInt(target.st_ino), index: index,
        exclusions: exclusions(inner.lossy))
      guard self.linked.insert(linked).inserted else { return false }
    }
    visit(path + entry.characters + [slash], from: index)
    return true
  }

  private mutating func take(_ entries: [FileName], in path: [CChar]) {
    for entry in entries {
      if found.count > most { return }
      let file = FileName(joining: path, entry.characters)
      var status = stat()
      let isFile =
        stat(file.bytes, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        && (closed == nil || kind(of: file) != S_IFLNK || !isClosed(file))
      if isFile || folder(behind: file) != nil { found.append(file) }
    }
  }

  /// The kind of a file, or of a link itself; nil if there is none.
  private func kind(of path: FileName) -> mode_t? {
    var status = stat()
    return lstat(path.bytes, &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  /// The directory that a link leads to, if links are followed.
  private func folder(behind path: FileName) -> stat? {
    guard followsLinks, kind(of: path) == S_IFLNK else { return nil }
    var status = stat()
    guard stat(path.bytes, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, !isClosed(path)
    else { return nil }
    return status
  }

  /// True if the path is the directory that is not searched, or in it.
  private func isClosed(_ path: FileName) -> Bool {
    guard let closed, let real = realPath(path) else { return false }
    return real.hasSameBytes(as: closed.path) || real.isBelow(closed.path)
  }

  private func entries(of path: [CChar]) -> [FileName] {
    let here = path.isEmpty ? [dot, 0] : path + [0]
    let folder = open(here, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if folder < 0 { return [] }
    if let identity = closed?.identity, FileIdentity(of: folder) == identity {
      close(folder)
      return []
    }
    var names: [FileName] = []
    _ = forEachName(owning: folder) { names.append(FileName($0)) }
    // The choice among several links to a directory must not depend on the file system.
    return followsLinks ? names.sorted { $0.precedes($1) } : names
  }
}

private let dot = CChar(bitPattern: UInt8(ascii: "."))
private let slash = CChar(bitPattern: UInt8(ascii: "/"))

extension String {
  /// The bytes without a NUL at the end.
  fileprivate var characters: [CChar] { utf8.map { CChar(bitPattern: $0) } }
}

/// The path without links; nil if it leads to nothing.
func realPath(_ path: FileName) -> String? {
  guard let resolved = realpath(path.bytes, nil) else { return nil }
  defer { free(resolved) }
  return String(cString: resolved)
}
