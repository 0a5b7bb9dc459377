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

  init(_ confinement: Confinement) {
    for pattern in confinement.writable.patterns {
      addWritable(WritablePlace(pattern, in: confinement.writable.directory))
    }
    for set in confinement.outputsBefore { addReadable(set, isInput: false) }
    addReadable(confinement.inputs, isInput: true)
  }

  /// A file that the command may write although no pattern names it.
  mutating func addFile(_ path: String) {
    placeholders.addFile(path)
    rules.append((path, .wholeFile))
  }

  func mark() { placeholders.mark() }

  mutating func addFolder(_ path: String) { rules.append((path, .everything)) }

  private mutating func addWritable(_ place: WritablePlace) {
    place.makeFolder(&placeholders)
    switch place.kind {
    case .file: addFile(place.path)
    case .folder, .surroundings: addFolder(place.path)
    }
  }

  /// What lies behind links in a directory counts for inputs, but not for what a step before has made.
  private mutating func addReadable(_ set: Confinement.Patterns, isInput: Bool) {
    let excluded = set.patterns.filter { $0.hasPrefix("!") }.map {
      FilePattern(String($0.dropFirst()))
    }
    let isExcluded = { (path: String) in
      excluded.contains { $0.covers(path, below: set.directory) }
    }
    let patterns = set.patterns.filter { !$0.hasPrefix("!") }
    let plain = patterns.filter { !hasWildcard($0[...]) }.map {
      FileName(absolute($0, in: set.directory))
    }
    let wild = patterns.filter { hasWildcard($0[...]) }
    for path in plain + files(matching: wild, in: set.directory, asInputs: isInput) {
      if excluded.isEmpty {
        addReadable(path)
        if isInput { links(in: path).forEach { addReadable($0) } }
      } else {
        addTree(path, isExcluded)
      }
    }
  }

  private mutating func addReadable(_ file: FileName) {
    if let path = file.text {
      rules.append((path, .reading))
    } else {
      oddRules.append((file, .reading))
    }
  }

  /// Adds a file, or what a directory holds except what is excluded. `around` has the directories that it is
  /// in; links may lead back to them.
  private mutating func addTree(
    _ path: FileName, _ isExcluded: (String) -> Bool, around: [FolderIdentity] = []
  ) {
    if isExcluded(path.lossy) { return }
    let folder = open(path.bytes, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else {
      // What cannot be listed stays closed: it may hold what is excluded.
      if errno == ENOTDIR { addReadable(path) }
      return
    }
    let identity = FolderIdentity(of: folder)
    var names: [FileName] = []
    _ = forEachName(owning: folder) { names.append(FileName($0)) }
    guard let identity, !around.contains(identity) else { return }
    for name in names {
      addTree(FileName(name, in: path), isExcluded, around: around + [identity])
    }
  }

  private func absolute(_ pattern: String, in directory: String) -> String {
    pattern.hasPrefix("/") ? pattern : "\(directory)/\(pattern)"
  }
}
