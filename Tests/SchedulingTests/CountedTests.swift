// Operations that the scheduler only counts.

import Scheduling
import Testing

/// Macros of tests cannot call mutating methods.
private final class Box {
  let main = QueueID(0)
  let other = QueueID(1)
  var scheduler = Scheduler(
    graph: Graph(),
    queues: [QueueSpec(name: "main", width: 2), QueueSpec(name: "other", width: 1)])

  /// What starts now, in order: the number of an operation, or the name of the queue of a counted
  /// one.
  func starts() -> [String] {
    var result: [String] = []
    var latest = other
    while let start = scheduler.next(after: latest) {
      switch start {
      case .operation(let id): result.append("\(id.index)")
      case .counted(let queue):
        result.append(scheduler[queue].name)
        latest = queue
      }
    }
    return result
  }

  func isCrowded() -> Bool { scheduler.isCrowded(main) }
  func mayStart() -> Bool { scheduler.mayStart() }
}

@Suite struct counted {
  private let box = Box()

  @Test func `they take slots like all others`() {
    #expect(!box.mayStart())
    box.scheduler.addCounted(3, to: box.main)
    #expect(box.mayStart() && box.scheduler.counts(of: box.main).ready == 3)
    #expect(box.starts() == ["main", "main"])
    #expect(box.isCrowded() && box.scheduler.runningCount == 2 && !box.scheduler.isFinished)
    box.scheduler.finishCounted(in: box.main)
    #expect(box.starts() == ["main"] && !box.isCrowded())
    box.scheduler.finishCounted(in: box.main)
    box.scheduler.finishCounted(in: box.main)
    #expect(box.starts() == [] && box.scheduler.isFinished)
  }

  @Test func `queues are served in turn`() {
    box.scheduler.addCounted(2, to: box.main)
    box.scheduler.addCounted(1, to: box.other)
    #expect(box.starts() == ["main", "other", "main"])
  }

  @Test func `none starts in a queue that is suspended, or has no width`() {
    box.scheduler.suspend(box.main)
    box.scheduler.addCounted(1, to: box.main)
    #expect(box.starts() == [])
    box.scheduler.setWidth(0, of: box.main)
    box.scheduler.resume(box.main)
    #expect(box.starts() == [])
    box.scheduler.setWidth(1, of: box.main)
    #expect(box.starts() == ["main"])
  }

  @Test func `they start before others, and share the slots with them`() {
    var spec = OperationSpec()
    spec.queue = box.main
    let id = box.scheduler.append(spec)
    box.scheduler.addCounted(2, to: box.main)
    #expect(box.starts() == ["main", "main"])
    box.scheduler.finishCounted(in: box.main)
    #expect(box.starts() == ["\(id.index)"])
  }

  @Test func `those that have not started can be removed`() {
    box.scheduler.addCounted(5, to: box.main)
    #expect(box.starts() == ["main", "main"])
    box.scheduler.removeCounted(from: box.main)
    #expect(box.scheduler.counts(of: box.main).ready == 0)
    box.scheduler.finishCounted(in: box.main)
    #expect(box.starts() == [] && box.scheduler.runningCount == 1)
  }
}
