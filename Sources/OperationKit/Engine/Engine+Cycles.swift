// Finds operations that wait for each other in a cycle. The search is made when an operation is
// added that others already wait for, since only that can close a cycle. CycleSearch.swift has the
// search.

import Dispatch
internal import Scheduling

/// The budget for searching for cycles.
struct CycleCredit {
  /// The steps that each added operation earns. So the search is linear in the number of
  /// operations, however tangled the graph is.
  private static let stepsPerOperation = 32
  /// The pass over everything takes at most one part in this many of the time.
  private static let share = 10
  private static let shortestDelay = 20_000_000

  var steps = 0
  private var paidCount = 0
  /// Operations for which the budget was not enough.
  var suspects: [OperationID] = []
  var isSweepPlanned = false
  private var sweepTime = 0

  mutating func earn(addedCount: Int, presentCount: Int) {
    let earned = (addedCount - paidCount) * CycleCredit.stepsPerOperation
    steps = min(steps + earned, presentCount * CycleCredit.stepsPerOperation)
    paidCount = addedCount
  }

  mutating func noteSweep(since start: Int) { sweepTime = monotonicTime() - start }

  var delay: DispatchTimeInterval {
    .nanoseconds(max(CycleCredit.shortestDelay, CycleCredit.share * sweepTime))
  }
}

extension Engine {
  /// Must be called under the lock. A cycle is reported when the lock is released: at once, or, if
  /// the search would take too long, after a pass over everything a moment later.
  func searchForCycle(through start: OperationID) {
    guard mayBeOnCycle(start) else { return }
    cycleCredit.earn(addedCount: addedCount, presentCount: members.count)
    cycleSearch.limit = cycleCredit.steps
    let path = cycleSearch.run(from: start, in: scheduler.pointee.graph)
    cycleCredit.steps -= cycleSearch.stepCount
    if let path {
      if !path.isEmpty { report(path) }
    } else {
      cycleCredit.suspects.append(start)
      planSweep()
    }
  }

  private func report(_ path: [OperationID]) {
    affairs.append(.cycle(path.compactMap { members[$0.index].operation }))
  }

  private func mayBeOnCycle(_ id: OperationID) -> Bool {
    scheduler.pointee.hasDependents(id) && !scheduler.pointee.graph.dependencies(of: id).isEmpty
  }

  private func planSweep() {
    if cycleCredit.isSweepPlanned { return }
    cycleCredit.isSweepPlanned = true
    DispatchQueue.global().asyncAfter(deadline: .now() + cycleCredit.delay) {
      Engine.shared.sweep()
    }
  }

  /// Checks everything in one pass. Linear.
  private func sweep() {
    enter()
    let start = monotonicTime()
    cycleCredit.isSweepPlanned = false
    var suspects: [OperationID] = []
    swap(&suspects, &cycleCredit.suspects)
    if let path = scheduler.pointee.graph.cycle(through: suspects) {
      report(path)
      let known = Set(path)
      cycleCredit.suspects = suspects.filter { !known.contains($0) }
      if !cycleCredit.suspects.isEmpty { planSweep() }
    }
    cycleCredit.noteSweep(since: start)
    unlockAndWake()
  }
}
