// Finds the files that a confined command can read, by patterns, where nobody has looked for them
// yet. They may be any number, so this is not done in the loop. docs/confined-steps.md, “What a
// pattern opens”.

import Caching
import Diagnostics
import Glibc
import Plans
import RunFiles
import Running

struct ReadableFiles {
  /// The largest number of files that one command is given. The kernel keeps a rule and an inode
  /// for each in memory, and the loop opens each of them.
  static let most = 250_000

  private var paths: [FileName] = []
  private let most: Int
  private let workspace: String
  /// The state directory, which is not an input, even if an input contains it.
  private let state: String?

  /// The files that the patterns of a confinement name, and directories with everything in them. `workspace` and `state` are
  /// without links. Nil if there are more than `most`.
  static func found(
    by confinement: Confinement, workspace: String, state: String?, most: Int = most
  ) -> [FileName]? {
    var files = ReadableFiles(workspace: workspace, state: state, most: most)
    for set in confinement.outputsBefore { files.add(set, isInput: false) }
    files.add(confinement.inputs, isInput: true)
    return files.areTooMany ? nil : files.paths
  }

  private init(workspace: String, state: String?, most: Int) {
    self.workspace = workspace
    self.state = state
    self.most = most
  }

  private var areTooMany: Bool { paths.count > most }

  /// Links in a directory are followed for inputs, but not for outputs of earlier steps.
  private mutating func add(_ set: Confinement.Patterns, isInput: Bool) {
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
    let search = FileSearch(
      folder: set.directory, findsInputs: isInput, excluded: excluded.patterns, closed: state,
      most: most)
    for path in plain + search.files(matching: wild) {
      if areTooMany { return }
      addTree(path, without: excluded, isInput: isInput)
    }
  }

  /// The excluding patterns of a set.
  private struct Exclusions {
    let patterns: [FilePattern]
    let directory: String

    func cover(_ path: String) -> Bool {
      patterns.contains { $0.covers(path, below: directory) }
    }

    /// True if something in a directory may be excluded.
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

  /// Adds a file, or the content of a directory without what is excluded and the state directory.
  /// `around` are the directories that contain it; links may lead back to them.
  private mutating func addTree(
    _ path: FileName, without excluded: Exclusions, isInput: Bool, around: [FileIdentity] = []
  ) {
    var status = stat()
    // Most are files, which contain nothing.
    if lstat(path.bytes, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      if !excluded.cover(path.lossy) { paths.append(path) }
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
      // A directory that cannot be listed stays closed: it may contain what is excluded.
      if errno == ENOTDIR { paths.append(path) }
      return
    }
    let identity = FileIdentity(of: folder)
    var names: [FileName] = []
    _ = forEachName(owning: folder) { names.append(FileName($0)) }
    guard let identity, !around.contains(identity) else { return }
    for name in names {
      if areTooMany { return }
      addTree(
        FileName(name, in: path), without: excluded, isInput: isInput, around: around + [identity])
    }
  }

  /// Adds a directory with everything in it except the state directory; or anything that is not a directory.
  private mutating func addOpen(_ path: FileName) {
    guard let state, let real = realPath(path),
      state.hasSameBytes(as: real) || state.isBelow(real)
    else { return paths.append(path) }
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
        paths.append(inner)
      }
    }
  }

  private func isState(_ path: FileName) -> Bool {
    guard let state, let text = path.text, let name = state.split(separator: "/").last,
      text.hasSuffix(name)
    else { return false }
    return realPath(path)?.hasSameBytes(as: state) == true
  }

  /// True if a link leads to something in the workspace, but not to the state directory. Everything
  /// outside the workspace is open.
  private func needsRule(_ link: FileName) -> Bool {
    guard let real = realPath(link),
      workspace.hasSameBytes(as: real) || real.isBelow(workspace)
    else { return false }
    return state.map { !$0.hasSameBytes(as: real) && !real.isBelow($0) } ?? true
  }
}
