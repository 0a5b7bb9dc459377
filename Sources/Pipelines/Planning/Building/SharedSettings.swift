// The settings of steps with all defaults filled in; steps with equal settings share one instance.

import Expressions
import Plans
import Scheduling

/// Settings whose parts may become known later. They are a class, so that many steps share them.
final class PlannedSettings {
  let settings: StepSettings
  /// The late settings; nil if everything is known.
  let late: LateSettings?
  /// The standard input of commands, if it contains expressions.
  let input: Template?

  init(settings: StepSettings, late: LateSettings?, input: Template?) {
    self.settings = settings
    self.late = late
    self.input = input
  }

  /// True if nothing is left for the run.
  var isKnown: Bool { late == nil && input == nil }
}

/// Builds each distinct `StepSettings` of a pipeline once.
final class SharedSettings {
  private let model: PipelineModel
  private let defaults: SettingsDraft
  /// The environment of every step that adds no variable, once it is made.
  private var environment: FoldedEnvironment?
  private var built: [PlannedSettings?]
  private var plain: PlannedSettings?
  /// True if the defaults contain expressions: instances of a matrix may differ in them.
  private let defaultsDiffer: Bool
  /// The draft for the commands of `vars`; nil if there are none.
  private let commands: SettingsDraft?

  init(_ pipeline: PipelineUse, executor: StepExecutor?) {
    model = pipeline.model
    defaultsDiffer =
      model.defaultSettings.contains(where: \.hasExpression)
      || pipeline.surroundings.directories.contains { $0.text.template != nil }
      || pipeline.inputs.environment.contains { $0.value.template != nil }
    var draft = SettingsDraft(pipeline)
    for setting in model.defaultSettings { draft.apply(setting) }
    draft.take(pipeline.surroundings)
    draft.chooseExecutor(executor)
    draft.addsVariables = false
    defaults = draft
    commands = model.hasVarSteps ? SettingsDraft(ofCommandsIn: pipeline) : nil
    built = Array(repeating: nil, count: model.settings.count)
  }

  /// The settings of a step of the pipeline; `values` are those of its instance if it has a matrix.
  func settings(
    of step: Int, _ values: KnownValues
  ) throws(EvaluationFailure) -> PlannedSettings {
    let number = model.steps[step].attributes
    guard number >= 0 else { return try plain(values) }
    let attributes = model.attributes[Int(number)]
    if let commands, model.isVarStep(step) {
      if let known = built[Int(attributes.settings)] { return known }
      let settings = try commands.settings(
        label: nil, values, try commands.foldedEnvironment(values))
      built[Int(attributes.settings)] = settings
      return settings
    }
    let isShared = attributes.label == nil && !differs(attributes, values)
    if isShared, attributes.settings < 0 { return try plain(values) }
    if isShared, let known = built[Int(attributes.settings)] { return known }
    var draft = defaults
    if attributes.settings >= 0 {
      for setting in model.settings[Int(attributes.settings)] { draft.apply(setting) }
    }
    let settings = try draft.settings(
      label: attributes.label, values, try environment(for: draft, values))
    if isShared { built[Int(attributes.settings)] = settings }
    return settings
  }

  /// The settings of a step that stands for the steps of a pipeline, as a whole. Its other settings
  /// apply to those steps.
  func wholeSettings(
    of step: Int, _ values: KnownValues, limit: Nanoseconds?
  ) throws(EvaluationFailure) -> PlannedSettings {
    var draft = SettingsDraft()
    if let limit { draft.apply(.timeout(limit)) }
    let number = model.steps[step].attributes
    guard number >= 0 else {
      return try draft.settings(label: nil, values, FoldedEnvironment())
    }
    let attributes = model.attributes[Int(number)]
    for setting in attributes.settings < 0 ? [] : model.settings[Int(attributes.settings)] {
      switch setting {
      case .timeout(let own): draft.apply(.timeout(min(own, limit ?? own)))
      case .early(let value):
        guard value.key == .timeout, let own = try value.duration(values) else { continue }
        draft.apply(.timeout(min(own, limit ?? own)))
      case .allowFailure, .allowFailureIf: draft.apply(setting)
      case .environment, .workingDirectory, .baseDirectory, .shell, .standardInput, .retry, .stop,
        .logLimit, .nice, .tty, .untrustedOutput, .orphans, .jobserver, .hook, .outputs, .cache,
        .executor, .slurm:
        break
      }
    }
    return try draft.settings(label: attributes.label, values, FoldedEnvironment())
  }

  /// The settings of a step that sets nothing, if they are made and completely known; nil for an
  /// instance that may have others.
  func plainSettings(_ address: StepAddress) -> PlannedSettings? {
    guard let plain, plain.isKnown, address.instance == nil || !defaultsDiffer else { return nil }
    return plain
  }

  /// True if instances of one step may have different settings.
  private func differs(_ attributes: AttributesModel, _ values: KnownValues) -> Bool {
    guard values.isOfInstance else { return false }
    return defaultsDiffer
      || attributes.settings >= 0
        && model.settings[Int(attributes.settings)].contains(where: \.hasExpression)
  }

  private func plain(_ values: KnownValues) throws(EvaluationFailure) -> PlannedSettings {
    let isShared = !values.isOfInstance || !defaultsDiffer
    if isShared, let plain { return plain }
    let settings = try defaults.settings(
      label: nil, values, try environment(for: defaults, values))
    if isShared { plain = settings }
    return settings
  }

  private func environment(
    for draft: SettingsDraft, _ values: KnownValues
  ) throws(EvaluationFailure) -> FoldedEnvironment {
    if draft.addsVariables || defaultsDiffer && values.isOfInstance {
      return try draft.foldedEnvironment(values)
    }
    if let environment { return environment }
    let folded = try defaults.foldedEnvironment(values)
    environment = folded
    return folded
  }
}

/// Variables with everything inserted that is known.
struct FoldedEnvironment {
  var known: [EnvironmentVariable] = []
  var late: [VariableModel] = []
}

/// Settings under construction: first the pipeline's, then the defaults, then a step's own.
struct SettingsDraft {
  private var environment: [VariableModel]
  /// The variables of parameters, which win over all others.
  private var inputVariables: [VariableModel] = []
  /// True if variables were added to the initial ones.
  var addsVariables = false
  private var baseDirectories: [GivenText]
  private var workingDirectory: Text?
  private var shell: [String]
  private var standardInput: Text?
  private var timeout: Nanoseconds?
  private var retry = RetryPolicy()
  private var allowFailure = AllowFailure.never
  private var allowFailureIf: Expression?
  private var stop = StopSequence()
  private var logLimit = StepSettings.defaultLogLimit
  private var nice: Int32 = 0
  private var usesTerminal = false
  private var hasUntrustedOutput = false
  private var orphans = OrphanAction.kill
  private var sharesJobs: Bool?
  private var hooks: [HookKind: [HookModel]] = [:]
  private var outputs: [OutputDeclaration]?
  private var capturesOutput = false
  private var cache: CacheModel?
  private var executor = StepExecutor.local
  /// True if every step runs here, whatever its settings are.
  private var isAllLocal = false
  private var slurm = SlurmRequest()
  /// Expressions in place of the time limit and of the number of retries.
  private var early: [EarlyValue.Key: EarlyValue] = [:]

  /// Makes the draft for a group, which runs nothing itself.
  init() {
    environment = []
    baseDirectories = []
    shell = StepSettings.defaultShell
  }

  init(_ pipeline: PipelineUse) {
    environment = pipeline.inputs.environment
    inputVariables = pipeline.inputVariables
    baseDirectories = pipeline.surroundings.directories
    shell = pipeline.model.shell ?? StepSettings.defaultShell
    executor = pipeline.executor ?? .local
    slurm = pipeline.request
  }

  /// Makes the draft for commands of `vars`, which take nothing from `defaults`.
  init(ofCommandsIn pipeline: PipelineUse) {
    self.init(pipeline)
    environment = pipeline.environmentOfCommands
    capturesOutput = true
    isAllLocal = true
  }

  /// Applies a setting: variables are added; anything else replaces the previous value.
  mutating func apply(_ setting: Setting) {
    switch setting {
    case .environment(let variables):
      environment = merged(environment, variables)
      addsVariables = true
    case .workingDirectory(let path): workingDirectory = path
    case .baseDirectory(let path): baseDirectories = [GivenText(text: path)]
    case .shell(let words): shell = words
    case .standardInput(let text): standardInput = text
    case .timeout(let duration):
      timeout = duration
      early[.timeout] = nil
    case .retry(let policy):
      retry = policy
      early[.retry] = nil
    case .early(let value): early[value.key] = value
    case .allowFailure(let allowed):
      allowFailure = allowed
      allowFailureIf = nil
    case .allowFailureIf(let condition): allowFailureIf = condition
    case .stop(let sequence): stop = sequence
    case .logLimit(let limit): logLimit = limit
    case .nice(let level): nice = level
    case .tty(let isOn): usesTerminal = isOn
    case .untrustedOutput(let isOn): hasUntrustedOutput = isOn
    case .orphans(let action): orphans = action
    case .jobserver(let isOn): sharesJobs = isOn
    case .hook(let kind, let commands): hooks[kind] = commands
    case .outputs(let declared): outputs = declared
    case .cache(let model): cache = model
    case .executor(let chosen): executor = chosen
    case .slurm(let model): slurm = model.applied(to: slurm)
    }
  }

  /// Applies the executor from the command line, which overrides the defaults of the file.
  mutating func chooseExecutor(_ chosen: StepExecutor?) {
    executor = chosen ?? executor
    isAllLocal = chosen == .local
  }

  /// Applies the settings of the groups around the steps, which override the defaults of the file.
  mutating func take(_ surroundings: Surroundings) {
    environment = merged(environment, surroundings.environment)
    if surroundings.hasGroupDirectory { workingDirectory = nil }
  }

  mutating func setHooks(_ hooks: [HookKind: [HookModel]]) { self.hooks = hooks }

  /// The settings with everything inserted that is known.
  func settings(
    label: Text?, _ values: KnownValues, _ environment: FoldedEnvironment
  ) throws(EvaluationFailure) -> PlannedSettings {
    var late = LateSettings()
    late.environment = environment.late
    let directory = try foldedDirectory(values, &late)
    let input = try standardInput.map { text throws(EvaluationFailure) in try values.fold(text) }
    late.standardInput = input?.template
    let hooks = try foldedHooks(values, &late)
    let allowed = try foldedAllowance(values, &late)
    let cache = try foldedCache(values, &late)
    var timeout = self.timeout
    if let early = early[.timeout] { timeout = try early.duration(values) }
    var retry = self.retry
    if let early = early[.retry] { retry.limit = try early.integer(values, in: 0...1_000_000) ?? 0 }
    let label = try label.map { text throws(EvaluationFailure) in try values.fold(text) }
    late.label = label?.template
    let settings = StepSettings(
      name: label?.shown, environment: environment.known, workingDirectory: directory, shell: shell,
      standardInput: input?.plain, timeout: timeout, retry: retry, allowFailure: allowed,
      stop: stop, logLimit: logLimit, nice: nice, usesTerminal: usesTerminal,
      hasUntrustedOutput: hasUntrustedOutput, orphans: orphans, sharesJobs: sharesJobs,
      hooks: hooks, outputs: outputs, capturesOutput: capturesOutput, cache: cache,
      slurm: executor == .slurm && !isAllLocal ? slurm : nil)
    return PlannedSettings(
      settings: settings, late: late.isEmpty ? nil : late, input: standardInput?.template)
  }

  func foldedEnvironment(
    _ values: KnownValues
  ) throws(EvaluationFailure) -> FoldedEnvironment {
    var folded = FoldedEnvironment()
    let inputs = Set(inputVariables.map(\.name))
    let environment = inputVariables + environment.filter { !inputs.contains($0.name) }
    guard values.budget.allows(variables: environment.count) else { return folded }
    folded.known.reserveCapacity(environment.count)
    for variable in environment {
      let value = variable.giver < 0 ? try values.fold(variable.value) : variable.value
      switch value {
      case .plain(let text):
        folded.known.append(EnvironmentVariable(name: variable.name, value: text))
      case .template:
        folded.late.append(
          VariableModel(
            name: variable.name, span: variable.span, value: value, giver: variable.giver))
      }
    }
    return folded
  }

  private func foldedDirectory(
    _ values: KnownValues, _ late: inout LateSettings
  ) throws(EvaluationFailure) -> String? {
    var paths: [GivenText] = []
    for path in baseDirectories + (workingDirectory.map { [GivenText(text: $0)] } ?? []) {
      paths.append(path.giver < 0 ? GivenText(text: try values.fold(path.text)) : path)
    }
    if paths.contains(where: { $0.text.template != nil }) { late.workingDirectory = paths }
    return paths.reduce(nil) { joined($0, $1.text.shown) }
  }

  private func foldedHooks(
    _ values: KnownValues, _ late: inout LateSettings
  ) throws(EvaluationFailure) -> Hooks {
    var result = Hooks()
    for (kind, hooks) in hooks {
      var folded: [CommandModel] = []
      for hook in hooks { folded.append(try values.fold(hook.command, for: shell)) }
      result[kind] = zip(folded, hooks).map { HookCommand($0.work, timeout: $1.timeout) }
      if folded.contains(where: { $0.work.known == nil }) { late.hooks[kind] = folded }
    }
    return result
  }

  private func foldedCache(
    _ values: KnownValues, _ late: inout LateSettings
  ) throws(EvaluationFailure) -> CacheSettings? {
    guard let cache else { return nil }
    let folded = try cache.mapped { text throws(EvaluationFailure) in
      try values.fold(item: text)
    }
    if folded.hasTemplates { late.cache = folded }
    return folded.shown
  }

  private func foldedAllowance(
    _ values: KnownValues, _ late: inout LateSettings
  ) throws(EvaluationFailure) -> AllowFailure {
    guard let allowFailureIf else { return allowFailure }
    let folded = try allowFailureIf.folded(with: values)
    if case .bool(let isAllowed)? = folded.constant { return isAllowed ? .always : .never }
    late.allowFailure = folded
    return .never
  }
}

/// Merges variables with one value for each name: the last one, in the position of the first.
func merged(_ base: [VariableModel], _ added: [VariableModel]) -> [VariableModel] {
  if base.isEmpty { return added }
  var result = base
  var indices: [String: Int] = [:]
  for (index, variable) in base.enumerated() { indices[variable.name] = index }
  for variable in added {
    if let index = indices[variable.name] {
      result[index] = variable
    } else {
      result.append(variable)
    }
  }
  return result
}
