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
        let screen = listingScreen
        let here = store.folder.currentPlace
        // In a project that has its state directory for itself, all runs were in its directory.
        let isShared = runs.contains { $0.workspace != nil }
        let width = runs.map(\.counts.unicodeScalars.count).filter { $0 <= Self.widestCounts }.max()
        for run in runs {
          let isElsewhere = isShared && run.workspace != here
          write(run, store, screen, countsWidth: width ?? 0, isElsewhere: isElsewhere)
        }
      }
      return ExitStatus.success
    } catch {
      say(error.message, help: error.help)
      return ExitStatus.cannotWrite
    }
  }

  /// Writes the line of a run: `20260402-101502-k3  failed     9.8s  1 failed, 5 ok  gallery.yml`,
  /// and where it ran if that is not here.
  private func write(
    _ run: RecordedRunSummary, _ store: StateStore, _ screen: Screen, countsWidth: Int,
    isElsewhere: Bool
  ) {
    let state = run.state(isInUse: run.exitStatus == nil && store.isInUse(run.name))
    let duration = run.duration.map { elapsedText(Int64($0) * 1000) } ?? "–"
    let blanks = Self.widthOfState - state.utf8.count - duration.unicodeScalars.count
    let time = String(repeating: " ", count: max(0, blanks)) + duration
    var texts = [oneLine(run.pipeline)]
    if isElsewhere {
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
