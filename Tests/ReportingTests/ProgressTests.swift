// How far a run is: the line where no terminal shows it, and the time that is left.

import Scheduling
import TestSupport
import Testing

@testable import Reporting

struct `A heartbeat` {
  @Test func `says every 30 seconds what is running, where no terminal does`() throws {
    let ids = (1...8).map { "s\($0)" }
    let run = try StagedRun(samplePlan(ids.joined(separator: ";"), width: 8))
    run.start("s1")
    run.at(12_000)
    for id in ids.dropFirst() { run.start(id) }
    run.awaitDeadline(at: 30_000)
    run.end("s1")
    run.settle("s1")
    run.awaitDeadline(at: 60_000)
    run.finish()
    #expect(
      run.standardError.split(separator: "\n").prefix(4) == [
        "sample.yml  8 steps, 8 at once",
        "… [0/8] 8 running  30.0s: s1 30.0s, s2 18.0s, s3 18.0s, s4 18.0s, s5 18.0s and 3 more",
        "✓ s1  0.1s",
        "… [1/8] 7 running  1m00s: s2 48.0s, s3 48.0s, s4 48.0s, s5 48.0s, s6 48.0s and 2 more",
      ])
  }

  @Test func `is left out for a CI runner while steps print something`() {
    var heartbeat = Heartbeat(isForRunner: true)
    heartbeat.outputGrew()
    let times: [Nanoseconds] = [30_000_000_000, 59_000_000_000, 60_000_000_000, 61_000_000_000]
    let due = times.filter { heartbeat.isDue(at: $0) }
    #expect(due == [60_000_000_000])
  }

  @Test(arguments: [OutputMode.quiet, .json])
  func `is none where nothing is told but failures`(mode: OutputMode) throws {
    let run = try StagedRun(samplePlan("a"), mode)
    run.start("a")
    #expect(run.deadline == nil)
  }
}

struct `The time that is left` {
  @Test(arguments: [
    ("a~4; b~2; c~3: a", 2, "about 7s left"), ("a~4; b~4; c~4; d~4", 2, "about 8s left"),
    ("a~4; b~4; c", 4, "about 4s left"), ("a~4; b; c", 4, nil), ("a; b", 4, nil),
  ])
  func `is that of the longest path or the width`(plan: String, width: Int, words: String?) throws {
    let live = try LiveRun(samplePlan(plan, width: width))
    live.run.pass(until: 0)
    live.run.awaitDeadline(at: 50)
    let header = live.terminal.lines.last { $0.hasPrefix("[") } ?? ""
    #expect(header.split(separator: ", ").last { $0.hasPrefix("about") }.map(String.init) == words)
  }

  @Test func `shrinks as steps run, and is unknown once they take longer`() throws {
    let live = try LiveRun(samplePlan("a~4"))
    live.run.start("a")
    live.run.pass(until: 2500)
    #expect(live.terminal.lines.contains { $0.hasSuffix("2.5s, about 2s left") })
    live.run.pass(until: 5000)
    #expect(live.terminal.lines.contains { $0.hasSuffix("1 running  5.0s") })
  }
}
