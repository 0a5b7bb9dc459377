// Operations that run again although they have ended, and those whose priority changes, because a person asks for it.

import Scheduling
import Testing

@Suite struct `An operation that runs again` {
  @Test func `lets what it had blocked wait again`() {
    #expect(
      schedule("a=failed/2; b; c: a b; d: c", queues: "main=9", [4: { $0.reopen("a") }])
        == "0 a+ b+ | 1 b- | 2 a-failed c=blocked(a) d=blocked(a) | 4 a~ c~ d~ a+ | 6 a- c+"
        + " | 7 c- d+ | 8 d-")
  }

  @Test func `leaves blocked what something else blocks`() {
    #expect(
      schedule(
        "a=failed; b=failed; c: a b; d: a; e: c d?done", queues: "main=9", [4: { $0.reopen("a") }])
        == "0 a+ b+ | 1 a-failed c=blocked(a) d=blocked(a) e=blocked(a) b-failed | 4 a~ d~ a+"
        + " | 5 a- d+ | 6 d-")
  }

  @Test func `is waited for by what still waits`() {
    #expect(
      schedule("a; x/5; b: a x", queues: "main=9", [3: { $0.reopen("a") }])
        == "0 a+ x+ | 1 a- | 3 a~ a+ | 4 a- | 5 x- b+ | 6 b-")
    #expect(
      schedule("a/3; x/5; b: a x", queues: "main=9", [4: { $0.reopen("a") }])
        == "0 a+ x+ | 3 a- | 4 a~ a+ | 5 x- | 7 a- b+ | 8 b-")
  }

  @Test func `leaves alone what has started because of its end`() {
    #expect(
      schedule("a; b/5: a; c: b", queues: "main=9", [3: { $0.reopen("a") }])
        == "0 a+ | 1 a- b+ | 3 a~ a+ | 4 a- | 6 b- c+ | 7 c-")
  }

  @Test func `does not wait again for a service that is ready`() {
    #expect(
      schedule(
        "s&/9; a=failed: s?ready; b: a s?ready", queues: "main=9",
        [1: { $0.scheduler.announce($0.id("s")) }, 4: { $0.reopen("a") }])
        == "0 s+ | 1 a+ | 2 a-failed b=blocked(a) | 4 a~ b~ a+ | 5 a- b+ | 6 b- | 9 s-")
  }

  @Test func `waits again for a service that is not`() {
    #expect(
      schedule(
        "s&/9; a=failed; b: a s?ready", queues: "main=9",
        [4: { $0.reopen("a") }, 7: { $0.scheduler.announce($0.id("s")) }])
        == "0 a+ s+ | 1 a-failed b=blocked(a) | 4 a~ b~ a+ | 5 a- | 7 b+ | 8 b- | 9 s-")
  }

  @Test func `runs although nothing went wrong in what would skip it`() {
    #expect(
      schedule(
        "e; a: e?failed; b: a", queues: "main=9", [4: { $0.reopen("a") }])
        == "0 e+ | 1 e- a=skipped(e) b+ | 2 b- | 4 a~ a+ | 5 a-")
  }

  @Test func `does not save what another one skips`() {
    #expect(
      schedule("e; a=failed/2; b: a e?failed; c: b", queues: "main=9", [4: { $0.reopen("a") }])
        == "0 e+ a+ | 1 e- | 2 a-failed b=blocked(a) c=blocked(a) | 4 a~ b~ c~ a+"
        + " | 6 a- b=skipped(e) c+ | 7 c-")
  }

  @Test func `has its groups wait for it`() {
    #expect(
      schedule(
        "a; b/2; g&: a?done b?done; c: g", queues: "main=9", [6: { $0.reopen("a", in: "g") }])
        == "0 a+ b+ | 1 a- | 2 b- g+ | 3 g- c+ | 4 c- | 6 a~ g~ a+ | 7 a- g+ | 8 g-")
  }

  @Test func `has its groups wait once for what it lets wait again`() {
    #expect(
      schedule(
        "a=failed; b: a; g&: a?done b?done", queues: "main=9", [4: { $0.reopen("a", in: "g") }])
        == "0 a+ | 1 a-failed b=blocked(a) g+ | 2 g- | 4 a~ g~ b~ a+ | 5 a- b+ | 6 b- g+ | 7 g-")
  }
}

@Suite struct `A priority that changes` {
  @Test func `counts at once for what is ready, and for what it waits for`() {
    #expect(
      schedule(
        "x/2; a; b; c; d; e: d", queues: "main=1",
        [
          1: {
            $0.scheduler.changePriority(5, of: [$0.id("c")])
            $0.scheduler.changePriority(4, of: [$0.id("e")])
          }
        ]) == "0 d+ | 1 d- c+ | 2 c- e+ | 3 e- x+ | 5 x- a+ | 6 a- b+ | 7 b-")
  }

  @Test func `leaves the first place to what something is promised to`() {
    var run = Simulation("x; a; b", queues: "main=1")
    run.scheduler.promise(run.id("b"))
    #expect(
      run.run([0: { $0.scheduler.changePriority(9, of: [$0.id("a"), $0.id("b")]) }])
        == "0 b+ | 1 b- a+ | 2 a- x+ | 3 x-")
  }
}
