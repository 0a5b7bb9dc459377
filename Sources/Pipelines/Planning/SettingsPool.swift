// The settings of steps with all defaults filled in; steps that say the same share one instance.

import Scheduling

/// Builds each different `StepSettings` once.
struct SettingsPool {
  private let model: PipelineModel
  private let defaults: SettingsDraft
  /// Of every step that sets nothing.
  let plain: StepSettings
  private var built: [StepSettings?]

  init(_ model: PipelineModel) {
    self.model = model
    var draft = SettingsDraft(model)
    for setting in model.defaultSettings { draft.apply(setting, of: model) }
    defaults = draft
    plain = draft.settings(label: nil)
    built = Array(repeating: nil, count: model.settings.count)
  }

  mutating func settings(for details: DetailsModel) -> StepSettings {
    if let label = details.label { return draft(details.settings).settings(label: label) }
    guard details.settings >= 0 else { return plain }
    if let settings = built[Int(details.settings)] { return settings }
    let settings = draft(details.settings).settings(label: nil)
    built[Int(details.settings)] = settings
    return settings
  }

  private func draft(_ number: Int32) -> SettingsDraft {
    var draft = defaults
    guard number >= 0 else { return draft }
    for setting in model.settings[Int(number)] { draft.apply(setting, of: model) }
    return draft
  }
}

/// Settings in the making: the pipeline's words, then the defaults', then a step's own.
private struct SettingsDraft {
  private var environment: [EnvironmentVariable]
  private var workingDirectory: String?
  private var shell: [String]
  private var standardInput: String?
  private var timeout: Nanoseconds?
  private var retry = RetryPolicy()
  private var allowFailure = AllowFailure.never
  private var stop = StopSequence()
  private var logLimit = StepSettings.defaultLogLimit
  private var nice: Int32 = 0
  private var orphans = OrphanAction.kill
  private var hooks = Hooks()
  private var outputs: [OutputDeclaration]?

  init(_ model: PipelineModel) {
    environment = model.environment
    workingDirectory = model.workingDirectory
    shell = model.shell ?? StepSettings.defaultShell
  }

  /// Variables are added; anything else takes the place of what was there.
  mutating func apply(_ setting: Setting, of model: PipelineModel) {
    switch setting {
    case .environment(let variables): environment = merged(environment, variables)
    case .workingDirectory(let path): workingDirectory = joined(model.workingDirectory, path)
    case .shell(let words): shell = words
    case .standardInput(let text): standardInput = text
    case .timeout(let duration): timeout = duration
    case .retry(let policy): retry = policy
    case .allowFailure(let allowed): allowFailure = allowed
    case .stop(let sequence): stop = sequence
    case .logLimit(let limit): logLimit = limit
    case .nice(let level): nice = level
    case .orphans(let action): orphans = action
    case .hook(.onSuccess, let commands): hooks.onSuccess = commands
    case .hook(.onFailure, let commands): hooks.onFailure = commands
    case .hook(.onCancel, let commands): hooks.onCancel = commands
    case .hook(.onComplete, let commands): hooks.onComplete = commands
    case .outputs(let declared): outputs = declared
    }
  }

  func settings(label: String?) -> StepSettings {
    StepSettings(
      name: label, environment: environment, workingDirectory: workingDirectory, shell: shell,
      standardInput: standardInput, timeout: timeout, retry: retry, allowFailure: allowFailure,
      stop: stop, logLimit: logLimit, nice: nice, orphans: orphans, hooks: hooks,
      outputs: outputs)
  }
}

/// One value for each name: the last one, in the place of the first.
private func merged(
  _ base: [EnvironmentVariable], _ added: [EnvironmentVariable]
) -> [EnvironmentVariable] {
  if base.isEmpty { return added }
  var result = base
  var places: [String: Int] = [:]
  for (place, variable) in base.enumerated() { places[variable.name] = place }
  for variable in added {
    if let place = places[variable.name] {
      result[place] = variable
    } else {
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
