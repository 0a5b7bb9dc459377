// A queue whose slots something outside grants.

import Scheduling
import Testing

@Suite struct `A queue whose slots are granted` {
  @Test func `starts no more than were granted, and no more than its width`() {
    var run = Simulation("a/9; b/9; c/9; d/9", queues: "main=3")
    let main = run.queue("main")
    run.scheduler.grant(1, to: main)
    let timeline = run.run([
      1: { $0.scheduler.grant(2, to: main) }, 2: { $0.scheduler.grant(8, to: main) },
    ])
    #expect(timeline == "0 a+ | 1 b+ | 2 c+ | 9 a- d+ | 10 b- | 11 c- | 18 d-")
  }

  @Test func `starts nothing when slots are taken back, until few enough run`() {
    var run = Simulation("a/2; b/3; c; d", queues: "main=4")
    let main = run.queue("main")
    run.scheduler.grant(2, to: main)
    let timeline = run.run([1: { $0.scheduler.grant(1, to: main) }])
    #expect(timeline == "0 a+ b+ | 2 a- | 3 b- c+ | 4 c- d+ | 5 d-")
  }

  @Test func `lacks a slot only if it would start something with it`() {
    var run = Simulation("a%m/5; b%m; c@net; d: a", queues: "main=2 net=1", pools: "m=1")
    let main = run.queue("main")
    run.scheduler.grant(1, to: main)
    var lacking: [Int: Bool] = [:]
    let timeline = run.run([
      1: { lacking[1] = $0.scheduler.lacksGrant(main) },
      2: { $0.scheduler.grant(2, to: main) },
      // 'b' was tried and waits for what 'a' has.
      3: {
        $0.scheduler.grant(1, to: main)
        lacking[3] = $0.scheduler.lacksGrant(main)
      },
    ])
    #expect(timeline == "0 a+ c+ | 1 c- | 5 a- b+ | 6 b- d+ | 7 d-")
    #expect(lacking == [1: true, 3: false])
  }

  @Test func `lacks none within its width, or when it is suspended`() {
    var run = Simulation("a; b; c", queues: "main=1")
    let main = run.queue("main")
    #expect(!run.scheduler.lacksGrant(main), "nothing was granted, so nothing is limited")
    run.scheduler.grant(1, to: main)
    #expect(!run.scheduler.lacksGrant(main), "it may start one")
    run.scheduler.setWidth(3, of: main)
    _ = run.scheduler.next()
    #expect(run.scheduler.lacksGrant(main))
    #expect(run.scheduler.hasNoSlot(main))
    run.scheduler.suspend(main)
    #expect(!run.scheduler.lacksGrant(main))
  }

  @Test func `leaves services alone`() {
    var run = Simulation("s&/3; a; b", queues: "main=2")
    run.scheduler.grant(1, to: run.queue("main"))
    let timeline = run.run()
    #expect(timeline == "0 a+ s+ | 1 a- b+ | 2 b- | 3 s-")
  }

  @Test func `is crowded only if nothing but its width is in the way`() {
    var run = Simulation("a; b", queues: "main=1")
    let main = run.queue("main")
    var seen = [run.scheduler.isCrowded(main)]
    _ = run.scheduler.next()
    seen.append(run.scheduler.isCrowded(main))
    run.scheduler.suspend(main)
    seen.append(run.scheduler.isCrowded(main))
    #expect(seen == [false, true, false])
  }
}

@Suite struct `A pool that something outside opens` {
  @Test func `is lacked only by what has a slot, and awaited without one`() {
    var graph = Graph()
    var spec = OperationSpec()
    spec.claims = [Claim(PoolID(0), amount: 1)]
    let (waiting, other) = (graph.append(spec), graph.append(OperationSpec()))
    var scheduler = Scheduler(
      graph: graph, queues: [QueueSpec(name: "main", width: 1)],
      pools: [PoolSpec(name: "m", capacity: 1, isGranted: true)])
    let pool = PoolID(0)
    let first = scheduler.next()
    #expect(first == other)
    #expect(scheduler.awaitsGrant(pool) && !scheduler.lacksGrant(pool))
    scheduler.finish(other, as: Ending(.succeeded))
    let second = scheduler.next()
    #expect(second == nil)
    #expect(scheduler.lacksGrant(pool))
    scheduler.open(pool)
    let third = scheduler.next()
    #expect(third == waiting)
    #expect(!scheduler.awaitsGrant(pool) && scheduler.isInUse(pool))
  }
}
