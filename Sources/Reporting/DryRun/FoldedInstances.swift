// Which instances of a matrix one line of a dry run stands for: those of which the same is said, but for the values of the
// matrix in it. Those that would run must have the same command, too: each command that would run is shown.

import Diagnostics
package import Plans
package import Scheduling

/// Instances without lines, and those whose line stands for them.
struct FoldedInstances {
  /// What the line of several instances says in place of an instance.
  struct Line {
    /// `cc ×34`.
    let label: String
    let reason: String
    /// The first and the last moment at which one of them starts: `2-9`.
    let wave: String
  }

  private(set) var hidden: Set<OperationID> = []
  private(set) var lines: [OperationID: Line] = [:]

  /// The line of several instances that the operation speaks for.
  func line(of operation: OperationID) -> Line? { lines.isEmpty ? nil : lines[operation] }

  /// Folds nothing.
  init() {}

  /// The line is that of the last of them, because all that they wait for has passed then.
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

/// Instances of one step of which the same is said.
private struct InstanceFold {
  struct Key: Hashable {
    let group: Int32
    let verdict: Forecast.Entry.Verdict
    let reason: String
    /// What would run; nil if it would not.
    let command: String?
  }

  let key: Key
  /// Where they are among the entries.
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
  /// The fold of each operation; −1 for those that have none.
  private var folds: [Int]

  /// Orders that are mended more often than this are kept by folding nothing that runs.
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

  /// Unfolds what runs if something that needs an instance would have its line before that of all.
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

  /// The folds whose line comes after one of something that needs an instance in them.
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
  /// What is said of an instance, as it holds for others of which the same is said: without the values of the matrix.
  package func withoutInstance(
    _ text: String, _ operation: OperationID, of group: OperationID
  ) -> String {
    let id = steps[operation.index].id
    guard id.hasPrefix(steps[group.index].id) else { return text }
    let values = String(id.dropFirst(steps[group.index].id.count))
    return values.isEmpty ? text : text.replacingText(values, with: "")
  }
}
