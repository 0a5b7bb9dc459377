// From the patterns of a confinement to paths that a kernel knows: what is there is found, and what a
// command will make is given a place. docs/confined-steps.md, “What a pattern opens”.

import Caching
import Glibc
import Plans
import RunFiles
import Running

struct ConfinementRules {
  private(set) var rules: [(path: String, access: RuleList.Access)] = []
  /// The same for files whose names are no text.
  private(set) var oddRules: [(path: FileName, access: RuleList.Access)] = []
  private(set) var placeholders = Placeholders()
  /// The state directory, which is no input, even if one is around it.
  private let state: String?

  init(_ confinement: Confinement, state: String? = nil) {
    self.state = state.flatMap(Self.realPath)
    for pattern in confinement.writable.patterns {
      addWritable(WritablePlace(pattern, in: confinement.writable.directory))
    }
    for path in confinement.madeBefore { rules.append((path, .reading)) }
    for set in confinement.outputsBefore { addReadable(set, isInput: false) }
    addReadable(confinement.inputs, isInput: true)
  }

  /// A file that the command may write although no pattern names it.
  mutating func addFile(_ path: String) {
    placeholders.addFile(path)
    rules.append((path, .wholeFile))
  }

  mutating func mark() { placeholders.mark() }

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
    let plain = patterns.map { FilePattern($0) }.filter(\.isPlain).map { pattern in
      let path = pattern.fixedPath(in: set.directory)
      return FileName(path)
    }
    let wild = patterns.filter { !FilePattern($0).isPlain }
    let found = files(
      matching: wild, in: set.directory, asInputs: isInput, excluded: excluded)
    for path in plain + found {
      if excluded.isEmpty {
        addOpen(path)
        if isInput { links(in: path).filter { !isOfState($0) }.forEach { addReadable($0) } }
      } else {
        addTree(path, isExcluded)
      }
    }
  }

  /// Adds a file or a directory with everything in it, but without the state directory.
  private mutating func addOpen(_ path: FileName) {
    guard let state, let text = path.text, let real = Self.realPath(text),
      state.hasSameBytes(as: real) || state.isBelow(real)
    else { return addReadable(path) }
    if state.hasSameBytes(as: real) { return }
    let folder = open(path.bytes, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if folder < 0 { return }
    var names: [FileName] = []
    _ = forEachName(owning: folder) { names.append(FileName($0)) }
    for name in names {
      let inner = FileName(name, in: path)
      let place = name.text.map { joined(real, $0) } ?? ""
      if state.hasSameBytes(as: place) || state.isBelow(place) {
        addOpen(inner)
      } else {
        addReadable(inner)
      }
    }
  }

  private func isState(_ path: FileName) -> Bool {
    guard let state, let text = path.text, let name = state.split(separator: "/").last,
      text.hasSuffix(name)
    else { return false }
    return Self.realPath(text)?.hasSameBytes(as: state) == true
  }

  private func isOfState(_ path: FileName) -> Bool {
    guard let state, let real = path.text.flatMap(Self.realPath) else { return false }
    return state.hasSameBytes(as: real) || real.isBelow(state)
  }

  private static func realPath(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
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
    if isExcluded(path.lossy) || isState(path) { return }
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
}
