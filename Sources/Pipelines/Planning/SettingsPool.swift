// The settings of steps with all defaults filled in; steps that say the same share one instance.

import Scheduling

/// Builds each different `StepSettings` once.
struct SettingsPool {
  private let model: PipelineModel
  /// Of every step that sets nothing.
  let plain: StepSettings
  private var built: [StepSettings?]

  init(_ model: PipelineModel) {
    self.model = model
    plain = StepSettings(SettingsModel(), in: model)
    built = Array(repeating: nil, count: model.settings.count)
  }

  subscript(number: Int32) -> StepSettings {
    mutating get {
      guard number >= 0 else { return plain }
      let index = Int(number)
      if let settings = built[index] { return settings }
      let settings = StepSettings(model.settings[index], in: model)
      built[index] = settings
      return settings
    }
  }
}

extension StepSettings {
  /// A step's own words, then the defaults', then the pipeline's.
  fileprivate convenience init(_ own: SettingsModel, in model: PipelineModel) {
    let defaults = model.defaultSettings
    var hooks = Hooks()
    hooks.onSuccess = own.onSuccess ?? defaults.onSuccess ?? []
    hooks.onFailure = own.onFailure ?? defaults.onFailure ?? []
    hooks.onCancel = own.onCancel ?? defaults.onCancel ?? []
    hooks.onComplete = own.onComplete ?? defaults.onComplete ?? []
    self.init(
      name: own.name,
      environment: merged([
        model.environment, defaults.environment ?? [], own.environment ?? [],
      ]),
      workingDirectory: joined(
        model.workingDirectory, own.workingDirectory ?? defaults.workingDirectory),
      shell: own.shell ?? defaults.shell ?? model.shell ?? StepSettings.defaultShell,
      standardInput: own.standardInput ?? defaults.standardInput,
      timeout: own.timeout ?? defaults.timeout,
      retry: own.retry ?? defaults.retry ?? RetryPolicy(),
      allowFailure: own.allowFailure ?? defaults.allowFailure ?? .never,
      stop: own.stop ?? defaults.stop ?? StopSequence(),
      logLimit: own.logLimit ?? defaults.logLimit ?? StepSettings.defaultLogLimit,
      nice: own.nice ?? defaults.nice ?? 0,
      orphans: own.orphans ?? defaults.orphans ?? .kill,
      hooks: hooks)
  }
}

/// One value for each name: the last one, in the place of the first.
private func merged(_ layers: [[EnvironmentVariable]]) -> [EnvironmentVariable] {
  let layers = layers.filter { !$0.isEmpty }
  guard layers.count > 1 else { return layers.first ?? [] }
  var result: [EnvironmentVariable] = []
  var places: [String: Int] = [:]
  for variable in layers.joined() {
    if let place = places[variable.name] {
      result[place] = variable
    } else {
      places[variable.name] = result.count
      result.append(variable)
    }
  }
  return result
}

private func joined(_ base: String?, _ path: String?) -> String? {
  guard let path else { return base }
  guard let base, !path.hasPrefix("/") else { return path }
  return base.hasSuffix("/") ? base + path : base + "/" + path
}
