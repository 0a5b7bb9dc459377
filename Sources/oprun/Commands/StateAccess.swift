// How commands find the state directory, its database and a run in it.

import Diagnostics
import Execution
import Glibc
import Plans
import RunFiles
import State

extension Tool {
  /// Opens the state directory that is meant: the one named, or the one here, or the one beside the
  /// pipeline that would be run here. Nil if there is none, which has been reported.
  func openState(
    _ invocation: inout Invocation, entersDirectory: Bool = false
  ) throws(UsageFailure) -> StateFolder? {
    var path = stateDirectory(invocation)
    if invocation.text(Options.stateDirectory) == nil, access(path, F_OK) != 0,
      let file = try PipelineSearch.system.usualFile(), let slash = file.lastIndex(of: "/")
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
      say("no run is recorded: directory \(quoted(path)) does not exist")
    } catch {
      say(error.message, help: error.help)
    }
    return nil
  }

  /// Does the same where there must be one.
  func withStore(
    _ folder: StateFolder, _ body: (StateStore) throws(UsageFailure) -> Int32
  ) throws(UsageFailure) -> Int32 {
    try withStore(folder, orElse: { sayNoRun(folder) }, body)
  }

  private func sayNoRun(_ folder: StateFolder) -> Int32 {
    say("no run is recorded in \(quoted(folder.shown(StateStore.fileName)))")
    return ExitStatus.usage
  }

  /// Does something with the database of a state directory; returns the exit status.
  func withStore(
    _ folder: StateFolder, orElse: () throws(UsageFailure) -> Int32,
    _ body: (StateStore) throws(UsageFailure) -> Int32
  ) throws(UsageFailure) -> Int32 {
    let store: StateStore?
    do throws(StoreFailure) {
      store = try StateStore.find(in: folder)
    } catch {
      say(error.message, help: error.help)
      return ExitStatus.cannotWrite
    }
    guard let store else { return try orElse() }
    // Who may only read sees what the database has.
    try? store.takeInJournals()
    return try body(store)
  }

  /// The name of the run that a word means: `last`, a name, or the end of one. No word means the
  /// newest run.
  func runName(
    _ word: String?, in store: StateStore, _ command: Command
  ) throws(UsageFailure) -> String {
    let names = (try? store.runNames()) ?? []
    guard let newest = names.first else { throw .noRuns(command) }
    guard let word, word != "last" else { return newest }
    if names.contains(word) { return word }
    let meant = names.filter { $0.hasSuffix("-" + word) }
    if meant.count > 1 { throw .severalRuns(word, meant, command) }
    guard let name = meant.first else { throw .unknownRun(word, among: names, command) }
    return name
  }

  /// The run and the steps that operands mean: the first may be left out if it is a step. `awaitsSteps` tells that it
  /// may be one which has not begun.
  func runAndSteps(
    _ operands: [String], in store: StateStore, awaitsSteps: Bool = false, _ command: Command
  ) throws(UsageFailure) -> (run: RecordedRunSummary, words: [String]) {
    var words = operands
    let name: String
    do throws(UsageFailure) {
      name = try runName(words.first, in: store, command)
      words = Array(words.dropFirst())
    } catch {
      let newest = try runName(nil, in: store, command)
      guard let first = words.first.map(StepName.init), let run = try? store.run(named: newest),
        let steps = try? store.steps(of: run)
      else { throw error }
      let isInUse = store.isInUse(newest)
      if !(awaitsSteps && isInUse), !steps.contains(where: { $0.isMeant(by: first) }) {
        throw isInUse
          ? .neitherRunNorStep(first.word, of: newest, among: steps.map(\.name), command) : error
      }
      name = newest
    }
    guard let run = try? store.run(named: name) else { throw .noRuns(command) }
    return (run, words)
  }

  /// The steps that words mean; all of them if there are no words.
  func steps(
    _ words: [String], of shown: ShownRun, _ command: Command
  ) throws(UsageFailure) -> [RecordedStep] {
    let steps = shown.steps
    let names = words.map(StepName.init)
    for name in names where !steps.contains(where: { $0.isMeant(by: name) }) {
      throw .unknownStep(
        name.word, of: shown.run.name, isInProgress: shown.isInUse, among: steps.lazy.map(\.name),
        command)
    }
    if words.isEmpty { return steps.filter { !$0.standsForOthers } }
    return steps.filter { step in
      names.contains { step.isMeant(by: $0) }
        && (!step.standsForOthers || words.contains(step.name))
    }
  }
}

extension RecordedStep {
  fileprivate func isMeant(by word: StepName) -> Bool {
    word.covers(name) || word.covers(shownName)
  }
}
