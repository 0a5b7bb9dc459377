// From the patterns of a confinement to paths that a kernel knows: what is there is found, and what a
// command will make is given a place. docs/confined-steps.md, “What a pattern opens”.

import Caching
import Glibc
import RunFiles
import Running

struct ConfinementRules {
  private(set) var rules: [(path: String, access: RuleList.Access)] = []
  /// The same for files whose names are no text.
  private(set) var oddRules: [(path: FileName, access: RuleList.Access)] = []
  private(set) var placeholders = Placeholders()
  /// A pattern that opens the workspace as a whole, which leaves nothing to confine; nil without one.
  private(set) var widest: String?
  private let workspace: String

  init(_ confinement: Confinement, workspace: String) {
    self.workspace = workspace
    for pattern in confinement.writable.patterns {
      addWritable(pattern, in: confinement.writable.directory)
    }
    if widest != nil { return }
    for set in confinement.readable { addReadable(set) }
  }

  /// A file that the command may write although no pattern names it.
  mutating func addFile(_ path: String) {
    placeholders.addFile(path)
    rules.append((path, .wholeFile))
  }

  func mark() { placeholders.mark() }

  mutating func addFolder(_ path: String) { rules.append((path, .everything)) }

  /// A path without wildcards is one file, if it is not a directory; anything else needs a directory in
  /// which files can be made.
  private mutating func addWritable(_ pattern: String, in directory: String) {
    let path = absolute(pattern, in: directory)
    let names = path.split(separator: "/")
    let fixed = names.prefix { !hasWildcard($0) }
    let place = "/" + fixed.joined(separator: "/")
    if fixed.count == names.count, !pattern.hasSuffix("/"), kind(of: place) != S_IFDIR {
      placeholders.makeFolder("/" + fixed.dropLast().joined(separator: "/"))
      return addFile(place)
    }
    if fixed.count == names.count {
      placeholders.addFolder(place)
    } else {
      placeholders.makeFolder(place)
    }
    if contains(place, workspace) { widest = pattern }
    rules.append((place, .everything))
  }

  private mutating func addReadable(_ set: Confinement.Patterns) {
    let excluded = set.patterns.filter { $0.hasPrefix("!") }.map {
      FilePattern(String($0.dropFirst()))
    }
    let isExcluded = { (path: String) in
      excluded.contains { $0.covers(path, below: set.directory) }
    }
    let patterns = set.patterns.filter { !$0.hasPrefix("!") }
    for pattern in patterns where !hasWildcard(pattern[...]) {
      let path = absolute(pattern, in: set.directory)
      if excluded.isEmpty {
        rules.append((path, .reading))
      } else {
        addTree(FileName(path), isExcluded)
      }
    }
    let wild = patterns.filter { hasWildcard($0[...]) }
    for file in files(matching: wild, in: set.directory) where !isExcluded(file.lossy) {
      addReadable(file)
    }
  }

  private mutating func addReadable(_ file: FileName) {
    if let path = file.text {
      rules.append((path, .reading))
    } else {
      oddRules.append((file, .reading))
    }
  }

  /// Adds a file, or what a directory holds except what is excluded.
  private mutating func addTree(_ path: FileName, _ isExcluded: (String) -> Bool) {
    if isExcluded(path.lossy) { return }
    let folder = open(path.bytes, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard folder >= 0 else {
      // What cannot be listed stays closed: it may hold what is excluded.
      if errno == ENOTDIR || errno == ELOOP { addReadable(path) }
      return
    }
    var names: [FileName] = []
    _ = forEachName(owning: folder) { names.append(FileName($0)) }
    let slash = CChar(bitPattern: UInt8(ascii: "/"))
    for name in names {
      addTree(FileName(joining: path.characters, [slash], name.characters), isExcluded)
    }
  }

  private func absolute(_ pattern: String, in directory: String) -> String {
    pattern.hasPrefix("/") ? pattern : "\(directory)/\(pattern)"
  }

  /// True if the workspace is the place, or is in it.
  private func contains(_ place: String, _ workspace: String) -> Bool {
    guard let real = realpath(place, nil) else { return false }
    defer { free(real) }
    let place = String(cString: real)
    return place.hasSameBytes(as: workspace) || workspace.isBelow(place)
  }
}

private func hasWildcard(_ text: Substring) -> Bool {
  text.utf8.contains { "*?[".utf8.contains($0) }
}

private func kind(of path: String) -> mode_t? {
  var status = stat()
  return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
}
