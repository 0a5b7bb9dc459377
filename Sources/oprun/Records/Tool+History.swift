// `oprun history` and `oprun prune`: the recorded runs, and how to remove them.

import BuiltinSteps
import CLinux
import Caching
import Diagnostics
import Execution
import Glibc
import Plans
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

  /// The screen for a listing, which wraps lines if a terminal is narrow.
  var listingScreen: Screen {
    shareOutputWithRunner()
    return Screen(listingTo: output, environment: environmentValue)
  }

  func prune(_ invocation: Invocation) throws(UsageFailure) -> Int32 {
    var invocation = invocation
    var limits = PruneLimits(
      count: invocation.count(Options.keep), age: invocation.duration(Options.olderThan))
    if let text = invocation.text(Options.maxSize) {
      guard let size = byteCount(text) else {
        throw .wrongSize(text, for: Options.maxSize, invocation.command)
      }
      limits.size = size
    }
    if limits == PruneLimits() { limits = .automatic }
    guard let store = try openStore(&invocation) else { return ExitStatus.usage }
    do throws(StoreFailure) {
      let isDryRun = invocation.isOn(Options.removeNothing)
      let pruned = try store.prune(limits, now: wallTime(), isDryRun: isDryRun) {
        store.isDirectoryNeeded(of: $0)
      }
      for kept in pruned.kept { say(kept) }
      let (swept, isSwept) = sweepCache(store.folder, limits, isDryRun)
      if invocation.isOn(Options.json) {
        writeJSON(pruned, swept)
      } else {
        write(pruned, isDryRun)
        write(swept, isDryRun)
      }
      let hasFailed =
        !isSwept || pruned.kept.contains { if case .error = $0.reason { true } else { false } }
      return hasFailed ? ExitStatus.cannotWrite : ExitStatus.success
    } catch {
      say(error.message, help: error.help)
      return ExitStatus.cannotWrite
    }
  }

  /// Reports why a run was kept, unless it is in progress, which needs no explanation.
  private func say(_ kept: KeptRun) {
    switch kept.reason {
    case .error(let message): say(message)
    case .jobs:
      let run = kept.run
      say(
        "run \(run) may still have jobs in Slurm, or results of jobs that no run has taken, so it is not removed",
        help:
          "'oprun resume' takes them; 'oprun cancel \(run)' ends jobs, and then gives up results")
    case .inUse: break
    }
  }

  private func write(_ pruned: Pruned, _ isDryRun: Bool) {
    for name in pruned.runs { output.write("  \(name)\n") }
    output.write(pruned.runs.count, "run")
    output.write(isDryRun ? " would be removed" : " removed")
    if pruned.bytes > 0 {
      output.write(", ")
      output.write(byteCount: pruned.bytes)
      output.write(" of logs")
    }
    output.writeNewline()
  }

  /// Removes results of cached steps; only limits on age and size apply to them. False if they
  /// cannot be removed.
  private func sweepCache(
    _ folder: StateFolder, _ limits: PruneLimits, _ isDryRun: Bool
  ) -> (SweptCache, isSwept: Bool) {
    var cached = CacheLimits()
    if let age = limits.age, limits != .automatic { cached.age = Int(age / 1_000_000_000) }
    do throws(CacheFailure) {
      if let swept = try CacheFolder.sweep(folder, cached, isDryRun: isDryRun) {
        return (swept, true)
      }
      say("the cache of steps is in use: no result \(isDryRun ? "would be" : "was") removed")
    } catch {
      say(error.message)
      return (SweptCache(), false)
    }
    return (SweptCache(), true)
  }

  private func write(_ swept: SweptCache, _ isDryRun: Bool) {
    guard swept != SweptCache() else { return }
    output.write(swept.results, "result")
    output.write(isDryRun ? " of cached steps would be removed, " : " of cached steps removed, ")
    output.write(byteCount: swept.bytes)
    output.writeNewline()
  }

  private func writeJSON(_ pruned: Pruned, _ swept: SweptCache) {
    output.write("{")
    output.write(field: "removed", isFirst: true)
    output.write(jsonList: pruned.runs) { output.write(json: $0) }
    output.write(field: "bytes")
    output.write(decimal: pruned.bytes)
    output.write(field: "kept")
    output.write(jsonList: pruned.kept) { write(json: $0) }
    output.write(field: "cached_results")
    output.write(decimal: swept.results)
    output.write(field: "cached_bytes")
    output.write(decimal: swept.bytes)
    output.write("}\n")
  }
}

extension Tool {
  private func write(json kept: KeptRun) {
    output.write("{")
    output.write(field: "run", isFirst: true)
    output.write(json: kept.run)
    output.write(field: "reason")
    switch kept.reason {
    case .jobs: output.write(json: "jobs")
    case .inUse: output.write(json: "in_use")
    case .error(let message):
      output.write(json: "error")
      output.write(field: "message")
      output.write(json: message)
    }
    output.write("}")
  }
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
