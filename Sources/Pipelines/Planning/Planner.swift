// From model to plan: names looked up, defaults filled in, steps selected.

import Diagnostics
import Scheduling

/// Makes a plan of a model, in three turns: check everything, select, build.
struct Planner {
  private let model: PipelineModel
  private let options: PlanningOptions
  private let lanes: Lanes
  /// Of all steps.
  private let graph: Graph

  /// Reports everything that is wrong with names and edges.
  init(_ model: PipelineModel, options: PlanningOptions, log: inout DiagnosticLog) {
    self.model = model
    self.options = options
    var lanes = Lanes(model, options: options)
    let plain = lanes.spec(for: model.defaultPlacement, log: &log)
    let specs = model.placements.map {
      lanes.spec(for: $0.filled(from: model.defaultPlacement), log: &log)
    }
    self.lanes = lanes
    var graph = Graph()
    graph.reserveCapacity(operations: model.steps.count, edges: model.dependencies.count)
    for step in model.steps {
      graph.append(step.placement < 0 ? plain : specs[Int(step.placement)])
    }
    graph.addEdges(of: model, log: &log)
    self.graph = graph
    if let cycle = graph.shortestCycle() {
      log.report(PlanningMessage.cycle(cycle.map(\.index), of: model))
    }
  }

  /// For each step whether it runs; nil is all of them. Throws for a name that is no step.
  func selection(path: String) throws(PlanningFailure) -> [Bool]? {
    guard !options.selection.isEmpty else { return nil }
    var selected: [Int] = []
    for name in options.selection {
      guard let number = model.names.find(name), let step = model.names[stepOf: number] else {
        let close = suggestion(for: name, among: model.steps.lazy.map(\.id))
        throw .emptySelection(
          message: PlanningMessage.unknownSelection(name, path: path, suggestion: close))
      }
      selected.append(step)
    }
    return model.closure(of: selected)
  }

  func plan(path: String, sources: SourceMap, selection: [Bool]?) -> Plan {
    Plan(
      name: model.name ?? fileName(path), sources: sources, steps: steps(selection),
      graph: selection.map(graph.subgraph) ?? graph, queues: lanes.queues, pools: lanes.pools,
      failurePolicy: options.failurePolicy ?? model.failurePolicy,
      timeout: options.timeout ?? model.timeout, settings: runSettings)
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
    for (index, step) in model.steps.enumerated() where selection?[index] ?? true {
      steps.append(
        PlannedStep(
          id: step.id, span: step.idSpan, action: step.action, settings: settings[step.settings]))
    }
    return steps
  }
}

/// What a pipeline without a name is called.
private func fileName(_ path: String) -> String {
  path.split(separator: "/").last.map(String.init) ?? path
}
