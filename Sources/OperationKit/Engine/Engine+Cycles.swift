// Operations that wait for each other in a circle: looked for when one is added that others wait
// for already, since only that can close a circle. How, is in CircleSearch.swift.

import Dispatch
internal import Scheduling

/// How much looking for circles may cost.
struct CircleCredit {
  /// Steps for each operation that is added. So the search is linear in what is added, however
  /// tangled that is.
  private static let stepsPerOperation = 32
  /// Looking at everything takes at most one part in so many of the time.
  private static let share = 10
  private static let shortestDelay = 20_000_000

  var steps = 0
  private var paidCount = 0
  /// Operations for which the credit did not suffice.
  var suspects: [OperationID] = []
  var isSweepPlanned = false
  private var sweepTime = 0

  mutating func earn(addedCount: Int, presentCount: Int) {
    let earned = (addedCount - paidCount) * CircleCredit.stepsPerOperation
    steps = min(steps + earned, presentCount * CircleCredit.stepsPerOperation)
    paidCount = addedCount
  }

  mutating func noteSweep(since start: Int) { sweepTime = monotonicTime() - start }

  var delay: DispatchTimeInterval {
    .nanoseconds(max(CircleCredit.shortestDelay, CircleCredit.share * sweepTime))
  }
}

extension Engine {
  /// Under the lock. What is found is told when that is free: at once, or, if the search would take
  /// too long, after a look at everything a moment later.
  func lookForCircle(through start: OperationID) {
    guard mayBeOnCycle(start) else { return }
    circleCredit.earn(addedCount: addedCount, presentCount: members.count)
    circleSearch.limit = circleCredit.steps
    let path = circleSearch.run(from: start, in: scheduler.pointee.graph)
    circleCredit.steps -= circleSearch.stepCount
    if let path {
      if !path.isEmpty { report(path) }
    } else {
      circleCredit.suspects.append(start)
      planSweep()
    }
  }

  private func report(_ path: [OperationID]) {
    affairs.append(.circle(path.compactMap { members[$0.index].operation }))
  }

  private func mayBeOnCycle(_ id: OperationID) -> Bool {
    scheduler.pointee.hasDependents(id) && !scheduler.pointee.graph.dependencies(of: id).isEmpty
  }

  private func planSweep() {
    if circleCredit.isSweepPlanned { return }
    circleCredit.isSweepPlanned = true
    DispatchQueue.global().asyncAfter(deadline: .now() + circleCredit.delay) {
      Engine.shared.sweep()
    }
  }

  /// Looks at everything at once: linear.
  private func sweep() {
    enter()
    let start = monotonicTime()
    circleCredit.isSweepPlanned = false
    var suspects: [OperationID] = []
    swap(&suspects, &circleCredit.suspects)
    if let path = scheduler.pointee.graph.cycle(through: suspects) {
      report(path)
      let known = Set(path)
      circleCredit.suspects = suspects.filter { !known.contains($0) }
      if !circleCredit.suspects.isEmpty { planSweep() }
    }
    circleCredit.noteSweep(since: start)
    unlockAndWake()
  }
}
