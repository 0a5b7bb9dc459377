// From model to plan: names looked up, defaults filled in, steps selected.

import Diagnostics
import Scheduling

/// Makes a plan of a model, in three turns: check everything, select, build.
struct Planner {
  private let model: PipelineModel
  private let options: PlanningOptions
  private let edges: Edges
  private var lanes: Lanes
  /// For steps that say nothing of it, and for each of the model's placements.
  private let plainSpec: OperationSpec
  private let specs: [OperationSpec]

  /// Reports everything that is wrong with names and edges.
  init(_ model: PipelineModel, options: PlanningOptions, log: inout DiagnosticLog) {
    self.model = model
    self.options = options
    edges = Edges(model, log: &log)
    var lanes = Lanes(model, options: options)
    plainSpec = lanes.spec(for: model.defaultPlacement, log: &log)
    specs = model.placements.map {
      lanes.spec(for: $0.filled(from: model.defaultPlacement), log: &log)
    }
    self.lanes = lanes
    if !edges.pointsBackOnly || model.isSequence {
      let search = CycleSearch(edges, of: model)
      if let cycle = search.shortestCycle() { log.report(PlanningMessage.cycle(cycle, of: model)) }
    }
  }

  /// For each step whether it runs; nil is all of them. Throws for a name that is no step.
  func selection(path: String) throws(PlanningFailure) -> [Bool]? {
    guard !options.selection.isEmpty else { return nil }
    var isSelected = [Bool](repeating: false, count: model.steps.count)
    var waiting: [Int] = []
    for name in options.selection {
      guard let number = model.names.find(name), let step = model.names[stepOf: number] else {
        let close = suggestion(for: name, among: model.steps.lazy.map(\.id))
        throw .emptySelection(
          message: PlanningMessage.unknownSelection(name, path: path, suggestion: close))
      }
      waiting.append(step)
    }
    while let step = waiting.popLast() {
      if isSelected[step] { continue }
      isSelected[step] = true
      edges.forEach(into: step, of: model) { if !$0.isOptional { waiting.append($0.target) } }
    }
    return isSelected
  }

  func plan(path: String, sources: SourceMap, selection: [Bool]?) -> Plan {
    let (steps, graph) = operations(selection)
    return Plan(
      name: model.name ?? fileName(path), sources: sources, steps: steps, graph: graph,
      queues: lanes.queues, pools: lanes.pools,
      failurePolicy: options.failurePolicy ?? model.failurePolicy,
      timeout: options.timeout ?? model.timeout, settings: runSettings)
  }

  /// For the run's own hooks.
  private var runSettings: StepSettings {
    StepSettings(
      environment: model.environment, workingDirectory: model.workingDirectory,
      shell: model.shell ?? StepSettings.defaultShell, hooks: model.hooks)
  }

  private func operations(_ selection: [Bool]?) -> ([PlannedStep], Graph) {
    var settings = SettingsPool(model)
    var steps: [PlannedStep] = []
    var graph = Graph()
    var ids: [OperationID] = []
    steps.reserveCapacity(selection == nil ? model.steps.count : 0)
    for (index, step) in model.steps.enumerated() {
      guard selection?[index] ?? true else {
        ids.append(OperationID(-1))
        continue
      }
      ids.append(graph.append(step.placement < 0 ? plainSpec : specs[Int(step.placement)]))
      steps.append(
        PlannedStep(
          id: step.id, span: step.idSpan, action: step.action, settings: settings[step.settings]))
    }
    for index in model.steps.indices where ids[index].index >= 0 {
      edges.forEach(into: index, of: model) { edge in
        guard ids[edge.target].index >= 0 else { return }
        graph.addEdge(from: ids[edge.target], to: ids[index], when: edge.condition)
      }
    }
    return (steps, graph)
  }
}

/// What a pipeline without a name is called.
private func fileName(_ path: String) -> String {
  path.split(separator: "/").last.map(String.init) ?? path
}
