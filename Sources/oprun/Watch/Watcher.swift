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
  private var contents = KnownContents()
  private var ignored: IgnoredFiles
  private var run: RunProcess?
  private var hasRun = false
  /// When the last run ended.
  private var lastEnd: Nanoseconds = 0
  /// The signal that ends the watch.
  private var stop: Int32?
  /// The files of a pipeline that cannot be used; nil if it can.
  private var brokenSources: Set<PathName>?
  /// The changes that were sorted since then.
  private var held = ChangesByTime()
  /// The changes that start no run.
  private var waiting = SortedChanges()
  /// True if the kernel has lost changes during the run, and during the one before.
  private var hasLostInRun = false
  private var hadLostInRun = false
  /// The messages for the end of the run in progress, whose display they would disturb.
  private var unsaid = UnsaidMessages()
  private var secrets = SeenSecrets()

  init(_ tool: Tool, _ invocation: Invocation, _ watched: WatchedPipeline) throws(SystemError) {
    self.tool = tool
    self.invocation = invocation
    self.watched = watched
    machine = WatchMachine(invocation.choice(Options.onBusy, default: .cancel))
    ignored = IgnoredFiles(below: watched.workspace)
    signals = try WatchSignals()
    folders = try FolderWatch()
    try watchFolders()
    maskSecrets()
  }

  /// Watches until the end; returns the exit status.
  func perform() throws(SystemError) -> Int32 {
    do throws(SystemError) {
      return try watch()
    } catch {
      run?.end()
      throw error
    }
  }

  private func watch() throws(SystemError) -> Int32 {
    try act(on: machine.affected(.everything))
    while true {
      wait()
      // Changes of a run are noted before its end is.
      note(try folders.take())
      if let status = handleSignals() { return status }
      if let status = try handleEnd() { return status }
      if folders.hasLostChanges { try lookAtEverything() }
      if machine.isDue(at: monotonicTime()) { try look() }
    }
  }

  private static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  private func wait() {
    tool.errors.flush()
    var ready = [folders.number, signals.descriptor].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    let left = machine.deadline.map { max(0, $0 - monotonicTime()) }
    poll(&ready, 2, left.map { Int32($0 / 1_000_000 + 1) } ?? -1)
  }

  private func watchFolders() throws(SystemError) {
    let all = brokenSources.map(watched.readFrom) ?? watched
    try folders.watch(all.scope(without: ignored))
  }

  /// Throws if the path of the workspace leads to another directory by now.
  private func checkWorkspace() throws(SystemError) {
    var here = stat()
    var there = stat()
    guard stat(".", &here) == 0, stat(watched.workspace, &there) == 0, here.st_ino == there.st_ino,
      here.st_dev == there.st_dev
    else {
      throw SystemError(
        "can no longer watch \(quoted(watched.workspace)): it was moved or removed", errno: ENOENT
      )
    }
  }

  private func note(_ changes: [NotedChange]) {
    let changes = changes.filter { change in
      // Files that a run makes do not count behind a link either.
      let isOwn =
        machine.isRunning && change.isBehindLink && watched.declarations.make(change.place)
      return !watched.isOfOthers(change.path) && !isOwn || ignored.rules.contains(change.path)
    }
    guard !changes.isEmpty else { return }
    batch.note(changes, isOfRun: machine.isRunning)
    machine.note(at: monotonicTime())
  }

  private func maskSecrets() { secrets.mask(SecretReading(of: watched.secrets).secrets, tool) }

  private func say(_ message: String, help: String? = nil) {
    maskSecrets()
    if machine.isRunning { unsaid.add(message, help: help) } else { tool.say(message, help: help) }
  }

  // MARK: Runs

  private func act(on action: WatchMachine.Action?) throws(SystemError) {
    switch action {
    case .start(let part): try start(part)
    case .cancel: run?.cancel()
    case nil: break
    }
  }

  private func start(_ part: WatchedPart) throws(SystemError) {
    own.runStarts()
    tool.errors.flush()
    run = try RunProcess(words(for: part))
  }

  /// Handles the end of a run; returns the exit status if the watch ends, too.
  private func handleEnd() throws(SystemError) -> Int32? {
    guard let status = run?.takeEnd() else { return nil }
    run = nil
    note(try folders.take())
    if let stop { return 128 + stop }
    if !hasRun, ExitStatus.ofUnstartedRun.contains(status) { return status }
    hasRun = true
    // The changes of a run are judged while it counts as running.
    machine.forgetNoted()
    try look()
    for (message, help) in unsaid.take() { tool.say(message, help: help) }
    hadLostInRun = hasLostInRun
    hasLostInRun = false
    own.runEnds(isWhole: !machine.isCancelling)
    lastEnd = monotonicTime()
    let next = machine.ended(isOK: status == ExitStatus.success)
    if next == nil {
      own.pauses()
      sayWaiting()
    }
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

  /// Looks at everything: the kernel has lost changes, so anything may have changed.
  private func lookAtEverything() throws(SystemError) {
    ignored = IgnoredFiles(below: watched.workspace)
    try checkWorkspace()
    try watchFolders()
    _ = batch.take { _ in true }
    if machine.isRunning {
      hasLostInRun = true
      if hadLostInRun { return }
    }
    say("too many files changed to follow, which affects everything")
    if try reload() { try act(on: machine.affected(.everything, mayCancel: false)) }
  }

  /// Looks at the noted changes.
  private func look() throws(SystemError) {
    try checkWorkspace()
    if folders.isOutdated { try watchFolders() }
    let entries = batch.take(exists: Self.exists)
    let hidden = ignored.among(entries.filter { !$0.entry.isBehindLink }.map(\.path))
    var sorted = ChangesByTime()
    var editing = OwnChanges.Verdict?.none
    for (path, entry) in entries {
      let name = PathName(path)
      if ignored.rules.contains(path), watched.isOfOthers(path) { continue }
      if watched.sources.contains(name) || brokenSources?.contains(name) == true {
        let verdict = entry.isOfRun ? judgeInput(path, entry) : .counts
        if editing != .counts { editing = verdict }
      }
      let isIgnored = hidden.contains(name) || EditorFiles.contain(path)
      if isIgnored, !watched.names(path) { continue }
      sort(path, entry, isIgnored: isIgnored, into: &sorted)
    }
    let rules = entries.filter {
      $0.path.hasSuffix("/.gitignore") || ignored.rules.contains($0.path)
    }.map(\.entry)
    if !rules.isEmpty { followRules(isOfRun: rules.allSatisfy(\.isOfRun), into: &sorted) }
    if let editing {
      let before = watched.plan
      guard try reload() else { return held.add(sorted) }
      let edited = EditedSteps(of: watched.plan, since: before, tool.errors.masker)
      sorted.add(editing) { $0.edited.formUnion(edited.all) }
    }
    if editing != nil || !rules.isEmpty { try watchFolders() }
    held.add(sorted)
    guard brokenSources == nil else { return }
    let all = held
    held = ChangesByTime()
    try follow(all)
  }

  /// Follows new rules of git: files that were ignored before may have changed unnoticed.
  private func followRules(isOfRun: Bool, into sorted: inout ChangesByTime) {
    let before = ignored
    ignored = IgnoredFiles(below: watched.workspace)
    for path in ignored.changes(since: before) {
      var status = stat()
      let isFolder = lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      let entry = ChangeBatch.Entry(
        existed: true, kind: isFolder ? .folder : .file, isOfRun: isOfRun)
      sort(path, entry, isIgnored: false, into: &sorted)
    }
  }

  private func sort(
    _ path: String, _ entry: ChangeBatch.Entry, isIgnored: Bool, into sorted: inout ChangesByTime
  ) {
    if entry.isAlsoFile {
      var file = entry
      file.kind = .file
      file.isAlsoFile = false
      sort(path, file, isIgnored: isIgnored, into: &sorted)
    }
    if !entry.isOfRun { own.noteForeign(path, isThere: Self.exists(path)) }
    if entry.kind == .newFolder {
      if entry.isOfRun { own.make(path) }
      return
    }
    let isMade = watched.declarations.make(path)
    if entry.isOfRun, isMade { return }
    let isFolder = entry.kind == .folder
    let isInput =
      isFolder
      ? watched.declarations.reach(into: path, onlyPlainly: isIgnored)
      : watched.declarations.name(path)
    let isForOthers =
      watched.isInWorkspace(path) && !isMade && !isIgnored && !entry.isBehindLink
      && !watched.sources.contains(PathName(path))
    let isAsBefore = isInput && !isFolder && contents.isAsBefore(path)
    var verdict = OwnChanges.Verdict.counts
    if entry.isOfRun {
      if isAsBefore { return }
      if isInput {
        verdict = judgeInput(path, entry)
      } else if isForOthers {
        verdict = judge(path, entry)
      }
    }
    sorted.add(verdict) { $0.add(path, entry.kind, isForOthers: isForOthers) }
  }

  private func judge(_ path: String, _ entry: ChangeBatch.Entry) -> OwnChanges.Verdict {
    let judgment = own.judge(path, existed: entry.existed)
    if judgment.isNew {
      say(
        "the run itself changes \(quoted(shown(path))), which is ignored while a run is in progress",
        help: "name the file in 'outputs' of 'cache', or in a '.gitignore'")
    }
    return judgment.verdict
  }

  private func judgeInput(_ path: String, _ entry: ChangeBatch.Entry) -> OwnChanges.Verdict {
    let judgment = own.judgeInput(path, existed: entry.existed)
    if judgment.isNew {
      say(
        "\(quoted(shown(path))) has changed during \(OwnChanges.mostFollowing + 1) runs in a row; "
          + "the next run starts when something else changes",
        help:
          "if a step changes a file that it or an earlier step reads, name the file in its 'outputs'"
      )
    }
    return judgment.verdict
  }

  private func shown(_ path: String) -> String { path.path(below: watched.workspace) ?? path }

  /// Runs the steps that changes affect.
  private func follow(_ changes: ChangesByTime) throws(SystemError) {
    waiting.add(changes.waiting)
    let certain = affected(changes.now)
    let news = changes.now.adding(changes.later)
    guard let cause = affected(news), let all = affected(news.adding(waiting)) else { return }
    waiting = SortedChanges()
    say("\(cause.cause(shown)), which affects \(all.words)")
    sayRestless(cause)
    if run != nil, let certain { try act(on: machine.affected(certain.part)) }
    try act(on: machine.affected(all.part, mayCancel: false))
  }

  /// Warns about a file that starts run after run: somebody who saves a file hardly does so within
  /// a moment after each run.
  private func sayRestless(_ cause: AffectedRun) {
    let isSoon = machine.isRunning || monotonicTime() - lastEnd < Self.moment
    guard let path = own.startsRun(because: cause.path, isSoon: isSoon) else { return }
    say(
      "\(quoted(shown(path))) has started \(OwnChanges.mostStarts) runs, one soon after another; "
        + "if a program writes the file constantly, runs will not stop",
      help: "name the file in a '.gitignore', or write it elsewhere")
  }

  private static let moment: Nanoseconds = 2_000_000_000

  private func affected(_ sorted: SortedChanges) -> AffectedRun? {
    let plan = watched.plan
    var changes = AffectedSteps.Changes(
      ChangedPaths(sorted.inputs, folders: sorted.folders),
      anything: ChangedPaths(
        sorted.others,
        folders: sorted.folders.filter {
          watched.isInWorkspace($0) || $0.hasSameBytes(as: watched.workspace)
        }))
    changes.edited = Set(
      plan.steps.indices.filter { sorted.edited.contains(plan.steps[$0].id) }.map {
        OperationID($0)
      })
    return AffectedRun(AffectedSteps(plan, changes, workspace: watched.workspace), plan)
  }

  // MARK: The pipeline

  /// Reads the pipeline again. False if it cannot be used, which has been reported; then all files
  /// that it was read from are watched, because one that has just become part of it may be the one
  /// with the mistake.
  private func reload() throws(SystemError) -> Bool {
    let reads = ReadPaths()
    var began = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &began)
    switch tool.watchedPipeline(invocation, reads) {
    case .success(let pipeline):
      watched = pipeline
      maskSecrets()
      if brokenSources != nil { say("the pipeline is valid again") }
      brokenSources = nil
      return true
    case .failure:
      let sources = reads.absolutePaths(below: watched.workspace)
      brokenSources = sources
      tool.say("no run starts until the pipeline changes")
      try watchFolders()
      note(
        sources.filter { Self.hasChanged($0.text, since: began) }.map {
          NotedChange(path: $0.text, existed: true)
        })
      return false
    }
  }

  /// True if a file has changed since a time, as it may have before it was watched.
  private static func hasChanged(_ path: String, since time: timespec) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let change = status.st_ctim
    // A time in the future, of another clock, would be a change each time.
    return (change.tv_sec, change.tv_nsec) >= (time.tv_sec, time.tv_nsec)
      && (change.tv_sec, change.tv_nsec) <= (now.tv_sec, now.tv_nsec)
  }
}
