// The scheduling rules, one by one: which operation starts when.

import Scheduling
import Testing

@Suite struct `ready order` {
  @Test func `equals start in file order`() {
    #expect(schedule("a; b; c") == "0 a+ | 1 a- b+ | 2 b- c+ | 3 c-")
  }

  @Test func `the highest priority starts first`() {
    #expect(schedule("a!-4; b; c!8") == "0 c+ | 1 c- b+ | 2 b- a+ | 3 a-")
  }

  @Test func `an operation inherits the priority of what waits for it`() {
    #expect(schedule("a; b!1; c!3: a") == "0 a+ | 1 a- c+ | 2 c- b+ | 3 b-")
  }

  @Test func `priority is inherited through chains`() {
    #expect(
      schedule("x!2; a; b: a; c: b; d!3: c")
        == "0 a+ | 1 a- b+ | 2 b- c+ | 3 c- d+ | 4 d- x+ | 5 x-")
  }

  @Test func `priority is inherited across queues`() {
    #expect(
      schedule("x!2; a; b!3@net: a", queues: "main=1 net=1") == "0 a+ | 1 a- x+ b+ | 2 x- b-")
  }

  @Test func `priorities compare within a queue only`() {
    #expect(schedule("a@net; b!5", queues: "main=1 net=1") == "0 b+ a+ | 1 b- a-")
  }

  @Test func `the longest remaining path starts first, by count`() {
    #expect(schedule("a; b; c: b; d: c") == "0 b+ | 1 b- c+ | 2 c- a+ | 3 a- d+ | 4 d-")
  }

  @Test func `the longest remaining path starts first, by expected duration`() {
    #expect(
      schedule("a~1; b~1: a; c~1: b; d~9") == "0 d+ | 1 d- a+ | 2 a- b+ | 3 b- c+ | 4 c-")
  }

  @Test func `an unknown duration counts as the mean of the known`() {
    #expect(schedule("a~4; b; c~8; d~7") == "0 c+ | 1 c- d+ | 2 d- b+ | 3 b- a+ | 4 a-")
  }

  @Test func `priority comes before the path`() {
    #expect(schedule("a~9; b~1!1") == "0 b+ | 1 b- a+ | 2 a-")
  }
}

@Suite struct queues {
  @Test func `a queue starts no more than its width`() {
    #expect(
      schedule("a/3; b/1; c/1; d/1", queues: "main=2")
        == "0 a+ b+ | 1 b- c+ | 2 c- d+ | 3 a- d-")
  }

  @Test func `width 0 starts nothing`() {
    #expect(schedule("a; b", queues: "main=0") == "")
  }

  @Test func `width can have no bound`() {
    #expect(schedule("a; b; c", queues: "main=-1") == "0 a+ b+ c+ | 1 a- b- c-")
  }

  @Test func `a larger width takes effect at once`() {
    #expect(
      schedule("a/4; b/4; c/4", [1: { $0.scheduler.setWidth(3, of: .default) }])
        == "0 a+ | 1 b+ c+ | 4 a- | 5 b- c-")
  }

  @Test func `a smaller width lets what runs go on`() {
    #expect(
      schedule(
        "a/2; b/3; c; d", queues: "main=2", [1: { $0.scheduler.setWidth(1, of: .default) }])
        == "0 a+ b+ | 2 a- | 3 b- c+ | 4 c- d+ | 5 d-")
  }

  @Test func `a suspended queue starts nothing and goes on when resumed`() {
    #expect(
      schedule(
        "a/2; b; c@net",
        queues: "main=1 net=1",
        [
          1: { $0.scheduler.suspend($0.queue("main")) },
          5: { $0.scheduler.resume($0.queue("main")) },
        ]) == "0 a+ c+ | 1 c- | 2 a- | 5 b+ | 6 b-")
  }

  @Test func `a queue may start suspended`() {
    #expect(
      schedule("a", queues: "main=1.", [2: { $0.scheduler.resume(.default) }])
        == "2 a+ | 3 a-")
  }

  @Test func `dependencies cross queues`() {
    #expect(
      schedule("d@net; r: d; e@net; s: e r", queues: "main=1 net=1")
        == "0 d+ | 1 d- r+ e+ | 2 r- e- s+ | 3 s-")
  }
}
