// Commands that have ended while something else was about to end them, and what they have left behind.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `A step that has ended` {
  @Test func `has succeeded although it is cancelled while something that it left prints`() throws {
    let run = try OprunProcess(
      pipeline(
        script: "(while sleep 0.02; do echo x; done) &\necho $$ >pid; mv pid over\nexit 0",
        keys: "stop: {grace: 1h}"), arguments: "--output quiet")
    #expect(eventually { run.exists("over") })
    let shell = try #require(run.number(in: "over"))
    #expect(eventually { state(of: shell) == nil }, "oprun collects it")
    _ = try run.ask("cancel step")
    #expect(run.wait() == 0, "\(run.standardError)")
  }

  @Test func `has not timed out while oprun was stopped`() throws {
    let isTested = try once {
      let before = ContinuousClock.now
      let run = try OprunProcess(
        pipeline(
          script: "echo $$ >pid; mv pid here\nuntil test -e go; do sleep 0.01; done\nexit 0",
          keys: "timeout: 4s"))
      #expect(eventually { run.exists("here") || !run.isRunning })
      guard let shell = run.number(in: "here") else { return false }
      run.send(SIGSTOP)
      #expect(eventually { state(of: run.processID) == "T" || !run.isRunning })
      // On a slow machine the limit may have passed already.
      if before.duration(to: .now) > .seconds(4) { return false }
      run.touch("go")
      #expect(eventually { hasEnded(shell) })
      // The limit must pass before oprun goes on.
      usleep(4_200_000)
      run.send(SIGCONT)
      #expect(run.wait() == 0, "\(run.standardError)")
      return true
    }
    #expect(isTested)
  }

  @Test func `by a signal passes it on to what has left its session`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let run = try OprunProcess(
      pipeline(
        script: """
          setsid sh -c 'trap "touch asked; exit" USR1; touch here; while :; do sleep 0.02; done' &
          setsid sh -c 'trap "" USR1; sleep \(mark) & exec sleep \(mark)' &
          sleep 86400
          """, keys: "stop: {signal: USR1, grace: 1h}"))
    #expect(eventually { run.exists("here") && mark.processes.count == 2 })
    run.send(SIGTERM)
    #expect(eventually { run.exists("asked") })
    // One of them does not listen.
    run.send(SIGINT)
    #expect(run.wait() == 143)
    #expect(mark.processes == [])
  }
}

@Suite(.blocking) struct `A command of tools` {
  private func pipeline(_ tool: String) -> String {
    "steps:\n  - id: step\n    run: 'true'\n    cache:\n      inputs: [pipeline.yml]\n"
      + "      tools:\n        - \"\(tool)\"\n"
  }

  @Test func `is over when its shell is, and leaves nothing behind`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let run = try OprunProcess(
      pipeline("sleep \(mark) & setsid sleep \(mark) & touch here; echo v1"))
    #expect(run.wait() == 0)
    #expect(run.exists("here"))
    #expect(!run.standardError.contains("tool"), "\(run.standardError)")
    #expect(mark.processes == [])
  }

  @Test func `ends with oprun, however that ends`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let run = try OprunProcess(pipeline("setsid sleep \(mark) & sleep \(mark); true"))
    #expect(eventually { mark.processes.count == 2 })
    run.send(SIGKILL)
    _ = run.wait()
    #expect(eventually { mark.processes.isEmpty }, "left: \(mark.processes)")
  }

  @Test func `that prints without end is refused`() throws {
    let run = try OprunProcess(pipeline("yes"))
    #expect(run.wait() == 0)
    #expect(
      run.standardError.contains("the command prints more than 1 MiB"), "\(run.standardError)")
  }
}
