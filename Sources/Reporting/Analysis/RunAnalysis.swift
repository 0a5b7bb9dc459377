// Finds where the time of a run went, and what would change it: a fold over its events, and runs in
// virtual time with the durations that were measured.

package import Masking
package import Plans
package import RunFiles
package import Scheduling

/// The changes to a run that is simulated.
package struct Scenario: Hashable, Sendable {
  /// The widths of queues, by name.
  package var widths: [String: Int] = [:]
  /// Steps that take no time.
  package var removed: Set<String> = []
  /// Steps, and the factor by which they are faster.
  package var faster: [String: Double] = [:]

  package init() {}

  package var isEmpty: Bool { self == Scenario() }
}

/// The analysis of a run that is over.
package struct RunAnalysis {
  /// A step of the critical path.
  struct PathStep {
    /// An operation of the plan, which stands for all its instances if they became known during the run.
    let operation: OperationID
    /// The time of all these instances together.
    let duration: Nanoseconds
    /// The time by which the run would be shorter if the step took no time.
    let atMost: Nanoseconds
    /// The time that each second saved in the step saves in the run: from 0 to 1.
    let worth: Double
  }

  let record: RunRecord
  /// The plan, with the durations that were measured.
  private let plan: Plan
  /// The duration of the run if it is simulated as it was.
  let simulated: Nanoseconds

  /// Analyses a run; `plan` is the one that it ran.
  package init(
    _ forEachEvent: ((RunEvent) -> Void) -> Void, _ plan: Plan, _ directory: RunDirectory,
    _ masker: Masker?
  ) {
    var record = RunRecord(RunOperations(plan: plan, directory: directory, masker: masker))
    forEachEvent { record.observe($0) }
    self.record = record
    self.plan = plan.expecting(Self.durations(record, plan))
    simulated = Forecast(self.plan).makespan
  }

  /// The durations of the steps of the plan; zero for a step that did not run. A step whose
  /// instances became known during the run took as long as all of them together: it waits for all
  /// instances of another one, so its time begins when those have ended, although its own first
  /// instances may have started before.
  private static func durations(_ record: RunRecord, _ plan: Plan) -> [Nanoseconds] {
    var spans = [(start: Nanoseconds, end: Nanoseconds)?](repeating: nil, count: plan.steps.count)
    var areInstances = [Bool](repeating: false, count: plan.steps.count)
    for step in record.steps {
      let planned = record.operations.planned(step.operation)
      guard let start = step.settled.record?.start else { continue }
      let span = spans[planned.index] ?? (start, step.end)
      spans[planned.index] = (min(span.start, start), max(span.end, step.end))
      areInstances[planned.index] = planned != step.operation
    }
    return spans.indices.map { index in
      guard let span = spans[index] else { return 0 }
      guard areInstances[index] else { return span.end - span.start }
      let start = plan.graph.dependencies(of: OperationID(index)).reduce(span.start) {
        start, edge in
        areInstances[edge.from.index] ? max(start, spans[edge.from.index]?.end ?? start) : start
      }
      return max(0, span.end - start)
    }
  }

  /// The duration of the run in a scenario.
  package func makespan(_ scenario: Scenario) -> Nanoseconds {
    var durations: [OperationID: Nanoseconds] = [:]
    for (index, step) in plan.steps.enumerated() {
      let operation = OperationID(index)
      for (word, factor) in scenario.faster where StepName(word).covers(step.id) {
        durations[operation] = Nanoseconds(
          min(Double(duration(of: operation)) / factor, Double(lastMoment)))
      }
      if scenario.removed.contains(where: { StepName($0).covers(step.id) }) {
        durations[operation] = 0
      }
    }
    return Forecast(plan.with(widths: scenario.widths).expecting(durations)).makespan
  }

  private func duration(of operation: OperationID) -> Nanoseconds {
    plan.graph.expected(of: operation) ?? 0
  }

  /// The longest steps of the critical path, and the gain from shortening them.
  func path(limit: Int) -> [PathStep] {
    let longest = stepsOfPath.enumerated()
      .sorted { (duration(of: $1.element), $0.offset) < (duration(of: $0.element), $1.offset) }
      .prefix(limit).sorted { $0.offset < $1.offset }.map(\.element)
    return longest.map { step in
      let duration = duration(of: step)
      let difference = simulated - Forecast(plan.expecting([step: 0])).makespan
      // Where others take as long, shortening the step gains nothing: some differ by chance.
      let atMost = difference < min(1_000_000, duration / 100) ? 0 : max(0, difference)
      let shorter =
        atMost > 0
        ? Forecast(plan.expecting([step: duration - duration / 10])).makespan : simulated
      let tenth = Double(max(1, duration)) / 10
      return PathStep(
        operation: step, duration: duration, atMost: atMost,
        worth: min(1, max(0, Double(simulated - shorter) / tenth)))
    }
  }

  /// True if steps ran that the plan did not have.
  var hasLateInstances: Bool {
    record.steps.contains { record.operations.planned($0.operation) != $0.operation }
  }

  /// The steps of the plan that the critical path leads through, in its order, each once.
  var stepsOfPath: [OperationID] {
    var found: Set<OperationID> = []
    return record.criticalPath.map { record.operations.planned($0) }.filter {
      found.insert($0).inserted
    }
  }
}

extension Plan {
  /// The same plan with other widths of queues, by their names.
  fileprivate func with(widths: [String: Int]) -> Plan {
    widths.isEmpty
      ? self
      : replacingQueues(
        queues.map { queue in
          var queue = queue
          queue.width = widths[queue.name] ?? queue.width
          return queue
        })
  }
}
