// From model to plan: names looked up, defaults filled in, steps selected.

import Diagnostics
import Scheduling

/// Makes a plan of a model, in three turns: check everything, select, build.
struct Planner {
  let model: PipelineModel
  let text: SourceText
  let index: StepIndex
  /// Of all steps.
  var graph = Graph()
  var suggester = Suggester()
  private let options: PlanningOptions
  private let lanes: Lanes

  /// Reports everything that is wrong with names and edges.
  init(
    _ model: PipelineModel, _ text: SourceText, options: PlanningOptions,
    log: inout DiagnosticLog
  ) {
    self.model = model
    self.text = text
    self.options = options
    index = StepIndex(model, text, log: &log)
    var lanes = Lanes(model, options: options)
    let plain = lanes.spec(for: model.defaultPlacement, log: &log)
    let specs = model.placements.map {
      lanes.spec(for: $0.filled(from: model.defaultPlacement), log: &log)
    }
    self.lanes = lanes
    graph.reserveCapacity(operations: model.steps.count, edges: model.dependencies.count)
    for step in model.steps {
      let placement = step.details < 0 ? -1 : model.details[Int(step.details)].placement
      graph.append(placement < 0 ? plain : specs[Int(placement)])
    }
    addEdges(log: &log)
    if let cycle = graph.shortestCycle() { log.report(cycleMessage(cycle.map(\.index))) }
  }

  func id(of step: Int) -> String { text.string(model.steps[step].id.span) }

  /// For each step whether it runs; nil is all of them. Throws for a name that is no step.
  func selection(path: String) throws(PlanningFailure) -> [Bool]? {
    guard !options.selection.isEmpty else { return nil }
    var selected: [Int] = []
    for name in options.selection {
      guard let step = index.find(name) else {
        let close = suggestion(for: name, among: model.steps.indices.lazy.map { id(of: $0) })
        throw .emptySelection(
          message: PlanningMessage.unknownSelection(name, path: path, suggestion: close))
      }
      selected.append(step)
    }
    return closure(of: selected)
  }

  func plan(path: String, sources: SourceMap, selection: [Bool]?) -> Plan {
    Plan(
      name: model.name ?? fileName(path), sources: sources, steps: steps(selection),
      graph: selection.map(graph.subgraph) ?? graph, queues: lanes.queues, pools: lanes.pools,
      failurePolicy: options.failurePolicy ?? model.failurePolicy,
      timeout: options.timeout ?? model.timeout, settings: runSettings, secrets: model.secrets)
  }

  /// For the run's own hooks.
  private var runSettings: StepSettings {
    StepSettings(
      environment: model.environment, workingDirectory: model.workingDirectory,
      shell: model.shell ?? StepSettings.defaultShell, hooks: model.hooks)
  }

  private func steps(_ selection: [Bool]?) -> [PlannedStep] {
    var settings = SettingsPool(model)
    var steps: [PlannedStep] = []
    if selection == nil { steps.reserveCapacity(model.steps.count) }
    for index in model.steps.indices where selection?[index] ?? true {
      let step = model.steps[index]
      steps.append(
        PlannedStep(
          id: id(of: index), span: step.id.span, action: action(of: step),
          settings: step.details < 0
            ? settings.plain : settings.settings(for: model.details[Int(step.details)])))
    }
    return steps
  }

  private func action(of step: StepModel) -> Action {
    switch step.action {
    case .written(let start, let byteCount):
      .script(text.string(Span(start: Int(start), end: Int(start) + Int(byteCount))))
    case .kept(let number): model.actions[Int(number)]
    }
  }
}

/// What a pipeline without a name is called.
private func fileName(_ path: String) -> String {
  path.split(separator: "/").last.map(String.init) ?? path
}
