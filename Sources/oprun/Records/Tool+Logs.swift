// `oprun logs`: the output of the steps of a run, also while it is running.

import Diagnostics
import Glibc
import Plans
import Reporting
import RunFiles
import Scheduling
import State

extension Tool {
  func logs(_ invocation: Invocation) throws(UsageFailure) -> Int32 {
    var invocation = invocation
    guard let store = try openStore(&invocation) else { return ExitStatus.usage }
    let follows = invocation.isOn(Options.follow)
    let runner = invocation.isOn(Options.json) ? nil : CISurroundings.runner(of: invocation)
    if let runner { output.makeHarmless(to: runner) }
    let start = LogProgress(
      LogReading(to: output.descriptor, for: runner, environment: environmentValue))
    let (run, words) = try runAndSteps(
      invocation.operands, in: store, awaitsSteps: follows, .logs)
    if follows { return try follow(run, words, store, from: start) }
    guard let shown = shownRun(run, store) else { return ExitStatus.cannotWrite }
    // The hooks of a group are recorded under its own name.
    let chosen = words.isEmpty ? shown.steps : try steps(words, of: shown, .logs)
    // A step that waits, or has printed nothing so far, has no log yet. In a run that died, steps
    // that have not ended may have printed something.
    let isOpen = run.exitStatus == nil || run.wasLeft
    let isLive = store.isInUse(run.name)
    let hooks = words.isEmpty ? shown.hooks : []
    let logs =
      (chosen.flatMap { shown.logs(of: $0, isOpen: isOpen) }
      + hooks.compactMap { shown.log(of: $0, isOpen: isOpen) }).filter { log in
        !isOpen || open(log, store) != nil
      }
    let isList = invocation.isOn(Options.json)
    if isList { writeJSON(logs) }
    let missing = logs.filter { log in
      if isList { return open(log, store) == nil }
      var progress = start
      progress.isLive = isLive
      progress.hasHeading = logs.count > 1
      let isThere = write(log, &progress, store)
      if logs.count > 1, progress.isInLine { output.writeNewline() }
      return !isThere
    }
    for log in missing { say("'\(oneLine(log.path))' no longer exists") }
    if !words.isEmpty, !isList { saySilence(of: chosen, among: logs, shown) }
    return missing.isEmpty ? ExitStatus.success : ExitStatus.cannotWrite
  }

  /// Says why there is no output of steps that somebody asked for.
  private func saySilence(of chosen: [RecordedStep], among logs: [ShownLog], _ shown: ShownRun) {
    let printed = Set(logs.compactMap(\.step))
    let silent = chosen.filter { !printed.contains($0.name) }.compactMap { shown.silence(of: $0) }
    for message in silent.prefix(Self.mostSilent) { say(message) }
    if silent.count > Self.mostSilent { say("… and \(silent.count - Self.mostSilent) more") }
  }

  private static let mostSilent = 10

  /// Writes output as it comes until the run is over. A step that is not known by then does not exist.
  private func follow(
    _ run: RecordedRunSummary, _ words: [String], _ store: StateStore, from start: LogProgress
  ) throws(UsageFailure) -> Int32 {
    var written: [String: LogProgress] = [:]
    var last: (path: String, isInLine: Bool)?
    var version: Int?
    var followed = FollowedLogs()
    var finished: Set<String> = []
    while true {
      let isOver = !store.isInUse(run.name)
      if isOver { try? store.takeInJournals() }
      let newest = store.changeNumber
      var isBehind = false
      if isOver || version == nil || version != newest {
        guard let shown = shownRun(run, store) else { return ExitStatus.cannotWrite }
        followed = try logs(of: words, shown, isOver: isOver)
        followed.unfinished.removeAll { finished.contains($0.path) }
        version = newest
      }
      // A hook begins after the attempts of its step have ended.
      let beginning = Set(
        followed.unfinished.lazy.filter { $0.isOfHook && written[$0.path]?.byteCount ?? 0 == 0 }
          .compactMap(\.step))
      for log in followed.unfinished {
        var progress = written[log.path] ?? start
        let before = progress.byteCount
        progress.isTitled = false
        progress.isBehind = false
        progress.isLive = !isOver
        progress.isFollowed = true
        progress.isLimited = !isOver
        progress.isComplete = isOver || followed.isOfEndedStep(log)
        // Beside other logs, an unfinished line waits for its rest.
        progress.isWhole =
          followed.all.count == 1 || followed.isComplete(log)
          || !log.isOfHook && log.step.map(beginning.contains) == true
        progress.hasHeading = last?.path != log.path
        progress.followsOpenLine = last?.isInLine == true
        _ = write(log, &progress, store)
        if progress.byteCount > before {
          last = (log.path, progress.isInLine)
        } else if progress.isTitled {
          last = (log.path, false)
        }
        written[log.path] = progress
        if progress.isBehind {
          isBehind = true
        } else if followed.isOfEndedStep(log) {
          finished.insert(log.path)
        }
      }
      followed.unfinished.removeAll { finished.contains($0.path) }
      output.flush()
      if output.hasFailed { return ExitStatus.success }
      if isOver { return sayDeath(of: run.name, store) }
      // If commits wait for readers, it reads less often.
      if !isBehind { usleep(store.journal == .log ? 100_000 : 400_000) }
    }
  }

  /// Reports that a run whose oprun died has not ended, although no more output will come.
  private func sayDeath(of run: String, _ store: StateStore) -> Int32 {
    guard let last = try? store.run(named: run), last.exitStatus == nil else {
      return ExitStatus.success
    }
    return sayNotInProgress(run, store.folder)
  }

  /// The logs of a run to follow, in its present state.
  private func logs(
    of words: [String], _ shown: ShownRun, isOver: Bool
  ) throws(UsageFailure) -> FollowedLogs {
    let begun = words.filter { word in
      isOver || shown.steps.contains { StepName(word).covers($0.name) }
    }
    let chosen =
      words.isEmpty ? shown.steps : begun.isEmpty ? [] : try steps(begun, of: shown, .logs)
    let hooks = words.isEmpty ? shown.hooks : []
    let logs =
      chosen.flatMap { shown.logs(of: $0, isOpen: true) }
      + hooks.compactMap { shown.log(of: $0, isOpen: true) }
    return FollowedLogs(
      all: logs, unfinished: logs,
      openSteps: isOver ? [] : Set(shown.steps.lazy.filter { $0.ending == nil }.map(\.name)))
  }

  /// Writes the unwritten part of a log; false if the log is not there. A heading begins a line.
  private func write(
    _ log: ShownLog, _ progress: inout LogProgress, _ store: StateStore
  ) -> Bool {
    guard let directory = store.folder.run(named: log.run), let file = directory.log(log.name)
    else { return false }
    let growing = GrowingLog(file, named: log.name, in: directory, isLive: progress.isLive)
    if !progress.isFollowed { progress.cursor.stopAtEnd(of: growing) }
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { piece.deallocate() }
    let newline = UInt8(ascii: "\n")
    var isTitled = !progress.hasHeading
    progress.isBehind = false
    let start = progress.byteCount
    while !progress.isBehind {
      var count = progress.cursor.read(growing, into: piece)
      let isLast = progress.isComplete && count < piece.count
      if !progress.isWhole, count < piece.count {
        count = piece[..<count].lastIndex(of: newline).map { $0 + 1 } ?? 0
      }
      if progress.isLimited, progress.byteCount - start + count > Self.mostAtOnce {
        progress.isBehind = true
        count = piece[..<count].lastIndex(of: newline).map { $0 + 1 } ?? count
      }
      if count == 0 { break }
      if !isTitled {
        if progress.followsOpenLine { output.writeNewline() }
        let columns = Terminal.width(of: output.descriptor).map { $0 - 2 }
        output.write("> \(columns.map { oneLine(log.title, columns: $0) } ?? oneLine(log.title))\n")
        isTitled = true
        progress.isTitled = true
      }
      let bytes = UnsafeRawBufferPointer(rebasing: piece[..<count])
      let used = progress.reading.write(bytes, isLast: isLast, to: output)
      if used == 0 { break }
      progress.cursor.advance(by: used)
      progress.byteCount += used
      progress.isInLine = bytes[used - 1] != newline
    }
    return true
  }

  /// The number of bytes that are written at once: other logs, and the end of the run, wait no longer.
  private static let mostAtOnce = 1 << 20

  private func open(_ log: ShownLog, _ store: StateStore) -> LogFile? {
    store.folder.run(named: log.run)?.log(log.name)
  }

  private func writeJSON(_ logs: [ShownLog]) {
    output.write(jsonList: logs) { log in
      output.write("\n{")
      output.write(field: "step", isFirst: true)
      if let step = log.step { output.write(json: step) } else { output.write("null") }
      output.write(field: "role")
      output.write(json: log.role)
      output.write(field: "file")
      output.write(json: log.path)
      output.write("}")
    }
    output.writeNewline()
  }
}

/// The logs that are followed, as they are known from the database.
private struct FollowedLogs {
  var all: [ShownLog] = []
  /// The logs that have not been read to their ends.
  var unfinished: [ShownLog] = []
  var openSteps: Set<String> = []

  /// True if the last line of a log is complete, as far as that is known.
  func isComplete(_ log: ShownLog) -> Bool { log.step.map { !openSteps.contains($0) } ?? true }

  func isOfEndedStep(_ log: ShownLog) -> Bool {
    log.step.map { !openSteps.contains($0) } ?? false
  }
}

/// The position up to which a log has been written.
private struct LogProgress {
  var reading: LogReading
  var cursor = LogCursor()
  var byteCount = 0
  /// True if a command may be writing to the log.
  var isLive = false
  /// True if the log will not grow any more.
  var isComplete = true
  /// True if the last byte written is not the end of a line.
  var isInLine = false
  /// True if a heading is written before the next output.
  var hasHeading = false
  /// True if the output of another log before this one ends within a line.
  var followsOpenLine = false
  /// True if a line is written although its end may still come.
  var isWhole = true
  /// True if a heading was written for the log in this round.
  var isTitled = false
  /// True if output that comes during the writing is written, too.
  var isFollowed = false
  /// True if only `mostAtOnce` bytes are written at once.
  var isLimited = false
  /// True if there was more output than that.
  var isBehind = false

  init(_ reading: LogReading) { self.reading = reading }
}

/// The log of a step, or of a hook of the run itself.
struct ShownLog {
  /// The id of the step; nil for a hook of the run.
  let step: String?
  let role: String
  let run: String
  let name: String
  let path: String

  var isOfHook: Bool { Int(role) == nil }

  /// The title: `unit`, `unit (attempt 2)`.
  var title: String {
    let words = CommandRole(named: role)?.words
    return (step ?? "the run") + (words.map { " (\($0))" } ?? "")
  }
}

extension ShownRun {
  /// The logs of a step: of its attempts, the first one first, then of its hooks, in the order in
  /// which they ran. `isOpen` includes those that are not recorded yet.
  func logs(of step: RecordedStep, isOpen: Bool = false) -> [ShownLog] {
    if step.hasLostLogs { return [] }
    let roles = (commands[step.name] ?? []).filter { command in
      // A running command is not recorded yet.
      command.last.output ?? (isOpen ? 1 : 0) > 0
    }.map(\.role)
    var attempts = roles.filter { Int($0) != nil }.sorted { Int($0) ?? 0 < Int($1) ?? 0 }
    let last =
      step.attempts ?? (isOpen && (step.ending == nil || step.isLeft) ? attempts.count + 1 : 0)
    if last > 0, isOpen || step.last.output ?? 0 > 0, !attempts.contains(String(last)) {
      attempts.append(String(last))
    }
    return (attempts + roles.filter { Int($0) == nil }).compactMap { role in
      guard let kind = CommandRole(named: role) else { return nil }
      let run = step.origin ?? run.name
      let name = RunDirectory.logName(of: step.name, kind)
      return ShownLog(
        step: step.name, role: role, run: run, name: name, path: folder.shown("runs/\(run)/\(name)")
      )
    }
  }

  /// The log of a hook of the run itself; nil if it has printed nothing. `isOpen` includes one that
  /// is not recorded yet.
  func log(of hook: RecordedStepCommand, isOpen: Bool = false) -> ShownLog? {
    guard hook.last.output ?? (isOpen ? 1 : 0) > 0, let role = CommandRole(named: hook.role) else {
      return nil
    }
    let name = RunDirectory.logName(of: RunDirectory.runHookName, role)
    return ShownLog(
      step: nil, role: hook.role, run: run.name, name: name,
      path: folder.shown("runs/\(run.name)/\(name)"))
  }
}
