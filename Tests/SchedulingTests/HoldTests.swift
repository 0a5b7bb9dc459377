// What OperationKit needs from the scheduler beyond oprun: holds, ignored dependencies, removed
// edges, priorities that change, queues in turn.

import Scheduling
import Testing

/// Macros of tests cannot call mutating methods.
private final class Box {
  var scheduler = Scheduler(
    graph: Graph(),
    queues: [QueueSpec(name: "main", width: 1), QueueSpec(name: "other", width: 1)],
    pathReach: 0, inheritsRank: false)
  func next() -> OperationID? { scheduler.next() }
  func next(after queue: QueueID) -> OperationID? {
    guard case .operation(let id)? = scheduler.next(after: queue) else { return nil }
    return id
  }
  func mayStart() -> Bool { scheduler.mayStart() }
  func isWaiting(_ id: OperationID) -> Bool { scheduler.isWaiting(id) }
  func isReady(_ id: OperationID) -> Bool { scheduler.isReady(id) }
  func isRunning(_ id: OperationID) -> Bool { scheduler.isRunning(id) }
  func isCrowded(_ queue: QueueID) -> Bool { scheduler.isCrowded(queue) }
  func width(of queue: QueueID) -> Int { scheduler.width(of: queue) }
  func append(_ spec: OperationSpec) -> OperationID { scheduler.append(spec) }
  func removeEdge(from: OperationID, to: OperationID) -> Bool {
    scheduler.removeEdge(from: from, to: to)
  }

  /// Runs all that can start, one after the other.
  func drain() -> [OperationID] {
    var order: [OperationID] = []
    while let id = scheduler.next() {
      order.append(id)
      scheduler.finish(id, as: Ending(.succeeded))
    }
    return order
  }
}

@Suite struct holds {
  private let box = Box()

  private func spec(priority: Int16 = 0, queue: Int = 0) -> OperationSpec {
    var spec = OperationSpec()
    spec.priority = priority
    spec.queue = QueueID(queue)
    return spec
  }

  @Test func `a held operation waits until it was released as often`() {
    let held = box.scheduler.append(spec(), holds: 1)
    box.scheduler.hold(held)
    let free = box.scheduler.append(spec(), holds: 0)
    #expect(box.drain() == [free])
    box.scheduler.release(held)
    #expect(box.next() == nil && box.isWaiting(held))
    box.scheduler.release(held)
    #expect(box.drain() == [held])
  }

  @Test func `a ready operation can be held`() {
    let id = box.scheduler.append(spec())
    box.scheduler.hold(id)
    #expect(box.next() == nil && !box.mayStart())
    box.scheduler.release(id)
    #expect(box.next() == id && box.isRunning(id))
  }

  @Test
  mutating func `an operation that ignores its dependencies is ready, and no end counts for it`() {
    let first = box.scheduler.append(spec())
    let second = box.scheduler.append(spec(priority: 1), after: [(first, .ok), (first, .done)])
    box.scheduler.hold(second)
    box.scheduler.ignoreDependencies(of: second)
    #expect(box.isReady(second))
    box.scheduler.hold(second)
    #expect(box.drain() == [first])
    box.scheduler.retire(box.scheduler.append(spec()))
    #expect(box.isWaiting(second))
    box.scheduler.release(second)
    #expect(box.drain() == [second])
  }

  @Test func `a removed edge is not waited for, and leaves the others`() {
    let (a, b, c) = (
      box.scheduler.append(spec()), box.scheduler.append(spec()), box.scheduler.append(spec())
    )
    let last = box.scheduler.append(spec(), after: [(a, .ok), (b, .ok), (c, .ok)])
    #expect(box.removeEdge(from: b, to: last))
    #expect(!box.removeEdge(from: b, to: last))
    #expect(box.scheduler.graph.dependencies(of: last).map(\.from) == [a, c])
    #expect(box.removeEdge(from: c, to: last))
    #expect(box.scheduler.graph.dependencies(of: last).map(\.from) == [a])
    #expect(box.drain() == [a, b, c, last])
    for id in [a, b, c, last] { box.scheduler.forget(id) }
    #expect(box.scheduler.graph.edgeCount == 0)
    #expect(box.append(spec()).index < 4)
  }

  @Test func `a priority can change while the operation is ready or waits`() {
    let (a, b, c) = (
      box.scheduler.append(spec()), box.scheduler.append(spec()), box.scheduler.append(spec())
    )
    let waiting = box.scheduler.append(spec(), after: [(a, .ok)])
    box.scheduler.setPriority(4, of: c)
    box.scheduler.setPriority(-4, of: a)
    box.scheduler.setPriority(8, of: waiting)
    #expect(box.drain() == [c, b, a, waiting])
  }

  @Test func `without inheritance, an operation goes by its own priority`() {
    let low = box.scheduler.append(spec(priority: -4))
    let high = box.scheduler.append(spec(priority: 8), after: [(low, .ok)])
    let normal = box.scheduler.append(spec())
    #expect(box.drain() == [normal, low, high])
  }

  @Test func `queues are served in turn`() {
    box.scheduler.setWidth(3, of: QueueID(0))
    box.scheduler.setWidth(3, of: QueueID(1))
    for _ in 0..<2 {
      box.scheduler.append(spec())
      box.scheduler.append(spec(queue: 1))
    }
    #expect(box.isCrowded(QueueID(0)) == false && box.width(of: QueueID(0)) == 3)
    var latest = QueueID(0)
    var order: [Int] = []
    while let id = box.next(after: latest) {
      latest = box.scheduler.graph[id].queue
      order.append(latest.index)
    }
    #expect(order == [1, 0, 1, 0])
  }
}
