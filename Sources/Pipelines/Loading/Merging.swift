// `include`: merges several files as if they were one. A definition in two of them is an error that
// shows both locations. Settings of a file for its steps apply to those steps only.

import Diagnostics
import Plans
import Scheduling

/// The location where each name of a merged model is defined.
struct Definitions {
  fileprivate var queues: [String: Span] = [:]
  fileprivate var resources: [String: Span] = [:]
  fileprivate var params: [String: Span] = [:]
  fileprivate var environment: [String: Span] = [:]
  fileprivate var vars: [String: Span] = [:]
  fileprivate var secrets: [String: Span] = [:]
  fileprivate var outputs: [String: Span] = [:]
  fileprivate var sections: [String: Span] = [:]
}

extension PipelineModel {
  /// Appends the content of another file. `definitions` are the definitions in this model from
  /// earlier files. Linear in the other model.
  mutating func merge(
    _ other: PipelineModel, _ definitions: inout Definitions, log: inout DiagnosticLog
  ) {
    takeOwn(other)
    queues += fresh(other.queues, "queue", &definitions.queues, &log)
    resources += fresh(other.resources, "resource", &definitions.resources, &log)
    params += fresh(other.params, "parameter", &definitions.params, &log)
    params.keepOneRest(log: &log)
    environment += fresh(other.environment, "variable", &definitions.environment, &log)
    vars += fresh(other.vars, "derived value", &definitions.vars, &log)
    secrets += fresh(other.secrets, "secret", &definitions.secrets, &log)
    outputs += fresh(other.outputs, "output", &definitions.outputs, &log)
    sections += fresh(other.sections, "pipeline", &definitions.sections, &log)
    dotenv += other.dotenv
    mergeSteps(other)
  }

  /// The items whose names are not defined yet; this defines them.
  private func fresh<Item: NamedModel>(
    _ items: [Item], _ what: String, _ places: inout [String: Span], _ log: inout DiagnosticLog
  ) -> [Item] {
    let fresh = items.filter { item in
      guard let first = places[item.name] else { return true }
      log.report(at: item.span) {
        LoadingMessage.definedTwice(what, item.name, first: first, at: $0)
      }
      return false
    }
    for item in fresh { places[item.name] = item.span }
    return fresh
  }

  /// Takes keys that are not merged from the file that includes the others, which comes last. The
  /// others no longer have such keys.
  private mutating func takeOwn(_ other: PipelineModel) {
    for (key, span) in other.written where [.ownSteps, .run].contains(key.reach) {
      written[key] = span
      take(key, from: other)
    }
    name = other.name
    description = other.description
  }

  private mutating func take(_ key: PipelineKey, from other: PipelineModel) {
    switch key {
    case .maxParallel: width = other.width
    case .executor: executor = other.executor
    case .slurm: slurm = other.slurm
    case .failurePolicy: failurePolicy = other.failurePolicy
    case .timeout:
      timeout = other.timeout
      earlyTimeout = other.earlyTimeout
    case .shell: shell = other.shell
    case .workingDir: workingDirectory = other.workingDirectory
    case .sequence: sequence = other.sequence
    case .default: defaultSteps = other.defaultSteps
    case .cacheURL: sharedCache.url = other.sharedCache.url
    case .cacheSecret:
      sharedCache.secret = other.sharedCache.secret
      cacheSecretSpan = other.cacheSecretSpan
    case .defaults:
      // These lists refer to the other model, and `mergeSteps` does not move them.
      defaultSettings = other.defaultSettings
      defaultPlacement = other.defaultPlacement
    case .onSuccess: hooks[.onSuccess] = other.hooks[.onSuccess]
    case .onFailure: hooks[.onFailure] = other.hooks[.onFailure]
    case .onCancel: hooks[.onCancel] = other.hooks[.onCancel]
    case .onComplete: hooks[.onComplete] = other.hooks[.onComplete]
    case .version, .name, .description, .params, .vars, .env, .dotenv, .secrets, .queues,
      .resources, .include,
      .mutex, .steps, .schema, .outputs, .pipelines:
      break
    }
  }

  private mutating func mergeSteps(_ other: PipelineModel) {
    func moved(_ number: Int32, by count: Int) -> Int32 {
      number < 0 ? number : number + Int32(truncatingIfNeeded: count)
    }
    let base = (
      dependencies: dependencies.count, actions: actions.count, attributes: attributes.count,
      settings: settings.count, placements: placements.count, uses: uses.count,
      controlFlows: controlFlows.count, descriptions: descriptions.count
    )
    if other.hasManualSteps { hasManualSteps = true }
    for var step in other.steps {
      step.firstDependency = moved(step.firstDependency, by: base.dependencies)
      step.attributes = moved(step.attributes, by: base.attributes)
      switch step.action {
      case .written: break
      case .kept(let number): step.action = .kept(moved(number, by: base.actions))
      case .uses(let number): step.action = .uses(moved(number, by: base.uses))
      }
      steps.append(step)
    }
    for var added in other.attributes {
      added.description = moved(added.description, by: base.descriptions)
      added.settings = moved(added.settings, by: base.settings)
      added.placement = moved(added.placement, by: base.placements)
      added.controlFlow = moved(added.controlFlow, by: base.controlFlows)
      attributes.append(added)
    }
    if !other.sequenceStarts.isEmpty {
      let stepCount = steps.count - other.steps.count
      fillSequenceStarts(upTo: stepCount)
      sequenceStarts += other.sequenceStarts.map { moved($0, by: stepCount) }
    }
    dependencies += other.dependencies
    actions += other.actions
    settings += other.settings
    placements += other.placements
    uses += other.uses.map { uses in
      guard case .group = uses.kind else { return uses }
      var uses = uses
      uses.model = uses.model.map { $0 + groups.count }
      return uses
    }
    groups += other.groups
    descriptions += other.descriptions
    controlFlows += other.controlFlows
  }
}

// Included files.
extension PipelineModel {
  /// Applies the keys of an included file about its steps to each of them, with a lower precedence
  /// than their own, and refuses keys about a run.
  mutating func keepOwnSettings(_ log: inout DiagnosticLog) {
    let hasSteps = !steps.isEmpty || written[.steps] != nil
    let isSequenceSaid = written[.sequence] != nil
    for (key, span) in written.sorted(by: { $0.value.start < $1.value.start }) {
      switch key.reach {
      case .merged, .file: continue
      case .run: log.report(at: span) { LoadingMessage.ofRun(key.row.key, at: $0) }
      case .ownSteps:
        if !hasSteps { log.report(at: span) { LoadingMessage.withoutSteps(key.row.key, at: $0) } }
      }
      written[key] = nil
    }
    if isSequenceSaid {
      fillSequenceStarts(upTo: steps.count)
      let start: Int32 = isSequence ? 0 : -1
      sequenceStarts = sequenceStarts.map { $0 == Self.unsaid ? start : $0 }
    }
    addToParts()
    sequence = nil
    addToSteps(ownSettings, defaultPlacement)
    (shell, workingDirectory) = (nil, nil)
    (defaultSettings, defaultPlacement) = ([], PlacementModel())
    hooks = [:]
  }

  private mutating func fillSequenceStarts(upTo count: Int) {
    sequenceStarts += Array(repeating: Self.unsaid, count: count - sequenceStarts.count)
  }

  private var ownSettings: [Setting] {
    let own = [shell.map(Setting.shell), workingDirectory.map(Setting.baseDirectory)]
    return own.compactMap(\.self) + defaultSettings
  }

  /// Gives the settings to the groups and named pipelines of the file, too.
  private mutating func addToParts() {
    for index in groups.indices {
      groups[index].defaultSettings = (shell.map { [.shell($0)] } ?? []) + defaultSettings
      groups[index].defaultPlacement = defaultPlacement
      groups[index].sequence = groups[index].sequence ?? sequence
    }
    for index in sections.indices {
      let directory =
        sections[index].model.workingDirectory == nil
        ? workingDirectory.map { [Setting.baseDirectory($0)] } ?? [] : []
      sections[index].model.defaultSettings =
        directory + defaultSettings + sections[index].model.defaultSettings
      sections[index].model.defaultPlacement =
        sections[index].model.defaultPlacement.filled(from: defaultPlacement)
      sections[index].model.shell = sections[index].model.shell ?? shell
      sections[index].model.sequence = sections[index].model.sequence ?? sequence
    }
  }

  /// Gives steps that stand for others only the directory in which relative paths start: their
  /// other settings apply to them as a whole.
  private mutating func addToPipelineUses(_ before: PipelineModel) {
    let directory = workingDirectory.map { [Setting.baseDirectory($0)] } ?? []
    for index in steps.indices {
      guard case .uses(let number) = steps[index].action, uses[Int(number)].kind.isPipeline else {
        continue
      }
      let old = before.steps[index].attributes
      var attributes = old < 0 ? AttributesModel() : before.attributes[Int(old)]
      let own = attributes.settings < 0 ? [] : before.settings[Int(attributes.settings)]
      if !own.isEmpty || !directory.isEmpty {
        settings.append(directory + own)
        attributes.settings = Int32(settings.count - 1)
      }
      if attributes.placement >= 0 {
        placements.append(before.placements[Int(attributes.placement)])
        attributes.placement = Int32(placements.count - 1)
      }
      steps[index].attributes = Int32(self.attributes.count)
      self.attributes.append(attributes)
    }
  }

  /// Gives the settings to all other steps. Linear in the attributes; steps that set nothing share theirs.
  private mutating func addToSteps(_ own: [Setting], _ placement: PlacementModel) {
    guard !own.isEmpty || !placement.isEmpty else { return }
    let before = self
    defer { addToPipelineUses(before) }
    settings = settings.map { own + $0 } + [own]
    placements = placements.map { $0.filled(from: placement) } + [placement]
    let plain = (settings: Int32(settings.count - 1), placement: Int32(placements.count - 1))
    attributes.append(AttributesModel())
    for index in attributes.indices {
      if attributes[index].settings < 0 { attributes[index].settings = plain.settings }
      if attributes[index].placement < 0 { attributes[index].placement = plain.placement }
    }
    let number = Int32(attributes.count - 1)
    for index in steps.indices where steps[index].attributes < 0 {
      steps[index].attributes = number
    }
  }
}

extension PipelineKey {
  /// The reach of a key in an included file.
  package enum Reach: CaseIterable, Sendable {
    /// The key applies to the whole pipeline, and is added to those of the other files.
    case merged
    /// The key applies to the steps of its file, and of the files that this one includes.
    case ownSteps
    /// The key describes its file, and has no effect elsewhere.
    case file
    /// The key applies to a run, so it is refused in an included file.
    case run
  }

  package var reach: Reach {
    switch self {
    case .params, .vars, .env, .dotenv, .secrets, .queues, .resources, .include, .steps,
      .outputs, .pipelines:
      .merged
    case .shell, .workingDir, .sequence, .defaults: .ownSteps
    case .version, .name, .description, .schema: .file
    case .maxParallel, .failurePolicy, .timeout, .default, .mutex, .onSuccess, .onFailure,
      .onCancel, .onComplete, .executor, .slurm, .cacheURL, .cacheSecret:
      .run
    }
  }
}

/// A model with a name that the user chose in a file.
protocol NamedModel {
  var name: String { get }
  /// The location of the name.
  var span: Span { get }
}

extension VariableModel: NamedModel {}
extension ParamModel: NamedModel {}
extension OutputModel: NamedModel {}
extension AxisModel: NamedModel {}
