// Finds the state directory, its database and a run in it, for all commands.

import Diagnostics
import Execution
import Glibc
import Plans
import RunFiles
import State

extension Tool {
  /// Opens the state directory: the one that is named, or the one here, or the one beside the
  /// pipeline that would be run here. Nil if there is none, which has been reported. Throws if it
  /// may not be used.
  func openState(
    _ invocation: inout Invocation, entersDirectory: Bool = false
  ) throws(UsageFailure) -> StateFolder? {
    var path = stateDirectory(invocation)
    if let file = try usualFileWithState(invocation, runsIt: entersDirectory),
      let slash = file.lastIndex(of: "/")
    {
      let directory = String(file[..<slash])
      if entersDirectory {
        invocation.directory = directory
        invocation.operands.insert(String(file[file.index(after: slash)...]), at: 0)
        defer { invocation.operands.removeFirst() }
        guard enter(&invocation) else { return nil }
      } else {
        path = "\(directory)/\(path)"
      }
    }
    do throws(StateFailure) {
      if let folder = try StateDirectory(path: path).open() { return folder }
    } catch {
      throw .unusableState(error.message, help: error.helpWithRuns)
    }
    say("no run is recorded: directory \(quoted(path)) does not exist")
    return nil
  }

  /// The pipeline beside which the state directory is, if that is neither named nor here.
  private func usualFileWithState(
    _ invocation: Invocation, runsIt: Bool
  ) throws(UsageFailure) -> String? {
    if invocation.text(Options.stateDirectory) != nil { return nil }
    if access(stateDirectory(invocation), F_OK) == 0 { return nil }
    // A pipeline that belongs to another user is refused only when it would be run.
    if !runsIt { return try? PipelineSearch.system.usualFile() }
    return try PipelineSearch.system.usualFile()
  }

  /// The path of the state directory that a run would use here.
  func statePath(_ invocation: Invocation) -> String {
    let path = stateDirectory(invocation)
    let file = try? usualFileWithState(invocation, runsIt: false)
    guard let file, let slash = file.lastIndex(of: "/") else { return path }
    return "\(file[..<slash])/\(path)"
  }

  /// Opens the database of the state directory; nil if no run is recorded, which has been reported.
  func openStore(
    _ invocation: inout Invocation, entersDirectory: Bool = false
  ) throws(UsageFailure) -> StateStore? {
    guard let folder = try openState(&invocation, entersDirectory: entersDirectory) else {
      return nil
    }
    if let store = try openStore(folder, isDryRun: invocation.isOn(Options.dryRun)) { return store }
    say("no run is recorded in \(quoted(folder.shown(StateStore.fileName)))")
    return nil
  }

  /// Opens the database of a state directory; nil if there is none. A dry run does not change it,
  /// unless the database can only be read by opening it for writing, such as one of an older
  /// format. A run begins a new one if it is damaged.
  func openStore(
    _ folder: StateFolder, isDryRun: Bool = false, isForRun: Bool = false
  ) throws(UsageFailure) -> StateStore? {
    if isDryRun, let store = StateStore.look(in: folder) { return store }
    let store = try readingState { () throws(StoreFailure) in
      isForRun && !isDryRun
        ? try StateStore.findForRun(named: nil, in: folder) : try StateStore.find(in: folder)
    }
    // A user who may only read sees what the database has.
    if !isDryRun { try? store?.takeInJournals() }
    return store
  }

  /// Calls `body`, which reads a database that may turn out to be unusable.
  func readingState<Result>(_ body: () throws(StoreFailure) -> Result) throws(UsageFailure)
    -> Result
  {
    do throws(StoreFailure) {
      return try body()
    } catch {
      throw .unusableState(error.message, help: error.help)
    }
  }

  /// The name of the run that a word means: `last`, a name, or the beginning or the end of one.
  /// Without a word, the newest run.
  func runName(
    _ word: String?, in store: StateStore, _ command: Subcommand
  ) throws(UsageFailure) -> String {
    let names = try readingState { () throws(StoreFailure) in try store.runNames() }
    guard let newest = names.first else { throw .noRuns(command) }
    guard let word, word != "last" else { return newest }
    let meant = runs(named: word, among: names)
    if meant.count > 1 { throw .severalRuns(word, meant, command) }
    guard let name = meant.first else { throw .unknownRun(word, among: names, command) }
    return name
  }

  /// The run and the steps that operands mean. The first word is a run if it cannot be a step;
  /// otherwise a step, if the last run has it; otherwise a part of a run's name. `awaitsSteps`
  /// allows a step which has not begun.
  func runAndSteps(
    _ operands: [String], in store: StateStore, awaitsSteps: Bool = false, _ command: Subcommand
  ) throws(UsageFailure) -> (run: RecordedRunSummary, words: [String]) {
    let newest = try runName(nil, in: store, command)
    guard let first = operands.first, !Invocation.canOnlyBeRun(first) else {
      let name = try runName(operands.first, in: store, command)
      return (try run(named: name, in: store, command), Array(operands.dropFirst()))
    }
    let last = try run(named: newest, in: store, command)
    let steps = try readingState { () throws(StoreFailure) in try store.steps(of: last) }
    let step = StepName(first)
    if steps.contains(where: { $0.isMeant(by: step) }) { return (last, operands) }
    do throws(UsageFailure) {
      let name = try runName(first, in: store, command)
      return (try run(named: name, in: store, command), Array(operands.dropFirst()))
    } catch {
      let isInUse = store.isInUse(newest)
      if error.status != ExitStatus.usage || Invocation.isFileName(first) { throw error }
      if awaitsSteps, isInUse { return (last, operands) }
      let searched = UsageFailure.SearchedRun(name: newest, isInProgress: isInUse)
      throw .neitherRunNorStep(first, of: searched, among: steps.lazy.map(\.name), command)
    }
  }

  /// The record of a run that exists, unless it has been removed meanwhile. If `counting`, it has
  /// the counts of endings.
  func run(
    named name: String, in store: StateStore, counting: Bool = true, _ command: Subcommand
  ) throws(UsageFailure) -> RecordedRunSummary {
    let run = try readingState { () throws(StoreFailure) in
      try store.run(named: name, counting: counting)
    }
    guard let run else { throw .noRuns(command) }
    return run
  }

  /// The directory of a run, or a substitute if its logs were removed; nil if neither can be opened.
  func directory(of run: RecordedRunSummary, in store: StateStore) -> RunDirectory? {
    if let directory = store.folder.run(named: run.name) { return directory }
    let folder = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    return folder < 0
      ? nil : RunDirectory(owning: folder, path: store.folder.shown("runs/\(run.name)"))
  }

  func sayNoDirectory(of run: RecordedRunSummary) -> Int32 {
    say("the directory of run \(run.name) no longer exists")
    return ExitStatus.cannotWrite
  }

  /// The steps that words mean; all steps if there are no words.
  func steps(
    _ words: [String], of shown: ShownRun, _ command: Subcommand
  ) throws(UsageFailure) -> [RecordedStep] {
    let steps = shown.steps
    let names = words.map(StepName.init)
    for name in names where !steps.contains(where: { $0.isMeant(by: name) }) {
      let run = UsageFailure.SearchedRun(name: shown.run.name, isInProgress: shown.isInUse)
      throw .unknownStep(name.word, of: run, among: steps.lazy.map(\.name), command)
    }
    if words.isEmpty { return steps.filter { !$0.standsForOthers } }
    return steps.filter { step in
      names.contains { step.isMeant(by: $0) }
        && (!step.standsForOthers || words.contains(step.name))
    }
  }
}

/// The runs that a word may mean: a name, or the beginning or the end of one.
func runs(named word: String, among names: [String]) -> [String] {
  names.contains(word) ? [word] : names.filter { $0.hasPrefix(word) || $0.hasSuffix("-" + word) }
}

extension RecordedStep {
  fileprivate func isMeant(by word: StepName) -> Bool {
    word.covers(name) || word.covers(shownName)
  }
}
