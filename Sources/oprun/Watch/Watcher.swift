// The loop of `oprun watch`: it waits for changes, signals and the end of a run, and does what `WatchMachine`
// decides. docs/watch.md.

import CLinux
import Caching
import Diagnostics
import Execution
import Glibc
import Masking
import Plans
import Reporting
import Scheduling
import State

final class Watcher {
  let tool: Tool
  let invocation: Invocation
  private var machine: WatchMachine
  private let folders: FolderWatch
  private let signals: WatchSignals
  private(set) var watched: WatchedPipeline
  private var batch = ChangeBatch()
  private var own = OwnChanges()
  private var ignored: IgnoredFiles
  private var run: RunProcess?
  private var hasRun = false
  /// The signal that ends it all.
  private var stop: Int32?
  /// The files that a pipeline which cannot be used was read from; nil if it can.
  private var brokenSources: Set<String>?
  /// What was sorted since then.
  private var held = SortedChanges()
  /// True if the kernel has lost changes during the run, and during the one before.
  private var hasLostInRun = false
  private var hadLostInRun = false
  /// What is said when the run in progress has ended, whose display it would disturb.
  private var unsaid: [(message: String, help: String?)] = []

  init(_ tool: Tool, _ invocation: Invocation, _ watched: WatchedPipeline) throws(SystemError) {
    self.tool = tool
    self.invocation = invocation
    self.watched = watched
    machine = WatchMachine(invocation.choice(Options.onBusy, default: .cancel))
    ignored = IgnoredFiles(below: watched.workspace)
    signals = try WatchSignals()
    folders = try FolderWatch()
    try watchFolders()
  }

  /// Returns the exit status.
  func perform() throws(SystemError) -> Int32 {
    try act(on: machine.affected(.everything))
    while true {
      wait()
      // What a run has changed is noted before its end is.
      note(try folders.take())
      if let status = handleSignals() { return status }
      if let status = try handleEnd() { return status }
      if folders.hasLostChanges || folders.hasLostRoot { try lookAtEverything() }
      if machine.isDue(at: Self.now()) { try look() }
    }
  }

  private static func now() -> Nanoseconds {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  private func wait() {
    tool.errors.flush()
    var ready = [folders.number, signals.descriptor].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    let left = machine.deadline.map { max(0, $0 - Self.now()) }
    poll(&ready, 2, left.map { Int32($0 / 1_000_000 + 1) } ?? -1)
  }

  private func watchFolders() throws(SystemError) {
    let watched = watched
    let ignored = ignored
    try folders.watch(watched.roots) { folder in
      watched.wants(folder, isIgnored: ignored.contains(folder))
    }
  }

  private func note(_ changes: [NotedChange]) {
    let changes = changes.filter { !watched.isOfOthers($0.path) }
    guard !changes.isEmpty else { return }
    batch.note(changes, isOfRun: machine.isRunning)
    machine.note(at: Self.now())
  }

  private func say(_ message: String, help: String? = nil) {
    if machine.isRunning { unsaid.append((message, help)) } else { tool.say(message, help: help) }
  }

  // MARK: Runs

  private func act(on action: WatchMachine.Action?) throws(SystemError) {
    switch action {
    case .start(let part): try start(part)
    case .cancel: run?.send(SIGTERM)
    case nil: break
    }
  }

  private func start(_ part: WatchedPart) throws(SystemError) {
    own.runStarts()
    tool.errors.flush()
    run = try RunProcess(words(for: part))
  }

  /// The command line of a run.
  private func words(for part: WatchedPart) -> [String] {
    var file = invocation.operands[0]
    if !file.contains("/"), !file.hasSuffix(".yml"), !file.hasSuffix(".yaml") { file = "./" + file }
    var words = ["oprun", "run"]
    for option in Command.run.options
    where invocation.isGiven(option) && option.name != Options.stateDirectory.name {
      let values = invocation.words(of: option)
      words += option.value == nil ? [option.flag] : values.map { "\(option.flag)=\($0)" }
    }
    if invocation.isGiven(Options.stateDirectory) {
      words.append("\(Options.stateDirectory.flag)=\(tool.stateDirectory(invocation))")
    }
    return words + ["--", file] + ids(of: part)
  }

  private func ids(of part: WatchedPart) -> [String] {
    let all = Array(invocation.operands.dropFirst())
    guard case .steps(let ids) = part else { return all }
    let known = watched.plan.steps.lazy.map(\.id).filter(ids.contains)
    // Linux allows about 2 MB of words.
    let isShort = known.reduce(0) { $0 + $1.utf8.count + 9 } < 1 << 20
    return isShort && !known.isEmpty ? Array(known) : all
  }

  /// The exit status, if this is the end.
  private func handleEnd() throws(SystemError) -> Int32? {
    guard let status = run?.takeEnd() else { return nil }
    run = nil
    note(try folders.take())
    if let stop { return 128 + stop }
    if !hasRun,
      [ExitStatus.usage, ExitStatus.internalError, ExitStatus.cannotWrite].contains(status)
    {
      return status
    }
    hasRun = true
    // What it has changed is judged as long as it counts as running.
    machine.forgetNoted()
    try look()
    for (message, help) in unsaid { tool.say(message, help: help) }
    unsaid = []
    hadLostInRun = hasLostInRun
    hasLostInRun = false
    own.runEnds(isWhole: !machine.isCancelling)
    let next = machine.ended(isOK: status == ExitStatus.success)
    if next == nil { sayWaiting() }
    try act(on: next)
    return nil
  }

  private func handleSignals() -> Int32? {
    for (signal, isFromTerminal) in signals.take() {
      guard let run else { return 128 + signal }
      stop = stop ?? signal
      if !isFromTerminal { run.send(signal) }
    }
    return nil
  }

  private func sayWaiting() {
    let count = folders.count
    tool.say(
      "watching \(count) \(count == 1 ? "directory" : "directories") for changes, until Ctrl-C")
  }

  // MARK: Changes

  /// The kernel has lost some, so anything may have changed.
  private func lookAtEverything() throws(SystemError) {
    ignored = IgnoredFiles(below: watched.workspace)
    try watchFolders()
    guard folders.count > 0 else {
      throw SystemError("cannot watch \(quoted(watched.workspace))", errno: ENOENT)
    }
    _ = batch.take { _ in true }
    if machine.isRunning {
      hasLostInRun = true
      if hadLostInRun { return }
    }
    say("more has changed than could be followed, which affects everything")
    if reload() { try act(on: machine.affected(.everything, mayCancel: false)) }
  }

  /// Looks at what was noted.
  private func look() throws(SystemError) {
    let entries = batch.take { path in
      var status = stat()
      return lstat(path, &status) == 0
    }
    let hidden = ignored.among(entries.map(\.path))
    var sorted = SortedChanges()
    for (path, entry) in entries {
      if watched.sources.contains(path) || brokenSources?.contains(path) == true {
        sorted.hasEditedPipeline = true
      }
      if path.hasSuffix("/.gitignore") { sorted.hasEditedRules = true }
      if hidden.contains(path), !watched.names(path) { continue }
      sort(path, entry, isIgnored: hidden.contains(path), into: &sorted)
    }
    if sorted.hasEditedRules { ignored = IgnoredFiles(below: watched.workspace) }
    var edited: Set<String> = []
    if sorted.hasEditedPipeline {
      let before = watched.plan
      guard reload() else { return held = held.adding(sorted) }
      edited = State.editedSteps(of: watched.plan, since: before, tool.errors.masker)
    }
    if sorted.hasEditedPipeline || sorted.hasEditedRules { try watchFolders() }
    guard brokenSources == nil else { return held = held.adding(sorted) }
    try follow(held.adding(sorted), edited)
    held = SortedChanges()
  }

  private func sort(
    _ path: String, _ entry: ChangeBatch.Entry, isIgnored: Bool, into sorted: inout SortedChanges
  ) {
    let isMade = watched.declarations.make(path)
    if entry.isOfRun, isMade { return }
    if entry.isFolder {
      sorted.folders.append(path)
      return
    }
    sorted.inputs.append(path)
    guard watched.isInWorkspace(path), !isMade, !isIgnored, !watched.sources.contains(path) else {
      return
    }
    guard entry.isOfRun else { return sorted.others.append(path) }
    if watched.declarations.name(path) { return sorted.others.append(path) }
    switch own.judge(path, existed: entry.existed) {
    case .counts: sorted.others.append(path)
    case .countsLater: sorted.laterOthers.append(path)
    case .isOwn: break
    case .isFoundOwn:
      say(
        "\(quoted(shown(path))) is changed by the run itself, and ignored while one is in progress",
        help: "name it in 'outputs' of 'cache', or in a '.gitignore'")
    }
  }

  private func shown(_ path: String) -> String {
    watched.isInWorkspace(path) ? String(path.dropFirst(watched.workspace.count + 1)) : path
  }

  /// Runs what changes affect.
  private func follow(_ sorted: SortedChanges, _ edited: Set<String>) throws(SystemError) {
    let certain = affected(sorted, edited, others: sorted.others)
    let all =
      sorted.laterOthers.isEmpty
      ? certain : affected(sorted, edited, others: sorted.others + sorted.laterOthers)
    guard let all else { return }
    say("\(all.cause(shown)), which affects \(all.words)")
    if let certain, certain.part != all.part {
      try act(on: machine.affected(certain.part, mayCancel: run != nil))
    }
    try act(on: machine.affected(all.part, mayCancel: certain != nil && run != nil))
  }

  private func affected(
    _ sorted: SortedChanges, _ edited: Set<String>, others: [String]
  ) -> AffectedRun? {
    var changes = AffectedSteps.Changes(
      ChangedPaths(sorted.inputs, folders: sorted.folders),
      anything: ChangedPaths(
        others, folders: sorted.folders.filter { watched.isInWorkspace($0) }))
    let plan = watched.plan
    changes.edited = Set(
      plan.steps.indices.filter { edited.contains(plan.steps[$0].id) }.map { OperationID($0) })
    return AffectedRun(AffectedSteps(plan, changes, workspace: watched.workspace), plan)
  }

  // MARK: The pipeline

  /// Reads the pipeline again. False if it cannot be used, which has been reported.
  private func reload() -> Bool {
    let reads = ReadPaths()
    switch tool.watchedPipeline(invocation, reads) {
    case .success(let pipeline):
      watched = pipeline
      if brokenSources != nil { say("the pipeline is valid again") }
      brokenSources = nil
      return true
    case .failure:
      brokenSources = reads.absolutePaths(below: watched.workspace)
      tool.say("nothing runs until the pipeline has changed again")
      return false
    }
  }
}

/// Changes by what they may affect; absolute paths.
private struct SortedChanges {
  var inputs: [String] = []
  var folders: [String] = []
  /// Those that affect steps which declare nothing.
  var others: [String] = []
  /// The same, but perhaps they were made by the run in progress.
  var laterOthers: [String] = []
  var hasEditedPipeline = false
  var hasEditedRules = false

  func adding(_ other: SortedChanges) -> SortedChanges {
    var sum = self
    sum.inputs += other.inputs
    sum.folders += other.folders
    sum.others += other.others
    sum.laterOthers += other.laterOthers
    return sum
  }
}

/// What changes affect, and how that is said.
private struct AffectedRun {
  let part: WatchedPart
  let words: String
  private let reason: AffectedSteps.Reason?
  private static let longestList = 8

  /// Nil if nothing is affected.
  init?(_ steps: AffectedSteps, _ plan: Plan) {
    let affected = steps.steps
    if affected.isEmpty { return nil }
    reason = affected.lazy.compactMap { steps.reasons[$0] }.first {
      if case .upstream = $0 { false } else { true }
    }
    let isEverything = affected.count == steps.leaves.count
    part =
      isEverything ? .everything : .steps(Set(steps.selection.map { plan.steps[$0.index].id }))
    let shown = affected.prefix(Self.longestList).map { printable(plan.steps[$0.index].id) }
    let more = affected.count - shown.count
    words =
      isEverything
      ? "everything" : shown.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
  }

  /// What has changed.
  func cause(_ shown: (String) -> String) -> String {
    switch reason {
    case .input(let files), .output(let files), .undeclared(let files):
      let more = files.count > 1 ? " and \(files.count - 1) more" : ""
      return "\(quoted(shown(files.path)))\(more) changed"
    case .edited, .upstream, nil: return "the pipeline changed"
    }
  }
}
