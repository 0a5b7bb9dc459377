// Gated operations: what happens between met edges and the decision.

import Scheduling
import Testing

@Suite struct gates {
  /// `first`, and a gated operation after it.
  private struct Line {
    var scheduler: Scheduler
    let first = OperationID(0)
    let gated = OperationID(1)

    init() {
      var graph = Graph()
      graph.append(OperationSpec())
      var spec = OperationSpec()
      spec.isGated = true
      graph.append(spec)
      graph.addEdge(from: OperationID(0), to: OperationID(1), when: .ok)
      scheduler = Scheduler(graph: graph, queues: [QueueSpec(name: "default", width: 1)])
    }

    mutating func runFirst(as outcome: Outcome = .succeeded) {
      _ = scheduler.next()
      scheduler.finish(first, as: Ending(outcome))
    }
  }

  @Test func `met edges bring a gated operation to its gate and no further`() {
    var line = Line()
    #expect(line.scheduler.takeReached().isEmpty)
    line.runFirst()
    let (reached, next) = (line.scheduler.takeReached(), line.scheduler.next())
    #expect(reached == [line.gated] && next == nil)
    #expect(line.scheduler.state(of: line.gated) == .paused)
    #expect(line.scheduler.takeReached().isEmpty)
  }

  @Test func `a resumed operation is ready and does not come to its gate again`() {
    var line = Line()
    line.runFirst()
    _ = line.scheduler.takeReached()
    line.scheduler.resume(line.gated)
    let next = line.scheduler.next()
    #expect(next == line.gated)
    line.scheduler.pause(line.gated)
    line.scheduler.resume(line.gated)
    #expect(line.scheduler.takeReached().isEmpty)
  }

  @Test func `after a stop only what is resumed starts, in any queue`() {
    var line = Line()
    line.runFirst()
    line.scheduler.suspend(.default)
    line.scheduler.setWidth(0, of: .default)
    line.scheduler.stop(.runTimeout)
    let before = line.scheduler.next()
    line.scheduler.resume(line.gated)
    let after = line.scheduler.next()
    #expect(before == nil && after == line.gated)
  }

  @Test func `at its gate an operation can be settled`() {
    var line = Line()
    line.runFirst()
    line.scheduler.settle(line.gated, as: Ending(.skipped), cause: .itself)
    #expect(line.scheduler.isFinished)
  }

  @Test func `a blocked operation never reaches its gate`() {
    var line = Line()
    line.runFirst(as: .failed)
    #expect(line.scheduler.takeReached().isEmpty)
    #expect(line.scheduler.ending(of: line.gated) == Ending(.blocked))
  }

  @Test func `a gated operation without edges is at its gate from the start`() {
    var graph = Graph()
    var spec = OperationSpec()
    spec.isGated = true
    graph.append(spec)
    var scheduler = Scheduler(graph: graph, queues: [QueueSpec(name: "default", width: 1)])
    #expect(scheduler.takeReached() == [OperationID(0)])
    let added = scheduler.append(spec, after: [(OperationID(0), .done)])
    scheduler.settle(OperationID(0), as: Ending(.succeeded), cause: .itself)
    #expect(scheduler.takeReached() == [added])
  }
}
