// The step cache of a run.

import Caching
import Diagnostics
import Execution
import Plans
import RunFiles

extension Tool {
  /// The cache for a run; nil if no step uses it, or it cannot be used, which is said.
  func stepCache(for plan: Plan, _ options: RunOptions, _ invocation: Invocation) -> StepCache? {
    guard !invocation.isOn(Options.noCache), let state = options.directory.state,
      plan.steps.contains(where: { $0.settings.cache != nil })
    else { return nil }
    do throws(CacheFault) {
      return StepCache(
        try CacheFolder.make(in: state),
        cacheOptions(invocation, runID: options.runID, options.secrets))
    } catch {
      say("steps are not cached: \(error.message)")
      return nil
    }
  }

  func cacheOptions(
    _ invocation: Invocation, runID: String, _ secrets: Secrets
  ) -> CacheOptions {
    var options = CacheOptions()
    options.pipeline = invocation.operands.first.map(recordedPath) ?? "-"
    let named = invocation.operands.dropFirst()
    options.refreshesAll = invocation.isOn(Options.refresh) && named.isEmpty
    options.refreshed = invocation.isOn(Options.refresh) ? Set(named) : []
    options.version = "\(version)"
    options.masker = secrets.masker
    options.workspace = currentDirectory
    options.environment = inheritedEnvironment().values
    options.environment[OprunVariable.runID.rawValue] = runID
    options.environment[OprunVariable.workspace.rawValue] = options.workspace
    return options
  }

  private var currentDirectory: String { (try? currentFolder()) ?? "/" }
}
