// From the patterns of a confinement to paths that a kernel knows: what is there is found, and what a
// command will make is given a place. docs/confined-steps.md, “What a pattern opens”.

import Diagnostics
import Caching
import Glibc
import Plans
import RunFiles
import Running

struct ConfinementRules {
  private(set) var rules: [(path: String, access: RuleList.Access)] = []
  /// The rules for files whose names are no text.
  private(set) var oddRules: [(path: FileName, access: RuleList.Access)] = []
  private(set) var placeholders = Placeholders()
  private let workspace: String
  /// The state directory, which is no input, even if one is around it.
  private let state: String?

  /// `workspace` and `state` are without links. `places` are those of `confinement.writable`.
  init(
    _ confinement: Confinement, _ places: [WritablePlace], workspace: String, state: String? = nil
  ) {
    self.workspace = workspace
    self.state = state
    let folders = places.filter { $0.kind != .file }
    for place in places {
      if place.isFile(inAnyOf: folders) {
        place.makeFolder(&placeholders)
      } else {
        addWritable(place)
      }
    }
    for path in confinement.readable { rules.append((path, .reading)) }
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
    place.make(&placeholders)
    rules.append((place.path, place.kind == .file ? .wholeFile : .everything))
  }

  /// What lies behind links in a directory counts for inputs, but not for what a step before has made.
  private mutating func addReadable(_ set: Confinement.Patterns, isInput: Bool) {
    let excluded = Exclusions(
      patterns: set.patterns.filter { $0.hasPrefix("!") }.map {
        FilePattern(String($0.dropFirst()))
      },
      directory: set.directory)
    let patterns = set.patterns.filter { !$0.hasPrefix("!") }
    let plain = patterns.map { FilePattern($0) }.filter(\.isPlain).map { pattern in
      let path = pattern.fixedPath(in: set.directory)
      return FileName(path)
    }
    let wild = patterns.filter { !FilePattern($0).isPlain }
    let found = files(
      matching: wild, in: set.directory, asInputs: isInput, excluded: excluded.patterns,
      without: state)
    for path in plain + found {
      addTree(path, without: excluded, isInput: isInput)
    }
  }

  /// What is taken out of a set.
  private struct Exclusions {
    let patterns: [FilePattern]
    let directory: String

    func cover(_ path: String) -> Bool {
      patterns.contains { $0.covers(path, below: directory) }
    }

    /// Whether something in a directory may be excluded.
    func reach(into folder: String) -> Bool {
      patterns.contains { pattern in
        if pattern.isAbsolute { return pattern.reaches(into: folder) }
        if folder.hasSameBytes(as: directory) { return true }
        let prefix = directory + "/"
        guard folder.utf8.starts(with: prefix.utf8) else { return false }
        return pattern.reaches(into: String(Substring(folder.utf8.dropFirst(prefix.utf8.count))))
      }
    }
  }

  /// Adds a file, or what a directory holds except what is excluded and the state directory. `around` has the
  /// directories that it is in; links may lead back to them.
  private mutating func addTree(
    _ path: FileName, without excluded: Exclusions, isInput: Bool, around: [FileIdentity] = []
  ) {
    var status = stat()
    // Most are files, which hold nothing.
    if lstat(path.bytes, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      if !excluded.cover(path.lossy) { addReadable(path) }
      return
    }
    if excluded.cover(path.lossy) { return }
    if !isInput, status.st_mode & S_IFMT == S_IFLNK { return }
    guard excluded.reach(into: path.lossy) else {
      addOpen(path)
      if isInput { links(in: path, without: state, where: needsRule).forEach { addOpen($0) } }
      return
    }
    if isState(path) { return }
    let folder = open(path.bytes, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else {
      // What cannot be listed stays closed: it may hold what is excluded.
      if errno == ENOTDIR { addReadable(path) }
      return
    }
    let identity = FileIdentity(of: folder)
    var names: [FileName] = []
    _ = forEachName(owning: folder) { names.append(FileName($0)) }
    guard let identity, !around.contains(identity) else { return }
    for name in names {
      addTree(
        FileName(name, in: path), without: excluded, isInput: isInput, around: around + [identity])
    }
  }

  /// Adds a directory with everything in it, but without the state directory; or what is no directory.
  private mutating func addOpen(_ path: FileName) {
    guard let state, let real = realPath(path),
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
    return realPath(path)?.hasSameBytes(as: state) == true
  }

  /// Whether a link leads to something in the workspace, but not to the state directory. What is elsewhere is open.
  private func needsRule(_ link: FileName) -> Bool {
    guard let real = realPath(link),
      workspace.hasSameBytes(as: real) || real.isBelow(workspace)
    else { return false }
    return state.map { !$0.hasSameBytes(as: real) && !real.isBelow($0) } ?? true
  }

  private mutating func addReadable(_ file: FileName) {
    if let path = file.text {
      rules.append((path, .reading))
    } else {
      oddRules.append((file, .reading))
    }
  }
}
