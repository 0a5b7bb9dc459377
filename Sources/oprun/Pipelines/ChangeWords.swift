// The messages about the changes because of which a cached step would run. Instances of one step
// share a line.

import Caching
import Plans
import Reporting

struct ChangeWords {
  /// The steps to which the instances in a plan belong, by the instances' ids.
  private let stepsOfInstances: [String: String]

  private static let most = 20

  init(_ plan: Plan) {
    let groups = plan.groupsOfInstances
    let instances = groups.indices.filter { groups[$0] >= 0 }
    stepsOfInstances = Dictionary(
      instances.map { (plan.steps[$0].id, plan.steps[Int(groups[$0])].id) },
      uniquingKeysWith: { first, _ in first })
  }

  /// A line for each change, or for several.
  func lines(about verdict: CacheVerdict) -> [String] {
    let changes = folded(verdict.changes)
    let lines = changes.prefix(Self.most).map { change, count in
      if count > 1 { return words(change, count) }
      return verdict.isOfOutputs ? "output \(change.name) \(change.word)" : change.line
    }
    return lines + (changes.count > Self.most ? ["… and \(changes.count - Self.most) more"] : [])
  }

  /// The reason in a few words for a list; nil if there is none to give.
  func reason(of verdict: CacheVerdict) -> String? {
    switch verdict {
    case .uncached, .late: return nil
    case .upToDate: return "up to date"
    case .restorable: return "up to date, to be restored"
    case .neverRan: return "no result is known"
    case .refreshed: return "--refresh"
    case .skipped(let reason): return reason
    case .refused(let reason): return "not cached: \(reason)"
    case .changed, .lost:
      let changes = folded(verdict.changes)
      let first = changes.first.map { change, count in
        if count > 1 { return words(change, count) }
        let what = verdict.isOfOutputs ? "output" : change.part
        return ([what, change.name].filter { !$0.isEmpty } + [change.word]).joined(separator: " ")
      }
      let more = changes.count > 1 ? " and \(changes.count - 1) more" : ""
      return (first ?? "changed") + more
    }
  }

  private func words(_ change: KeyChange, _ count: Int) -> String {
    "\(change.part) \(step(of: change) ?? change.name) \(change.word) (\(count) instances)"
  }

  /// The step of which an instance has changed; nil for other changes.
  private func step(of change: KeyChange) -> String? {
    guard case .part(.upstream, let name, _, _) = change else { return nil }
    return stepsOfInstances[name]
  }

  /// The changes with their numbers; the first of several instances of one step stands for all.
  private func folded(_ changes: [KeyChange]) -> [(KeyChange, count: Int)] {
    var folded: [(KeyChange, count: Int)] = []
    var places: [String: Int] = [:]
    for change in changes {
      if let step = step(of: change), let place = places[step] {
        folded[place].count += 1
        continue
      }
      if let step = step(of: change) { places[step] = folded.count }
      folded.append((change, 1))
    }
    return folded
  }
}
