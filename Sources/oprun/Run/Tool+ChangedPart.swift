// A run in which few files have changed since one in which every step was up to date: only the
// steps that these files concern are planned. docs/design-cache.md, "A run that repeats another".

import Caching
import Diagnostics
import Pipelines
import Plans
import Reporting
import RunFiles
import Scheduling
import State

/// The steps that are not planned, because nothing of them has changed.
struct UnplannedRest {
  /// The run in which every step was up to date.
  let run: UnchangedRun
  let steps: [UnchangedStep]
  /// The number of each planned step in the plan of all steps.
  let numbers: [Int]

  var recorded: UnplannedSteps {
    UnplannedSteps(run: run.name, count: steps.count, numbers: numbers)
  }
}

extension UnchangedRunNote {
  /// The outlines of steps to be remembered from a plan; empty if no part of it can be planned
  /// without the others, or not without much of it.
  func outlines(of plan: Plan, _ watch: UnchangedRunWatch) -> [StepOutline] {
    guard let written else { return [] }
    var places = [Int](repeating: 0, count: plan.steps.count)
    for (place, operation) in watch.operations.enumerated() { places[operation.index] = place }
    let dependencies = watch.operations.map { operation in
      plan.graph.dependencies(of: operation).map { places[$0.from.index] }
    }
    guard var part = ChangedPart(dependencies), watch.ran.allSatisfy({ part.add($0) }),
      part.steps != nil, let lines = written.lines
    else { return [] }
    var rest = lines[...]
    var linesOfSteps: [Range<Int>] = []
    for step in plan.steps {
      let start = Int(step.span.start)
      rest = rest.drop { $0.upperBound <= start }
      // A step that is not cached runs in any case.
      guard let its = rest.first, its.contains(start), step.settings.cache != nil else { return [] }
      linesOfSteps.append(its)
    }
    var fingerprints = Fingerprints(nil)
    return zip(watch.operations, dependencies).map { operation, dependencies in
      StepOutline(
        number: operation.index, fingerprint: fingerprints.written(plan.steps[operation.index]),
        lines: linesOfSteps[operation.index], dependencies: dependencies)
    }
  }
}

extension Tool {
  /// True if another run can be recorded as a repetition of this one.
  func canRepeat(_ earlier: UnchangedRun, in folder: StateFolder) -> Bool {
    guard let store = try? StateStore.find(in: folder) else { return false }
    return (try? store.canRepeat(earlier.name)) == true
  }

  /// Runs the steps that must be examined; nil if the whole pipeline must be planned.
  func runPart(
    _ part: [Int], of earlier: UnchangedRun, _ note: UnchangedRunNote, _ invocation: Invocation
  ) throws(UsageFailure) -> Int32? {
    guard let planned = plan(part, of: earlier, note, invocation) else { return nil }
    return try runUnlessAnswered(ChosenRun(planned: planned))
  }

  private func plan(
    _ part: [Int], of earlier: UnchangedRun, _ note: UnchangedRunNote, _ invocation: Invocation
  ) -> PlannedPipeline? {
    let file = invocation.operands[0]
    var options = planningOptions(invocation, nil)
    options.files = note.files(options.files)
    note.sources.note(file)
    guard let text = try? readPipelineFile(file) else { return nil }
    let isPart = Set(part)
    let others = earlier.outlines.indices.filter { !isPart.contains($0) }
    let lines = others.map { earlier.outlines[$0].lines }.sorted { $0.lowerBound < $1.lowerBound }
    guard let last = lines.last, last.upperBound <= text.count else { return nil }
    var pipeline = LoadedPipeline(
      path: file, bytes: leavingOut(lines, of: text), files: options.files)
    let reading = readSecrets(of: &pipeline)
    guard let plan = try? pipeline.plan(options),
      let numbers = earlier.numbers(of: plan, part), earlier.areSourcesUnchanged
    else { return nil }
    note.rest = UnplannedRest(
      run: earlier, steps: others.map { earlier.steps[$0] }, numbers: numbers)
    return PlannedPipeline(
      pipeline, plan, for: invocation, options: options, reading: reading, note: note)
  }
}

extension UnchangedRun {
  /// The number of each step of a partial plan in the plan of all steps; nil if the plan differs
  /// from the earlier one.
  fileprivate func numbers(of plan: Plan, _ part: [Int]) -> [Int]? {
    guard plan.isPlain, plan.name == pipeline, plan.queues.first?.width == width,
      plan.steps.count == part.count
    else { return nil }
    var places: [String: Int] = [:]
    for place in part { places[steps[place].id] = place }
    var fingerprints = Fingerprints(nil)
    var numbers: [Int] = []
    for (index, step) in plan.steps.enumerated() {
      guard let outline = places[step.id].map({ outlines[$0] }),
        outline.fingerprint == fingerprints.written(step)
      else { return nil }
      let before = plan.graph.dependencies(of: OperationID(index)).map { edge in
        places[plan.steps[edge.from.index].id]
      }
      guard before == outline.dependencies else { return nil }
      numbers.append(outline.number)
    }
    return numbers
  }
}

/// Shows the steps that are not planned as up to date, as soon as the run has begun. It comes after the console among
/// the observers.
final class UnplannedStepsWatch: RunObserver {
  private let steps: [UnchangedStep]
  /// False if the steps are only counted.
  private let isShown: Bool
  private var console: Console?
  private var firstNumber = 0

  init(_ rest: UnplannedRest?, isShown: Bool) {
    steps = rest?.steps ?? []
    self.isShown = isShown
  }

  /// The plan for the console, with the unplanned steps.
  func added(to plan: Plan) -> Plan {
    if !isShown || steps.isEmpty { return plan }
    return plan.adding(stepsNamed: steps.map(\.id), labels: steps.map(\.label))
  }

  /// Shows the unplanned steps on a console; `count` is the number of planned ones.
  func show(on console: Console, behind count: Int) {
    self.console = console
    firstNumber = count
    if !isShown { console.count(upToDate: steps.count) }
  }

  func observe(_ event: RunEvent) {
    guard case .began = event.kind, isShown, let console else { return }
    for index in steps.indices {
      let kind = RunEvent.Kind.settled(
        OperationID(firstNumber + index), Ending(.cached), .itself)
      console.observe(RunEvent(at: event.time, kind))
    }
  }
}
