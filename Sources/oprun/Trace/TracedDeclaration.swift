// The `cache` that is proposed for a step, as YAML to paste and as JSON.

import Caching
import Diagnostics
import Execution
import Glibc
import Plans
import Reporting
import Scheduling

/// The directories of a traced step, and the files that others have made for it.
struct TracedWorkspace {
  let workspace: String
  let directory: String
  /// The state directory, which no pattern names; absolute.
  let state: String
  /// The outputs of the steps that it depends on.
  let upstream: [(pattern: FilePattern, directory: String)]

  init(
    workspace: String, directory: String, state: String,
    upstream: [(pattern: FilePattern, directory: String)] = []
  ) {
    self.workspace = workspace
    self.directory = directory
    self.state = state
    self.upstream = upstream
  }

  /// Nil if the current directory cannot be found. `state` is the directory of a run. `directory`
  /// is the one in which the step began; the plan does not know it if it became known during the
  /// run.
  init?(_ step: String, in plan: Plan, state: String, directory: String?) {
    guard let workspace = realPath(".") else { return nil }
    let absolute = { (path: String?) -> String in
      guard let path else { return workspace }
      let whole = path.hasPrefix("/") ? path : "\(workspace)/\(path)"
      return realPath(whole) ?? whole
    }
    let operation = plan.steps(named: step).first?.index
    var upstream: [(pattern: FilePattern, directory: String)] = []
    if let operation {
      for settings in plan.settingsBefore(OperationID(operation)) {
        for output in settings.cache?.outputs ?? [] {
          upstream.append((FilePattern(output), absolute(settings.workingDirectory)))
        }
      }
    }
    let folder = absolute(state).split(separator: "/").dropLast(2).joined(separator: "/")
    self.init(
      workspace: workspace,
      directory: directory
        ?? absolute(operation.flatMap { plan.steps[$0].settings.workingDirectory }),
      state: "/" + folder, upstream: upstream)
  }

  /// The path as the step's patterns write it; nil if it does not belong in the declaration.
  func shown(_ path: String) -> String? {
    guard path.isBelow(workspace), !path.isBelow(state),
      workspace != "/" || !Self.kernelFolders.contains(where: path.isBelow)
    else { return nil }
    var base = directory
    var prefix = ""
    while !path.isBelow(base), let slash = base.lastIndex(of: "/") {
      base = slash == base.startIndex ? "/" : String(base[..<slash])
      prefix += "../"
    }
    return prefix + (path.path(below: base) ?? "")
  }

  /// Directories of the kernel, without real files, even where the workspace is `/`.
  private static let kernelFolders = ["/proc", "/sys", "/dev"]

  /// The path of a directory as the step's patterns write it; empty for that of the step.
  func shownFolder(_ path: String) -> String? {
    path.hasSameBytes(as: directory) ? "" : shown(path)
  }

  func isFromUpstream(_ path: String) -> Bool {
    upstream.contains { $0.pattern.covers(path, below: $0.directory) }
  }
}

struct TracedDeclaration {
  let inputs: [String]
  let outputs: [String]
  let scratch: [String]
  /// The names of programs that lie outside the workspace.
  let programs: [String]
  /// Remarks on what a declaration cannot say.
  let remarks: [String]

  /// `names` returns the names in a directory; nil for anything else.
  init(
    _ files: TracedFiles, _ place: TracedWorkspace, names: (String) -> [String]? = { _ in [] }
  ) {
    let shown = { (paths: PathSet) in PathSet(paths.compactMap(place.shown)) }
    let made = MadeFiles(files, shown: shown)
    let looked = files.looked.filter { !TracedPath($0).isInRepository }
    let vague = Self.vagueLinks(files, place)
    let used = files.read.union(looked).subtracting(vague)
    let given = used.filter(place.isFromUpstream)
    let read = Self.withRepositories(
      shown(Self.names(of: used, files, in: place, given: given)).subtracting(made.written))
    let others = made.written.union(made.temporary).union(shown(given))
    let listed = ListedFolders(files, place, read: read, others: others)
    let patterns = listed.patterns.map { FilePattern($0) }
    let rest = read.filter { path in !patterns.contains { $0.finds(path) } }
    let outputs = made.outputs(beside: read.union(shown(given))) { folder in
      files.hasMadeAll(
        in: place.directory == "/" ? "/\(folder)" : "\(place.directory)/\(folder)", names: names)
    }
    self.outputs = outputs
    let scratch = Self.scratch(made, avoiding: read).filter { pattern in
      !outputs.contains { Self.opens($0, pattern) }
    }
    self.scratch = scratch
    let present =
      listed.patterns + PatternSummary.patterns(for: rest, avoiding: others, listed: listed.all)
    let known = (present + outputs + scratch).map { FilePattern($0) }
    let absent = files.missing.filter {
      !place.isFromUpstream($0) && !TracedPath($0).isInRepository
    }
    inputs =
      (present
      + PatternSummary.names(
        of: shown(absent).filter { path in !known.contains { $0.covers(path) } },
        avoiding: others)).sorted()
    programs = Self.names(of: files.programs.filter { place.shown($0) == nil })
    let notices: [(String, PathSet)] = [
      ("created by steps that it depends on", shown(given)),
      (
        "only looked at; if an earlier run of the step created them, remove them and trace again",
        shown(looked.subtracting(given).subtracting(vague)).filter { path in
          !patterns.contains { $0.finds(path) }
        }
      ),
      ("changed in a repository, where no output should be", made.inRepository),
      ("removed, which a cached step cannot do", shown(files.removed)),
      (
        "sockets of other programs that the step connects to; nothing notices if they answer something else",
        shown(files.connected)
      ),
    ]
    let ofLinks = (
      "links that were read, which cannot be inputs because of what is in the directories that they lead to; if they lead elsewhere, nothing notices",
      shown(vague)
    )
    let ofLists = ("listed, but no pattern is about new files in it", listed.rest)
    remarks =
      ([Self.noticeOfChanges(made)] + notices + Self.notices(ofFolders: made, leadingTo: outputs)
      + [ofLinks, ofLists]).compactMap { Self.remark($0, $1) }
  }

  private static func noticeOfChanges(_ made: MadeFiles) -> (String, PathSet) {
    (
      "cannot be cached as it is, because the step changes what it reads; let it write other files, or, if an earlier run of the step created them, remove them and trace again",
      made.changed
    )
  }

  /// Notices about directories that a confined step cannot handle.
  private static func notices(
    ofFolders made: MadeFiles, leadingTo outputs: [String]
  ) -> [(String, PathSet)] {
    let leading = made.folders.subtracting(made.remade).filter { folder in
      outputs.contains { $0.hasPrefix(PatternSummary.escaped(folder) + "/") }
    }
    return [
      (
        "removed and created again, where a confined step can only remove what is in it",
        made.remade
      ),
      (
        "directories that the step creates, which are there before a confined step starts; let it expect that (mkdir -p)",
        leading
      ),
      (
        "directories that are created and removed, which a confined step can do only in a directory that a pattern opens",
        made.temporaryAtTop
      ),
      (
        "directories that are renamed, which a confined step can do only in a directory that a pattern opens",
        made.renamedAtTop
      ),
    ]
  }

  /// Links that were read, to directories that are not inputs: their contents are not all in the
  /// workspace, or the step writes there.
  private static func vagueLinks(_ files: TracedFiles, _ place: TracedWorkspace) -> PathSet {
    let made = files.written.union(files.temporary).union(files.folders)
    return PathSet(
      files.leads.filter { link, folder in
        !place.isFromUpstream(link.text)
          && (!folder.isBelow(place.workspace) || link.text.isBelow(folder)
            || made.contains { $0.isBelow(folder) || $0.hasSameBytes(as: folder) })
      }.keys.map(\.text)
    ).intersection(files.read.union(files.looked))
  }

  /// Lists a git repository as a whole, because git reads other objects after each commit.
  private static func withRepositories(_ paths: PathSet) -> PathSet {
    let repositories = PathSet(
      paths.compactMap { path in
        TracedPath(path).repository.flatMap { path.hasPrefix($0 + "/objects/") ? $0 : nil }
      })
    if repositories.isEmpty { return paths }
    return PathSet(
      paths.map { path in
        TracedPath(path).repository.flatMap { repositories.contains($0) ? $0 : nil } ?? path
      })
  }

  /// The names of the read files that the command used in the workspace: if a link gets another
  /// target, the command reads another file.
  private static func names(
    of paths: PathSet, _ files: TracedFiles, in place: TracedWorkspace, given: PathSet
  ) -> PathSet {
    var result: PathSet = []
    for path in paths {
      for name in files.names[PathName(path)] ?? [path] {
        let isShown = !name.hasSameBytes(as: path) && place.shown(name) != nil
        if isShown || !given.contains(path) { result.insert(isShown ? name : path) }
      }
    }
    return result
  }

  /// The patterns of temporary files. Their names are rarely the same twice: the part that they
  /// share with an output is kept. A directory that is removed again needs the one around it.
  private static func scratch(_ made: MadeFiles, avoiding read: PathSet) -> [String] {
    let outputs = made.written.map(TracedPath.init)
    let folders = made.temporaryFolders.subtracting(made.temporaryAtTop)
    let outermost = folders.filter { !folders.contains(TracedPath($0).folder) }
    let inFolders = PathSet(outermost.map { PatternSummary.escaped(TracedPath($0).prefix) + "*" })
    let others = made.temporary.filter { path in !outermost.contains { path.isBelow($0) } }
    return inFolders.union(
      PathSet(
        others.map { path in
          let path = TracedPath(path)
          let shared = outputs.filter {
            $0.prefix.hasSameBytes(as: path.prefix) && path.name.hasPrefix($0.name)
          }.map(\.name).max { $0.count < $1.count }
          return shared.flatMap { MadeFiles.pattern(opening: path.prefix + $0, avoiding: read) }
            ?? PatternSummary.escaped(path.prefix) + "*"
        })
    ).sorted()
  }

  /// True if an output opens the directory of another pattern to the command.
  private static func opens(_ output: String, _ pattern: String) -> Bool {
    if output.hasSuffix("/") { return pattern.hasPrefix(output) }
    let names = output.split(separator: "/", omittingEmptySubsequences: false)
    let fixed = names.prefix { !FilePattern.hasWildcard(String($0)) }
    guard fixed.count < names.count else { return false }
    return pattern.hasPrefix(fixed.map { $0 + "/" }.joined())
  }

  private static func names(of programs: [String]) -> [String] {
    var names: [String] = []
    for program in programs {
      let name = program.split(separator: "/").last.map(String.init) ?? program
      if !names.contains(name) { names.append(name) }
    }
    return names
  }

  private static func remark(_ words: String, _ paths: PathSet) -> String? {
    paths.isEmpty ? nil : "\(words): \(firstNames(of: paths.sorted(), most: 8))"
  }

  func writeYAML(to sink: ByteSink) {
    sink.write("cache:\n")
    write("inputs", inputs, to: sink)
    if !outputs.isEmpty { write("outputs", outputs, to: sink) }
    if !scratch.isEmpty { write("scratch", scratch, to: sink) }
    for remark in remarks { sink.write("# \(messageLine(remark))\n") }
    if !programs.isEmpty {
      sink.write("# programs that ran: \(messageLine(firstNames(of: programs, most: 20)))\n")
    }
  }

  private func write(_ key: String, _ patterns: [String], to sink: ByteSink) {
    if patterns.isEmpty { return sink.write("  \(key): []\n") }
    sink.write("  \(key):\n")
    for pattern in patterns { sink.write("    - \(Self.scalar(pattern))\n") }
  }

  private static func scalar(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
        || "/._-".utf8.contains(byte)
    }
    let isNumber = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2e }
    let isWord = ["true", "false", "null", "yes", "no", "on", "off"].contains(text.lowercased())
    return isPlain && !isNumber && !isWord && !text.hasPrefix("-") && !text.isEmpty
      ? text : jsonString(text)
  }

  func writeJSON(to sink: ByteSink) {
    let lists: [(StaticString, [String])] = [
      ("inputs", inputs), ("outputs", outputs), ("scratch", scratch), ("programs", programs),
    ]
    sink.isFormat = true
    sink.write("{")
    for (index, (key, values)) in lists.enumerated() {
      sink.write(field: key, isFirst: index == 0)
      sink.write(jsonList: values) { sink.write(json: $0) }
    }
    sink.write("}\n")
  }
}

extension Plan {
  /// The steps that a word names, without groups.
  func steps(named word: String) -> [OperationID] {
    let name = StepName(word)
    return steps.indices.lazy.map { OperationID($0) }.filter {
      name.covers(steps[$0.index].id) && !standsForOthers($0)
    }
  }

  /// The settings of the steps that an operation depends on. A group stands for its members.
  fileprivate func settingsBefore(_ operation: OperationID) -> [StepSettings] {
    var found: [StepSettings] = []
    var visited: Set<OperationID> = []
    var waiting = [operation]
    while let next = waiting.popLast() {
      for edge in graph.dependencies(of: next) where visited.insert(edge.from).inserted {
        if groups[edge.from] != nil {
          waiting.append(edge.from)
        } else {
          found.append(steps[edge.from.index].settings)
        }
      }
    }
    return found
  }
}
