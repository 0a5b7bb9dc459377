// `include`: what several files say, as if it stood in one. What two of them say is an error that
// shows both places.

import Diagnostics
import Plans
import Scheduling

/// Where each name of a merged model is defined.
struct Definitions {
  fileprivate var queues: [String: Span] = [:]
  fileprivate var resources: [String: Span] = [:]
  fileprivate var params: [String: Span] = [:]
  fileprivate var environment: [String: Span] = [:]
  fileprivate var secrets: [String: Span] = [:]
  fileprivate var outputs: [String: Span] = [:]
  fileprivate var sections: [String: Span] = [:]
}

extension PipelineModel {
  /// Adds what another file says after what is here. `definitions` belong to this model: of what was
  /// merged before. Linear in the other model.
  mutating func merge(
    _ other: PipelineModel, _ definitions: inout Definitions, log: inout DiagnosticLog
  ) {
    mergeScalars(other, &log)
    queues += fresh(other.queues, "queue", &definitions.queues, &log)
    resources += fresh(other.resources, "resource", &definitions.resources, &log)
    params += fresh(other.params, "parameter", &definitions.params, &log)
    environment += fresh(other.environment, "variable", &definitions.environment, &log)
    secrets += fresh(other.secrets, "secret", &definitions.secrets, &log)
    outputs += fresh(other.outputs, "output", &definitions.outputs, &log)
    sections += fresh(other.sections, "pipeline", &definitions.sections, &log)
    dotenv += other.dotenv
    mergeSteps(other)
  }

  /// The items whose names are not defined yet; from now on they are.
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

  /// Keys that hold one thing. A file's own name and version say nothing of the whole.
  private mutating func mergeScalars(_ other: PipelineModel, _ log: inout DiagnosticLog) {
    for (key, span) in other.written.sorted(by: { $0.value.start < $1.value.start })
    where key.isSingle {
      if let first = written[key] {
        log.report(at: span) { LoadingMessage.setTwice(key.row.key, first: first, at: $0) }
      } else {
        written[key] = span
        take(key, from: other)
      }
    }
    // Of the file that is merged last: the one that includes the others.
    name = other.name
    description = other.description
  }

  private mutating func take(_ key: PipelineKey, from other: PipelineModel) {
    switch key {
    case .maxParallel: width = other.width
    case .failurePolicy: failurePolicy = other.failurePolicy
    case .timeout: timeout = other.timeout
    case .shell: shell = other.shell
    case .workingDir: workingDirectory = other.workingDirectory
    case .sequence: sequence = other.sequence
    case .default: defaultSteps = other.defaultSteps
    case .defaults:
      // Its lists are of the other model; `mergeSteps` does not move them.
      defaultSettings = other.defaultSettings
      defaultPlacement = other.defaultPlacement
    case .onSuccess: hooks[.onSuccess] = other.hooks[.onSuccess]
    case .onFailure: hooks[.onFailure] = other.hooks[.onFailure]
    case .onCancel: hooks[.onCancel] = other.hooks[.onCancel]
    case .onComplete: hooks[.onComplete] = other.hooks[.onComplete]
    case .version, .name, .description, .params, .env, .dotenv, .secrets, .queues, .resources,
      .include,
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

extension PipelineKey {
  /// What it holds is one thing, of which two files cannot each say their own.
  fileprivate var isSingle: Bool {
    switch self {
    case .maxParallel, .failurePolicy, .timeout, .shell, .workingDir, .sequence, .defaults,
      .default, .mutex, .onSuccess, .onFailure, .onCancel, .onComplete:
      true
    case .version, .name, .description, .params, .env, .dotenv, .secrets, .queues, .resources,
      .include,
      .steps, .schema, .outputs, .pipelines:
      false
    }
  }
}

/// What has a name of the user's in a file.
protocol NamedModel {
  var name: String { get }
  /// Where the name stands.
  var span: Span { get }
}

extension VariableModel: NamedModel {}
extension ParamModel: NamedModel {}
extension OutputModel: NamedModel {}
extension AxisModel: NamedModel {}
