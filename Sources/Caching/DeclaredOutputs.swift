// What the steps of a pipeline name as their outputs. A file that one step names belongs to another one, whose directory it
// is in or whose wildcard it matches, only if that one has written it itself.

import Glibc
package import Plans

/// The outputs without wildcards of many steps, sorted, as absolute paths.
struct DeclaredOutputs {
  private var paths: [String] = []
  private let workspace: String

  /// Late outputs are not among them until they are known.
  init(of steps: [PlannedStep], below workspace: String) {
    self.workspace = workspace
    for step in steps {
      guard let cache = step.settings.cache else { continue }
      let late = (step.late?.parts.expansion?.parts ?? step.late?.parts)?.settings
      guard late?.workingDirectory.isEmpty != false else { continue }
      let outputs = late?.cache.map { $0.outputs.compactMap(\.plain) } ?? cache.outputs
      paths += outputs.compactMap { path(of: $0, in: step.settings.workingDirectory) }
    }
    paths.sort { $0.precedesByBytes($1) }
  }

  mutating func insert(_ settings: StepSettings) {
    for output in settings.cache?.outputs ?? [] {
      guard let path = path(of: output, in: settings.workingDirectory) else { continue }
      let place = firstPlace(of: path)
      if place == paths.count || !paths[place].hasSameBytes(as: path) {
        paths.insert(path, at: place)
      }
    }
  }

  /// The paths, relative to the directory of a step, that other steps name and its patterns cover.
  func others(than outputs: [String], in directory: String?) -> [String] {
    let start = directory.map { joined(workspace, $0) } ?? workspace
    let own = Set(outputs.compactMap { path(of: $0, in: directory) }.map(PathName.init))
    var found: [String] = []
    var seen: Set<PathName> = []
    for output in outputs {
      let pattern = FilePattern(output, below: start)
      let prefix =
        pattern.isPlain ? pattern.path + "/" : Self.beginning(of: output, pattern, in: start)
      for path in paths[firstPlace(of: prefix)...] {
        guard path.utf8.starts(with: prefix.utf8) else { break }
        guard pattern.covers(path), !own.contains(PathName(path)),
          seen.insert(PathName(path)).inserted,
          let relative = path.path(below: start)
        else { continue }
        found.append(relative)
      }
    }
    return found
  }

  /// What all matches of a pattern with wildcards begin with.
  private static func beginning(
    of output: String, _ pattern: FilePattern, in start: String
  ) -> String {
    guard output.goesDown else { return pattern.fixedPath == "/" ? "/" : pattern.fixedPath + "/" }
    let isSign = { (byte: UInt8) in "*?[".utf8.contains(byte) }
    return joined(start, String(Substring(output.utf8.prefix { !isSign($0) })))
  }

  /// Nil for a pattern with wildcards.
  private func path(of output: String, in directory: String?) -> String? {
    let start = directory.map { joined(workspace, $0) } ?? workspace
    let pattern = FilePattern(output, below: start)
    return pattern.isPlain ? pattern.path : nil
  }

  /// Where a path is or would be.
  private func firstPlace(of path: String) -> Int {
    var (low, high) = (0, paths.count)
    while low < high {
      let middle = (low + high) / 2
      if paths[middle].precedesByBytes(path) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension StepCache {
  /// Takes note of outputs that have become known.
  package func learn(outputsOf settings: StepSettings) { learnt.append(settings) }

  /// Looks at what other steps have made in the place of the step's outputs, before its first attempt.
  func noteOthers(_ lookup: CacheLookup) {
    if lookup.othersBefore != nil { return }
    var stamps: [PathName: FileStamp] = [:]
    for path in others(lookup) {
      stamps[PathName(path)] = status(of: path, lookup).map { FileStamp($0) }
    }
    lookup.othersBefore = stamps
  }

  /// The paths that other steps name and the command of this one has left alone. What lies in a directory of another step
  /// is that step's in any case.
  func untouchedOthers(_ lookup: CacheLookup) -> [String] {
    (lookup.othersBefore ?? [:]).filter { path, stamp in
      guard let status = status(of: path.text, lookup) else { return false }
      return FileEntry.Kind(status.st_mode) == .directory
        || FileStamp(status).isOfSameChange(as: stamp)
    }.map(\.key.text)
  }

  /// Patterns that take out what other steps name and is not part of a result.
  func exclusions(_ lookup: CacheLookup, besides files: [FileEntry]) -> [String] {
    let others = others(lookup)
    if others.isEmpty { return [] }
    let kept = Set(files.map { PathName($0.path) })
    let folders = Set(files.map { PathName(OutputFolders.split($0.path).folder) })
    return others.filter { path in
      !kept.contains(PathName(path))
        && !folders.contains { $0.text.hasSameBytes(as: path) || $0.text.isBelow(path) }
    }.map { "!" + FilePattern.escaped($0) }
  }

  /// Nothing lies in an output that is a file, as those of most steps are.
  private func others(_ lookup: CacheLookup) -> [String] {
    let mayHold = { (output: String) in
      output.hasSuffix("/") || !FilePattern(output).isPlain
        || self.status(of: output, lookup).map { FileEntry.Kind($0.st_mode) } == .directory
    }
    guard lookup.settings.outputs.contains(where: mayHold) else { return [] }
    var all = declared ?? DeclaredOutputs(of: options.steps, below: options.workspace)
    for settings in learnt { all.insert(settings) }
    (declared, learnt) = (all, [])
    return all.others(
      than: lookup.settings.outputs, in: lookup.directory.isEmpty ? nil : lookup.directory)
  }

  private func status(of path: String, _ lookup: CacheLookup) -> stat? {
    let whole = lookup.directory.isEmpty ? path : joined(lookup.directory, path)
    guard case .success(let status) = FileEntry.status(of: whole, in: AT_FDCWD) else { return nil }
    return status
  }
}
