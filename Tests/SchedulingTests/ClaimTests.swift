// Mutexes and resources: all at once or not at all, and nothing waits needlessly or for ever.

import Scheduling
import Testing

@Suite struct claims {
  @Test func `a mutex has one holder at a time`() {
    #expect(
      schedule("a%m/2; b%m; c", queues: "main=3", pools: "m=1")
        == "0 a+ c+ | 1 c- | 2 a- b+ | 3 b-")
  }

  @Test func `resources are shared by weight`() {
    #expect(
      schedule("a%cpu*3/2; b%cpu*2; c%cpu*1/2", queues: "main=3", pools: "cpu=4")
        == "0 a+ c+ | 2 a- c- b+ | 3 b-")
  }

  @Test func `claims are taken together or not at all`() {
    #expect(
      schedule("a%m/2; b%m%n; c%n/3", queues: "main=3", pools: "m=1 n=1")
        == "0 a+ c+ | 2 a- | 3 c- b+ | 4 b-")
  }

  @Test func `what cannot get its claims keeps no slot`() {
    #expect(
      schedule("a%m/3; b%m; c; d", queues: "main=2", pools: "m=1")
        == "0 a+ c+ | 1 c- d+ | 2 d- | 3 a- b+ | 4 b-")
  }

  @Test func `a mutex goes to the best rank`() {
    #expect(
      schedule("a%m!9; b%m; c%m!2; d%m!1: x; x", queues: "main=9", pools: "m=1")
        == "0 a+ x+ | 1 a- x- c+ | 2 c- d+ | 3 d- b+ | 4 b-")
  }

  @Test func `a mutex is shared by queues`() {
    #expect(
      schedule("a%m; b%m@net; c%m", queues: "main=1 net=1", pools: "m=1")
        == "0 a+ | 1 a- c+ | 2 c- b+ | 3 b-")
  }

  @Test func `a free mutex passes over a suspended queue`() {
    #expect(
      schedule(
        "a%m; b%m!5; c%m@net", queues: "main=2 net=1", pools: "m=1",
        [0: { $0.scheduler.suspend($0.queue("net")) }, 3: { $0.scheduler.resume($0.queue("net")) }])
        == "0 b+ | 1 b- a+ | 2 a- | 3 c+ | 4 c-")
    #expect(
      schedule(
        "a%m; b%m; c%m@net", queues: "main=2 net=1", pools: "m=1",
        [1: { $0.scheduler.suspend($0.queue("main")) }])
        == "0 a+ | 1 a- c+ | 2 c-")
  }

  @Test func `two claims on one pool add up`() {
    #expect(
      schedule("a%cpu*2%cpu*2; b%cpu*1", queues: "main=2", pools: "cpu=4")
        == "0 a+ | 1 a- b+ | 2 b-")
  }

  @Test func `a cancelled waiter lets the next have the mutex`() {
    #expect(
      schedule(
        "a%m; b%m; c%m", queues: "main=3", pools: "m=1",
        [1: { $0.scheduler.settle($0.id("b"), as: Ending(.cancelled), cause: .itself) }])
        == "0 a+ | 1 a- b=cancelled c+ | 2 c-")
  }
}

@Suite struct ageing {
  /// Small ones of two units each, one started every unit of time, and a large one.
  private let text =
    "s0%cpu/3; s1%cpu/4; large%cpu*2!9: x; x!9; s2%cpu/3; s3%cpu/3; s4%cpu/3; s5%cpu/3; s6%cpu/3"

  @Test func `small claims go past a large one that does not fit`() {
    #expect(
      schedule(text, queues: "main=3", pools: "cpu=2", patience: 99)
        == """
        0 x+ s0+ s1+ | 1 x- | 3 s0- s2+ | 4 s1- s3+ | 6 s2- s4+ | 7 s3- s5+ | 9 s4- s6+ | \
        10 s5- | 12 s6- large+ | 13 large-
        """)
  }

  @Test func `after some of them nothing more goes past it`() {
    #expect(
      schedule(text, queues: "main=3", pools: "cpu=2", patience: 2)
        == """
        0 x+ s0+ s1+ | 1 x- | 3 s0- s2+ | 4 s1- s3+ | 6 s2- | 7 s3- large+ | 8 large- s4+ s5+ | \
        11 s4- s5- s6+ | 14 s6-
        """)
  }

  @Test func `the next one of its kind is gone past as often as the first`() {
    #expect(
      schedule(
        "s0%cpu/3; s1%cpu/4; s2%cpu/6; l1%cpu*2!9/9: x; l2%cpu*2!9: x; x!9; s3%cpu/2; s4%cpu/2;"
          + " s5%cpu/2; s6%cpu/2; s7%cpu/2", queues: "main=9", pools: "cpu=3", patience: 2)
        == "0 x+ s0+ s1+ s2+ | 1 x- | 3 s0- s3+ | 4 s1- s4+ | 5 s3- | 6 s2- s4- l1+ s5+ | 8 s5- s6+"
        + " | 10 s6- | 15 l1- l2+ s7+ | 16 l2- | 17 s7-")
  }

  @Test func `nothing of another kind goes past it either`() {
    #expect(
      schedule(
        "s0%cpu/2; s1%cpu/2; s2%cpu/5; large%cpu*3!9: x; x!9; a%cpu; b%cpu%m", queues: "main=9",
        pools: "cpu=3 m=1", patience: 1)
        == "0 x+ s0+ s1+ s2+ | 1 x- | 2 s0- s1- a+ | 3 a- | 5 s2- large+ | 6 large- b+ | 7 b-")
  }

  @Test func `another large one does not take its place`() {
    #expect(
      schedule(
        "s0%cpu/3; s1%cpu/4; n0%m/3; n1%m/4; l1%cpu*2@net: x; l2%m*2%cpu*2@gpu: x; x!9;"
          + " s2%cpu/2; s3%cpu/2; n2%m/2; n3%m/2; n4%m/2; n5%m/2",
        queues: "main=9 net=1 gpu=1", pools: "cpu=2 m=2", patience: 1)
        == "0 x+ s0+ s1+ n0+ n1+ | 1 x- | 3 s0- n0- s2+ n2+ | 4 s1- n1- n3+ | 5 s2- n2- n4+ l1+"
        + " | 6 n3- l1- s3+ | 7 n4- | 8 s3- l2+ | 9 l2- n5+ | 11 n5-")
  }

  @Test func `while it waits, what needs other pools goes on`() {
    #expect(
      schedule(
        "s0%cpu/2; s1%cpu/3; large%cpu*2!9: x; x!9; s2%cpu/2; s3%cpu/2; o1%m; o2%m; o3%m; o4%m",
        queues: "main=4", pools: "cpu=2 m=1", patience: 1)
          == """
          0 x+ s0+ s1+ o1+ | 1 x- o1- o2+ | 2 s0- o2- s2+ o3+ | 3 s1- o3- o4+ | 4 s2- o4- large+ | \
          5 large- s3+ | 7 s3-
          """)
  }

  @Test func `another queue cannot keep a mutex for itself`() {
    #expect(
      schedule(
        "a0%m; a1%m; a2%m; a3%m; a4%m; b%m@net", queues: "main=1 net=1", pools: "m=1", patience: 3)
        == "0 a0+ | 1 a0- a1+ | 2 a1- a2+ | 3 a2- a3+ | 4 a3- b+ | 5 b- a4+ | 6 a4-")
  }

  /// Steps in `main` that share the pool, `large` in a queue of its own, and, ready a little later than
  /// that, something long that claims nothing.
  private let full =
    "s0%cpu/2; s1%cpu/3; large%cpu*2@gpu!9: x; x!9; y/2; long@gpu/9: y; s2%cpu/2; s3%cpu/2; s4%cpu/2"

  @Test func `what has a reservation keeps the last slot of its queue, too`() {
    #expect(
      schedule(full, queues: "main=4 gpu=1", pools: "cpu=2", patience: 1)
        == """
        0 x+ y+ s0+ s1+ | 1 x- | 2 y- s0- s2+ | 3 s1- | 4 s2- large+ | 5 large- s3+ s4+ long+ | \
        7 s3- s4- | 14 long-
        """)
  }

  @Test func `a reservation counts only while its queue has a slot`() {
    #expect(
      schedule(
        full, queues: "main=4 gpu=1", pools: "cpu=2", patience: 1,
        [
          3: { $0.scheduler.grant(0, to: $0.queue("gpu")) },
          6: { $0.scheduler.grant(1, to: $0.queue("gpu")) },
        ])
          == """
          0 x+ y+ s0+ s1+ | 1 x- | 2 y- s0- s2+ | 3 s1- s3+ | 4 s2- s4+ | 5 s3- | 6 s4- large+ | \
          7 large- long+ | 16 long-
          """)
  }

  @Test func `a reservation ends when its queue is suspended`() {
    #expect(
      schedule(
        "a0%m/2; a1%m/2; a2%m/2; b%m@net", queues: "main=1 net=1", pools: "m=1", patience: 1,
        [
          3: { $0.scheduler.suspend($0.queue("net")) }, 9: { $0.scheduler.resume($0.queue("net")) },
        ]) == "0 a0+ | 2 a0- a1+ | 4 a1- a2+ | 6 a2- | 9 b+ | 10 b-")
  }
}

@Suite struct retries {
  @Test func `a retry wait gives back slot and claims`() {
    #expect(
      schedule("a%m^3; b%m; c", queues: "main=1", pools: "m=1")
        == "0 a+ | 1 a. b+ | 2 b- c+ | 3 c- | 4 a> a+ | 5 a-")
  }

  @Test func `a retry keeps its rank`() {
    #expect(
      schedule("a^1; b/2; c; d: a", queues: "main=1")
        == "0 a+ | 1 a. b+ | 2 a> | 3 b- a+ | 4 a- c+ | 5 c- d+ | 6 d-")
  }
}
