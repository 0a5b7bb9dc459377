// `oprun prune`: old runs and results are removed.

import BuiltinSteps
import Caching
import Diagnostics
import Reporting
import RunFiles
import State

extension Tool {
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

  /// Reports why a run was kept, unless it is in progress: that goes without saying.
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

  /// The results of cached steps; those of other limits than age and size are not asked for. False if they cannot be
  /// removed.
  private func sweepCache(
    _ folder: StateFolder, _ limits: PruneLimits, _ isDryRun: Bool
  ) -> (SweptCache, isSwept: Bool) {
    var cached = CacheLimits()
    if let age = limits.age, !limits.isAutomatic { cached.age = Int(age / 1_000_000_000) }
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
