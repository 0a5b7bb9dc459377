// The step cache of a run.

import BuiltinSteps
import Caching
import Diagnostics
import Execution
import Glibc
import Plans
import Reporting
import RunFiles
import Scheduling
import State

/// The access of a run to the shared cache.
enum SharedCacheUse: String, CaseIterable {
  case on, read, off
}

extension Tool {
  /// The cache for a run; nil if no step uses it, or it cannot be used. The latter is reported,
  /// unless it is switched off.
  func stepCache(
    for plan: Plan, _ options: RunOptions, _ inherited: OpenWork?, _ invocation: Invocation
  ) -> StepCache? {
    let isOff = invocation.isOn(Options.noCache)
    guard let state = options.directory.state,
      plan.steps.contains(where: { $0.settings.cache != nil })
    else { return nil }
    do throws(CacheFailure) {
      var cacheOptions = cacheOptions(invocation, runID: options.runID, options.secrets)
      cacheOptions.isOff = isOff
      cacheOptions.shared = isOff ? nil : sharedCache(of: plan, options.secrets, invocation)
      let cache = StepCache(try CacheFolder.make(in: state), cacheOptions)
      let open = OpenSteps(in: state.path, takingOver: inherited) { run in
        // There are few notes, so the database is asked few questions.
        StateStore.look(in: state)?.lastHadJobs(run) ?? false
      }
      cache.openElsewhere = { open.run(making: $0) }
      return cache
    } catch {
      if !isOff { say("steps are not cached: \(error.message)") }
      return nil
    }
  }

  /// Removes a user and a password from the URL that steps inherit. Steps could also read the
  /// memory with oprun's initial variables, so it is changed there. Called when the URL has been
  /// read.
  func hideCachePassword() {
    guard let value = getenv(Options.cacheURL.variable), let colon = strstr(value, "://") else {
      return
    }
    let host = colon + 3
    var at = UnsafeMutablePointer<CChar>?.none
    var end = host
    while end.pointee != 0, strchr("/?#", Int32(end.pointee)) == nil {
      if end.pointee == CChar(bitPattern: UInt8(ascii: "@")) { at = end }
      end += 1
    }
    guard let at else { return }
    let (length, rest) = (strlen(host), strlen(at + 1))
    memmove(host, at + 1, rest)
    memset(host + rest, 0, length - rest)
  }

  func checkSharedCache(_ invocation: Invocation) throws(UsageFailure) {
    guard let url = invocation.text(Options.cacheURL), !SharedCacheAddress.isURL(url) else {
      return
    }
    throw .wrongURL(url, for: Options.cacheURL, invocation.command)
  }

  /// The shared cache for results; nil for none. The command line wins over the file.
  private func sharedCache(
    of plan: Plan, _ secrets: Secrets, _ invocation: Invocation
  ) -> SharedCache? {
    let use = invocation.choice(Options.sharedCache, default: SharedCacheUse.on)
    guard use != .off, var url = invocation.text(Options.cacheURL) ?? plan.sharedCache.url else {
      return nil
    }
    while url.hasSuffix("/") { url.removeLast() }
    return SharedCache(
      url: url, secret: plan.sharedCache.secret.flatMap { secrets[$0] }, isWritten: use == .on,
      program: neighbour(named: BuiltinStep.program))
  }

  /// The forecast of a dry run for cached steps. No command is run for it: the `tools` are assumed
  /// to print what they printed before.
  func cacheForecast(
    _ plan: Plan, _ invocation: Invocation, _ secrets: Secrets, isResumed: Bool = false
  ) -> StepForecast {
    var forecast = StepForecast()
    guard plan.steps.contains(where: { $0.settings.cache != nil }) else { return forecast }
    let isOff = invocation.isOn(Options.noCache)
    let words = ChangeWords(plan)
    let review =
      isOff
      ? nil
      : review(of: plan, for: isResumed ? .dryRunOfResume : .dryRun, invocation, secrets)
    for index in plan.steps.indices where plan.groups[OperationID(index)] == nil {
      let operation = OperationID(index)
      if plan.steps[index].settings.cache == nil {
        forecast.leftOut[operation] = review?.skipReason(of: operation)
        continue
      }
      if isOff {
        forecast.reasons[operation] = "--no-cache"
        continue
      }
      let verdict = review?.verdict(on: operation) ?? .neverRan
      if let reason = review?.skipReason(of: operation) {
        forecast.leftOut[operation] = reason
        continue
      }
      if case .restorable = verdict { forecast.restorable.insert(operation) }
      switch verdict {
      case .upToDate, .restorable:
        forecast.results[operation] = review?.result(of: operation)?.number
        forecast.upToDate[operation] = words.reason(of: verdict).map {
          $0 + (unless(operation, review) ?? "")
        }
      case .late: forecast.undecided.insert(operation)
      case .uncached, .neverRan, .changed, .lost, .refused, .refreshed, .skipped:
        let unless = verdict.dependsOnFiles ? unless(operation, review) ?? "" : ""
        forecast.reasons[operation] = words.reason(of: verdict).map { $0 + unless }
      }
    }
    return forecast
  }

  /// The words for what may make a step run that is up to date now; nil if nothing may.
  func unless(_ operation: OperationID, _ review: CacheReview?) -> String? {
    guard let review, let other = review.disturber(of: operation) else { return nil }
    return ", unless \(quoted(review.plan.steps[other.index].id)) changes its inputs"
  }

  func cacheOptions(
    _ invocation: Invocation, runID: String, _ secrets: Secrets
  ) -> CacheOptions {
    var options = CacheOptions()
    options.pipeline = invocation.operands.first.map(recordedPath) ?? "-"
    let named = invocation.operands.dropFirst()
    options.refreshesAll = invocation.isOn(Options.refresh) && named.isEmpty
    // A step from which a run is resumed runs, even if the cache has its result.
    let resumed = invocation.texts(Options.from) + invocation.texts(Options.only)
    options.refreshed = ((invocation.isOn(Options.refresh) ? Array(named) : []) + resumed)
      .map(StepName.init)
    options.version = "\(version)"
    options.masker = secrets.masker
    options.workspace = currentDirectory
    options.canConfine = canConfine(from: options.workspace)
    options.environment = inheritedEnvironment().byteTexts
    options.environment[OprunVariable.runID.rawValue] = runID
    options.environment[OprunVariable.workspace.rawValue] = options.workspace
    return options
  }

  private var currentDirectory: String { (try? currentFolder()) ?? "/" }
}
