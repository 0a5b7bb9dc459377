// Steps with make, ninja, cargo and gcc share the slots of the run.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `Steps that share the slots of the run` {
  /// Builds two things beside each other, by the commands given.
  private func workshop(
    _ commands: [String], waitingFor wanted: Int, keys: String = "jobserver: true"
  ) throws -> Workshop {
    let steps = zip(["a", "b"], commands).map { "  - {id: \($0), run: \"\($1)\", \(keys)}\n" }
    let files = ["a", "b"].map { Workshop.build(5, named: $0) }.flatMap { $0 }
    return try Workshop(
      waitingFor: wanted,
      files: Dictionary(uniqueKeysWithValues: files).merging(
        ["pipeline.yml": "max_parallel: 4\nsteps:\n\(steps.joined())"]) { $1 })
  }

  @Test(arguments: [
    ["make -f a.mk", "make -f b.mk"],
    ["\(Workshop.tools)/make -f a.mk", "\(Workshop.tools)/make -f b.mk"],
    ["\(Workshop.tools)/ninja -f a.ninja", "\(Workshop.tools)/ninja -f b.ninja"],
    ["make -f a.mk", "\(Workshop.tools)/ninja -f b.ninja"],
  ]) func `have as many jobs together as the run`(commands: [String]) throws {
    let shop = try workshop(commands, waitingFor: 4)
    defer { shop.remove() }
    #expect(try shop.run("exec oprun pipeline.yml") == 0, "\(shop.output)")
    #expect(shop.peak == 4)
    #expect(!shop.output.contains("arning"), "\(shop.output)")
  }

  @Test func `would have more without that, which the test sees`() throws {
    let shop = try workshop(
      ["make -j4 -f a.mk", "make -j4 -f b.mk"], waitingFor: 8, keys: "jobserver: false")
    defer { shop.remove() }
    #expect(try shop.run("exec oprun pipeline.yml") == 0, "\(shop.output)")
    #expect(shop.peak == 8)
  }

  @Test func `of the run around them share them with the run inside`() throws {
    let shop = try workshop(
      ["oprun inner.yml --output quiet", "make -f b.mk"], waitingFor: 4)
    defer { shop.remove() }
    let inner = (1...5).map { "  - {id: s\($0), run: ./cc s\($0)}\n" }.joined()
    try shop.write("steps:\n\(inner)", to: "inner.yml")
    #expect(try shop.run("exec oprun pipeline.yml") == 0, "\(shop.output)")
    #expect(shop.peak == 4)
    #expect(!shop.output.contains("otice"), "\(shop.output)")
  }

  @Test func `wait for slots that a make has, and get them`() throws {
    let shop = try Workshop(
      waitingFor: 2,
      // More than can be done before the others have had their turn.
      files: Workshop.build(2000, named: "a").merging([
        "pipeline.yml": """
        max_parallel: 2
        queues: {other: {max_parallel: 1}}
        steps:
          - {id: make, run: "make -f a.mk; touch done", jobserver: true}
          - {id: first, queue: other, run: "while [ $(cat peak) -lt 2 ]; do sleep 0.05; done"}
          - {id: then, run: "touch enough; [ ! -e done ]", depends_on: [first]}
        """
      ]) { $1 })
    defer { shop.remove() }
    #expect(try shop.run("exec oprun pipeline.yml") == 0, "\(shop.output)")
  }

  @Test func `get back what a step that was killed had taken`() throws {
    let shop = try Workshop(
      waitingFor: 4,
      files: Workshop.build(6, named: "b").merging([
        "pipeline.yml": """
        max_parallel: 4
        defaults: {jobserver: true}
        steps:
          - id: thief
            shell: bash
            run: |
              flags=${MAKEFLAGS#*--jobserver-auth=}; flags=${flags%% *}
              head -c 3 <&${flags%,*} >taken
              kill -KILL $$
            allow_failure: true
          - {id: b, run: make -f b.mk, depends_on: [{step: thief, when: done}]}
        """
      ]) { $1 })
    defer { shop.remove() }
    #expect(try shop.run("exec oprun pipeline.yml") == 0, "\(shop.output)")
    #expect(shop.content(of: "taken") == "+++")
    #expect(shop.peak == 4)
  }

  @Test func `get no more for what a step wrote into the pool`() throws {
    let shop = try Workshop(
      waitingFor: 3,
      files: Workshop.build(9, named: "b").merging([
        "pipeline.yml": """
        max_parallel: 3
        defaults: {jobserver: true}
        steps:
          - id: forger
            shell: bash
            run: |
              flags=${MAKEFLAGS#*--jobserver-auth=}; flags=${flags%% *}
              printf '%100s' >&${flags#*,}
          - {id: b, run: make -f b.mk, depends_on: [forger]}
        """
      ]) { $1 })
    defer { shop.remove() }
    #expect(try shop.run("exec oprun pipeline.yml") == 0, "\(shop.output)")
    #expect(shop.peak == 3)
  }

  @Test func `see the descriptors and the path of the pool, and others see nothing of it`() throws {
    let shop = try Workshop(
      waitingFor: 0,
      files: [
        "pipeline.yml": """
        max_parallel: 3
        defaults: {jobserver: true}
        steps:
          - {id: shares, run: "ls /proc/self/fd >shares; echo $MAKEFLAGS >flags; ls .oprun/runs/*/jobserver"}
          - {id: not, run: "ls /proc/self/fd >not; echo $MAKEFLAGS >none", jobserver: false}
          - {id: own, run: "ls /proc/self/fd >own; echo $MAKEFLAGS >mine", env: {MAKEFLAGS: -k}}
        """
      ])
    defer { shop.remove() }
    #expect(
      try shop.run("exec env MAKEFLAGS='s -j9 -- V=1' oprun pipeline.yml") == 0, "\(shop.output)")
    #expect(shop.content(of: "shares") == "0\n1\n100\n101\n2\n3\n")
    let flags = shop.content(of: "flags")
    #expect(flags.hasPrefix("s -j3 --jobserver-auth=100,101 --jobserver-auth=fifo:/"))
    #expect(flags.hasSuffix("/jobserver --jobserver-aut=100,101 -- V=1\n"))
    #expect(shop.content(of: "not") == "0\n1\n2\n3\n")
    #expect(shop.content(of: "none") == "s -j9 -- V=1\n")
    #expect(shop.content(of: "own") == "0\n1\n2\n3\n")
    #expect(shop.content(of: "mine") == "-k\n")
    #expect(try shop.run("test ! -e .oprun/runs/*/jobserver") == 0, "the pool ends with the run")
  }

  @Test func `are those that the command line says`() throws {
    let shop = try Workshop(
      waitingFor: 0,
      files: [
        "pipeline.yml": """
        steps:
          - {id: a, run: "echo $MAKEFLAGS >a"}
          - {id: b, run: "echo $MAKEFLAGS >b", jobserver: true}
          - {id: c, run: "echo $MAKEFLAGS >c", jobserver: false}
        """
      ])
    defer { shop.remove() }
    func shares() -> [Bool] {
      ["a", "b", "c"].map { shop.content(of: $0).contains("--jobserver-auth=") }
    }
    #expect(try shop.run("oprun pipeline.yml") == 0)
    #expect(shares() == [false, true, false])
    #expect(try shop.run("oprun pipeline.yml --jobserver on") == 0)
    #expect(shares() == [true, true, false])
    #expect(try shop.run("OPRUN_JOBSERVER=off oprun pipeline.yml") == 0)
    #expect(shares() == [false, false, false])
  }
}
