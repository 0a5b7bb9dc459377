// What an operation has before it has started here: a job of an earlier run goes on with it.

import Scheduling
import Testing

@Suite struct `What is promised to an operation` {
  private func timeline(
    _ graph: String, queues: String = "main=9", pools: String = "", to names: String...,
    script: Simulation.Script = [:]
  ) -> String {
    var run = Simulation(graph, queues: queues, pools: pools)
    for name in names { run.scheduler.promise(run.id(name)) }
    return run.run(script)
  }

  @Test func `is a mutex that nobody else gets before it`() {
    #expect(
      timeline("x/2; a%m: x; z%m!9", pools: "m=1", to: "a") == "0 x+ | 2 x- a+ | 3 a- z+ | 4 z-")
  }

  @Test func `is a share, of which others get the rest`() {
    #expect(
      timeline("x/2; a%r*2: x; y%r*1/9; z%r*2!9", pools: "r=3", to: "a")
        == "0 x+ y+ | 2 x- a+ | 3 a- z+ | 4 z- | 9 y-")
  }

  @Test func `is a slot`() {
    #expect(
      timeline("x@other/2; a: x; z!9", queues: "main=1 other=1", to: "a")
        == "0 x+ | 2 x- a+ | 3 a- z+ | 4 z-")
  }

  @Test func `is kept beside others of the same claims`() {
    #expect(
      timeline("a%m; b%m; z%m!9", pools: "m=2", to: "a", "b") == "0 a+ b+ | 1 a- b- z+ | 2 z-")
  }

  @Test func `may be more than there is`() {
    #expect(
      timeline("a%m; b%m; z%m!9", queues: "main=1", pools: "m=1", to: "a", "b")
        == "0 a+ | 1 a- b+ | 2 b- z+ | 3 z-")
  }

  @Test func `is free when the job has ended, and not when the operation ends without a start`() {
    #expect(
      timeline(
        "x/9; a%m: x; z%m", pools: "m=1", to: "a",
        script: [
          2: { $0.scheduler.settle($0.id("a"), as: Ending(.skipped), cause: .itself) },
          5: { $0.scheduler.endPromise(to: $0.id("a")) },
        ]
      )
      .hasSuffix("5 z+ | 6 z- | 9 x-"))
  }

  @Test func `is a slot until the job has ended`() {
    #expect(
      timeline(
        "x@other/9; a: x; z", queues: "main=1 other=1", to: "a",
        script: [
          2: { $0.scheduler.settle($0.id("a"), as: Ending(.skipped), cause: .itself) },
          5: { $0.scheduler.endPromise(to: $0.id("a")) },
        ]
      )
      .hasSuffix("5 z+ | 6 z- | 9 x-"))
  }

  @Test func `is not given up for an operation that has ended`() {
    var run = Simulation("y%m; a%m: y", queues: "main=9", pools: "m=1")
    run.scheduler.promise(run.id("a"))
    run.scheduler.settle(run.id("a"), as: Ending(.skipped), cause: .itself)
    let (isBroken, next) = (run.scheduler.breakPromises(), run.scheduler.next())
    #expect(!isBroken && next == nil)
    run.scheduler.endPromise(to: run.id("a"))
    #expect(run.run() == "0 a=skipped y+ | 1 y-")
  }

  @Test func `is given up where it is in the way of everything`() {
    var run = Simulation("y%m; a%m: y", queues: "main=9", pools: "m=1")
    run.scheduler.promise(run.id("a"))
    let next = run.scheduler.next()
    let areBroken = [run.scheduler.breakPromises(), run.scheduler.breakPromises()]
    #expect(next == nil && areBroken == [true, false])
    #expect(run.run() == "0 y+ | 1 y- a+ | 2 a-")
  }

  @Test func `is promised once, and to nothing that runs or has ended`() {
    let again = { (run: inout Simulation) in run.scheduler.promise(run.id("a")) }
    #expect(
      timeline("a%m/2; z%m", pools: "m=1", to: "a", "a", script: [1: again, 3: again])
        == "0 a+ | 2 a- z+ | 3 z-")
    #expect(
      timeline("a%m/2; x/3; z%m: x", pools: "m=1", script: [1: again, 2: again])
        == "0 x+ a+ | 2 a- | 3 x- z+ | 4 z-")
  }

  @Test func `cannot be given back by what has no promise`() {
    #expect(
      timeline(
        "a%m/2; b%m; z%m", pools: "m=1",
        script: [0: { $0.scheduler.endPromise(to: $0.id("b")) }])
        == "0 a+ | 2 a- b+ | 3 b- z+ | 4 z-")
  }

  @Test func `is a slot of its own beside those of others`() {
    let graph = "a/9; c: x; x@other/5; y/9; z/9"
    #expect(
      timeline("a; c: x; x@other/9", queues: "main=1 other=1", to: "a", "c")
        == "0 a+ x+ | 1 a- | 9 x- c+ | 10 c-")
    #expect(
      timeline("a; c: x; x@other/9; y/9; z/9", queues: "main=2 other=1", to: "a", "c")
        == "0 a+ x+ | 1 a- y+ | 9 x- c+ | 10 y- c- z+ | 19 z-")
    #expect(
      timeline(
        graph, queues: "main=2 other=1", to: "a", "c",
        script: [1: { $0.scheduler.endPromise(to: $0.id("a")) }])
        == "0 a+ x+ | 5 x- c+ | 6 c- y+ | 9 a- z+ | 15 y- | 18 z-")
  }

  @Test func `is free without a start, although others still have theirs`() {
    #expect(
      timeline(
        "x@other/9; a: x; c: x; z", queues: "main=2 other=1", to: "a", "c",
        script: [2: { $0.scheduler.endPromise(to: $0.id("a")) }]
      )
      .hasPrefix("0 x+ | 2 z+ | 3 z- | 9 x- "))
  }
}
