// The reason why an operation would run, or would not, in a few words.

import Plans
package import Scheduling

/// A class, because calls would copy such a large value.
final class Reasons {
  private let plan: Plan
  /// The steps of the plan. Reaching a step through the plan, which is large, copies it, in code
  /// that is compiled to be small.
  private let steps: [PlannedStep]
  private let groups: Groups
  private let known: StepForecast

  /// The number of dependencies that are named; if there are more, they are only counted.
  static let namedDependencies = 3

  init(_ plan: Plan, _ known: StepForecast) {
    self.plan = plan
    steps = plan.steps
    self.known = known
    groups = Groups(plan)
  }

  func write(for entry: Forecast.Entry, to sink: ByteSink) {
    let operation = entry.operation
    switch entry.verdict {
    case .runs:
      if let reason = known.reasons[operation] {
        sink.write(oneLine(reason))
      } else {
        writeNeeds(of: operation, to: sink)
      }
    case .upToDate: return sink.write(oneLine(known.upToDate[operation] ?? "up to date"))
    case .runsEach, .standsForOthers:
      let words = [
        known.reasons[operation].map { oneLine($0) }, plan.membersInWords(of: operation),
      ]
      .compactMap(\.self)
      if words.isEmpty {
        writeNeeds(of: operation, to: sink)
      } else {
        sink.write(words.joined(separator: ", "))
      }
    case .skipped: return sink.write(skipReason(of: operation))
    case .doesNotStart: writeObstacle(of: operation, to: sink)
    }
    if let condition = steps[operation.index].late?.conditionInWords {
      sink.write(", ")
      sink.write(condition)
    }
    if plan.graph.hasServices, !plan.graph.takesSlot(operation) {
      sink.write(plan.isInBackground(operation) ? ", background" : ", service")
    }
    if entry.verdict != .standsForOthers { writePlace(of: operation, to: sink) }
  }

  private func skipReason(of operation: OperationID) -> String {
    if let reason = known.leftOut[operation] { return reason }
    let reasons = ([operation] + groups.around(operation)).lazy.compactMap { [steps] in
      steps[$0.index].late?.skipReason
    }
    return reasons.first.map(joinedLines) ?? GroupPlan.emptyMatrix
  }

  /// Writes `, queue net, priority high`; nothing for the defaults.
  @_optimize(speed)
  private func writePlace(of operation: OperationID, to sink: ByteSink) {
    let queue = plan.graph.queue(of: operation)
    if queue != .default {
      sink.write(", queue ")
      sink.write(oneLine(plan.queues[queue.index].name))
    }
    let priority = plan.graph.priority(of: operation)
    if priority != 0 {
      sink.write(", priority ")
      sink.write(priorityName(priority))
    }
  }

  /// Writes `needs build, lint (done)`; `first` if it waits for nothing.
  @_optimize(speed)
  private func writeNeeds(of operation: OperationID, to sink: ByteSink) {
    var count = 0
    plan.graph.forEachDependency(of: operation) { edge in
      count += 1
      if count > Self.namedDependencies { return }
      sink.write(count == 1 ? "needs " : ", ")
      sink.write(steps[edge.from.index].id)
      if let condition = edge.condition.words {
        sink.write(" (")
        sink.write(condition)
        sink.write(")")
      }
    }
    if count == 0 { sink.write("first") }
    if count > Self.namedDependencies {
      sink.write(" and ")
      sink.write(decimal: count - Self.namedDependencies)
      sink.write(" more")
    }
  }

  private func writeObstacle(of operation: OperationID, to sink: ByteSink) {
    let dependencies = plan.graph.dependencies(of: operation)
    if let edge = dependencies.first(where: { $0.condition == .failed }) {
      sink.write("only if ")
      sink.write(plan.steps[edge.from.index].id)
      sink.write(" fails")
      return
    }
    let queue = plan.queues[plan.graph.queue(of: operation).index]
    if queue.isSuspended {
      sink.write("its queue is suspended")
    } else if queue.width == 0 {
      sink.write("max_parallel is 0")
    } else {
      writeNeeds(of: operation, to: sink)
    }
  }
}

/// The facts about steps that are known before a run: from the cache, from the run that is resumed,
/// from what has changed.
package struct StepForecast: Sendable {
  /// The steps of which nothing has changed, with the words for that.
  package var upToDate: [OperationID: String] = [:]
  /// The endings of those that did not succeed before, and of groups of them.
  package var ends: [OperationID: Ending] = [:]
  /// The steps that are skipped because only a part of a run is resumed, and why.
  package var leftOut: [OperationID: String] = [:]
  /// Why other steps would run.
  package var reasons: [OperationID: String] = [:]
  /// Cached steps for which only a run can tell whether they are up to date.
  package var undecided: Set<OperationID> = []
  /// The cached steps that are up to date and whose outputs will be put back.
  package var restorable: Set<OperationID> = []
  /// The numbers of the results of cached steps that are up to date.
  package var results: [OperationID: Int] = [:]
  /// True if steps that are up to date are only named below the list, if others run.
  package var foldsUpToDate = false
  /// The remark below the list.
  package var remark: String?

  package init() {}

  /// The endings of the steps of which nothing has changed, and of groups of them.
  var endings: [OperationID: Ending] {
    upToDate.mapValues { _ in Ending(.cached) }.merging(ends) { $1 }
  }

  /// True if it is known whether the step runs.
  package func isDecided(_ operation: OperationID) -> Bool {
    upToDate[operation] != nil || reasons[operation] != nil
  }
}

extension EdgeCondition {
  /// The word in the file; nil for the default.
  var words: StaticString? {
    switch self {
    case .ok: nil
    case .succeeded: "succeeded"
    case .failed: "failed"
    case .done: "done"
    case .ready: "ready"
    case .readyOrDone: "ready or done"
    }
  }
}

/// The priority as in the file: five of the numbers have names.
func priorityName(_ priority: Int16) -> String {
  switch priority {
  case -8: "very_low"
  case -4: "low"
  case 0: "normal"
  case 4: "high"
  case 8: "very_high"
  default: String(priority)
  }
}
