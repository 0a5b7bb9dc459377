// Finds the instances of a matrix that one line of a dry run stands for: those whose lines would be
// equal, apart from the values of the matrix. Instances that would run must have the same command,
// too: each command that would run is shown.

import Diagnostics
package import Plans
package import Scheduling

/// The instances without lines, and the lines that stand for them.
struct FoldedInstances {
  /// The parts of a line for several instances.
  struct Line {
    /// The label: `cc ×34`.
    let label: String
    let reason: String
    /// The waves of the first and the last instance: `2-9`.
    let wave: String
  }

  private(set) var hidden: Set<OperationID> = []
  private(set) var lines: [OperationID: Line] = [:]

  /// The line of several instances that has this operation's place; nil if there is none.
  func line(of operation: OperationID) -> Line? { lines.isEmpty ? nil : lines[operation] }

  /// Folds nothing.
  init() {}

  /// Folds instances. The line has the place of the last of them, because all that they wait for has passed then.
  init(_ entries: [Forecast.Entry], of plan: Plan, _ reasons: Reasons) {
    let groups = plan.groupsOfInstances
    if groups.isEmpty { return }
    var folds = Folds(plan)
    let sink = ByteSink.intoMemory()
    for (place, entry) in entries.enumerated() {
      let group = groups[entry.operation.index]
      guard group >= 0, entry.verdict.maySpeakForSeveral else { continue }
      let reason = sink.captured { reasons.write(for: entry, to: $0) }
      folds.add(
        entry, at: place,
        saying: plan.withoutInstance(reason, entry.operation, of: OperationID(Int(group))),
        in: group)
    }
    folds.keepOrder(of: entries)
    for fold in folds.all where fold.places.count > 1 {
      let members = fold.places.map { entries[$0] }
      hidden.formUnion(members.dropLast().map(\.operation))
      lines[members[members.count - 1].operation] = fold.line(members, of: plan)
    }
  }
}

extension Forecast.Entry.Verdict {
  fileprivate var maySpeakForSeveral: Bool {
    switch self {
    case .runs, .upToDate, .skipped: true
    case .runsEach, .standsForOthers, .doesNotStart: false
    }
  }
}

/// Instances of one step with equal lines.
private struct InstanceFold {
  struct Key: Hashable {
    let group: Int32
    let verdict: Forecast.Entry.Verdict
    let reason: String
    /// The command that would run; nil if none would.
    let command: String?
  }

  let key: Key
  /// The places of the instances among the entries.
  var places: [Int] = []

  func line(_ members: [Forecast.Entry], of plan: Plan) -> FoldedInstances.Line {
    let waves = members.map(\.wave)
    let (first, last) = (waves.min() ?? 0, waves.max() ?? 0)
    return FoldedInstances.Line(
      label: "\(plan.steps[Int(key.group)].id) ×\(members.count)", reason: key.reason,
      wave: last == 0 ? "" : first == last ? "\(last)" : "\(first)-\(last)")
  }
}

private struct Folds {
  private let plan: Plan
  private(set) var all: [InstanceFold] = []
  private var numbers: [InstanceFold.Key: Int] = [:]
  /// The fold of each operation; −1 if it has none.
  private var folds: [Int]

  /// The number of corrections of the order after which nothing that runs is folded.
  private static let mostRounds = 8

  init(_ plan: Plan) {
    self.plan = plan
    folds = [Int](repeating: -1, count: plan.steps.count)
  }

  mutating func add(
    _ entry: Forecast.Entry, at place: Int, saying reason: String, in group: Int32
  ) {
    let key = InstanceFold.Key(
      group: group, verdict: entry.verdict, reason: reason,
      command: entry.verdict == .runs ? plan.steps[entry.operation.index].work.shown?.text : nil)
    let number = numbers[key] ?? all.count
    if number == all.count {
      numbers[key] = number
      all.append(InstanceFold(key: key))
    }
    all[number].places.append(place)
    folds[entry.operation.index] = number
  }

  /// Unfolds instances that run if an operation that needs one of them would have its line before theirs.
  mutating func keepOrder(of entries: [Forecast.Entry]) {
    for round in 0... {
      let early = numbersOfLate(entries)
      if early.isEmpty { return }
      for number in round < Self.mostRounds ? early : Set(all.indices) {
        unfold(number, entries)
      }
    }
  }

  private mutating func unfold(_ number: Int, _ entries: [Forecast.Entry]) {
    guard all[number].key.verdict == .runs else { return }
    for place in all[number].places { folds[entries[place].operation.index] = -1 }
    all[number].places = []
  }

  /// The folds whose line comes after that of an operation that needs an instance in them.
  private func numbersOfLate(_ entries: [Forecast.Entry]) -> Set<Int> {
    var found: Set<Int> = []
    for (place, entry) in entries.enumerated() {
      let own = folds[entry.operation.index]
      let shown = own < 0 ? place : all[own].places.last ?? place
      plan.graph.forEachDependency(of: entry.operation) { edge in
        let fold = folds[edge.from.index]
        guard fold >= 0, fold != own, all[fold].key.verdict == .runs,
          let last = all[fold].places.last, last > shown
        else { return }
        found.insert(fold)
      }
    }
    return found
  }
}

extension Plan {
  /// The text of the line of an instance without the values of its matrix, as it holds for others, too.
  package func withoutInstance(
    _ text: String, _ operation: OperationID, of group: OperationID
  ) -> String {
    let id = steps[operation.index].id
    guard id.hasPrefix(steps[group.index].id) else { return text }
    let values = String(id.dropFirst(steps[group.index].id))
    return values.isEmpty ? text : text.replacingText(values, with: "")
  }
}
