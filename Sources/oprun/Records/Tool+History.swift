// `oprun history`: the recorded runs.

import Diagnostics
import Reporting
import RunFiles
import Scheduling
import State

extension Tool {
  func history(_ invocation: Invocation) throws(UsageFailure) -> Int32 {
    var invocation = invocation
    guard let store = try openStore(&invocation) else {
      guard invocation.isOn(Options.json) else { return ExitStatus.usage }
      // For programs, an empty list is no mistake.
      output.write("[]\n")
      return ExitStatus.success
    }
    let limit = invocation.count(Options.limit) ?? 20
    do throws(StoreFailure) {
      let runs = try store.runs(limit: limit == 0 ? .max : limit)
      if invocation.isOn(Options.json) {
        output.write(jsonList: runs) { run in
          output.writeNewline()
          write(json: run, store)
        }
        output.writeNewline()
      } else {
        let list = RunList(runs, store, listingScreen)
        for run in runs { list.write(run) }
      }
      return ExitStatus.success
    } catch {
      say(error.message, help: error.help)
      return ExitStatus.cannotWrite
    }
  }
}

/// The list of runs, for people.
private struct RunList {
  let store: StateStore
  let screen: Screen
  private let countsWidth: Int
  /// True if the runs were started in more than one directory. In a project that has its state directory for
  /// itself, all were in its directory.
  private let isShared: Bool
  private let here: String?

  init(_ runs: [RecordedRunSummary], _ store: StateStore, _ screen: Screen) {
    self.store = store
    self.screen = screen
    here = store.folder.currentPlace
    isShared = runs.contains { $0.workspace != nil }
    let widths = runs.map(\.counts.unicodeScalars.count)
    countsWidth = widths.filter { $0 <= Self.widestCounts }.max() ?? 0
  }

  /// Writes the line of a run: `20260402-101502-k3  failed     9.8s  1 failed, 5 ok  gallery.yml`,
  /// and where it ran if that is not here.
  func write(_ run: RecordedRunSummary) {
    let state = run.state(isInUse: run.exitStatus == nil && store.isInUse(run.name))
    let duration = run.duration.map { elapsedText(Int64($0) * 1000) } ?? "–"
    let blanks = Self.widthOfState - state.utf8.count - duration.unicodeScalars.count
    let time = String(repeating: " ", count: max(0, blanks)) + duration
    var texts = [oneLine(run.pipeline)]
    if isShared, run.workspace != here {
      let folder = store.folder.directory(of: run.workspace) ?? run.workspace
      if let folder { texts.append("in \(oneLine(folder))") }
    }
    texts += run.remarks
    let counts = run.counts
    let padding = max(0, countsWidth - counts.unicodeScalars.count)
    screen.writeLine([run.name, "\(state) \(time)"], [counts], padding: padding, texts)
  }

  /// The width of a state and a duration: `succeeded 1h02m03s`.
  private static let widthOfState = 17
  /// The widest counts that are aligned; longer ones move the text after them.
  private static let widestCounts = 40
}

extension RecordedRunSummary {
  /// The state of the run in one word.
  func state(isInUse: Bool) -> String {
    guard let exitStatus else { return isInUse ? "running" : "died" }
    if wasLeft { return "left" }
    if exitStatus == 0 { return "succeeded" }
    return stop != nil && exitStatus != 1 ? "stopped" : "failed"
  }

  /// The words about its result besides the counts of its steps.
  var remarks: [String] {
    endingCounts.remarks(
      exitStatus: exitStatus ?? 0, hookFailed: hookFailed,
      passedOn: passedOn.map { passedOnWords($0.status, of: $0.shownStep) },
      stop: stop.map { oneLine($0.words) })
  }

  /// The counts in words, as the run itself writes them: `1 failed, 2 blocked, 5 ok`; with the
  /// number of steps that have not ended, if the run has not ended either.
  var counts: String {
    let words = endingCounts.words
    return words.isEmpty ? "nothing ran" : words.joined(separator: ", ")
  }

  var endingCounts: EndingCounts {
    var counts = EndingCounts()
    for entry in endings {
      counts.add(entry.ending, entry.isLeft ? .stopped(.left) : .itself, entry.number)
    }
    if exitStatus == nil { counts.add(unended: max(0, steps - counts.total)) }
    return counts
  }
}
