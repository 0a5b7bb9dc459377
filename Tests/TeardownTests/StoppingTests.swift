// However oprun ends, nothing of its steps survives.

import Diagnostics
import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `Stopping oprun` {
  @Test(arguments: [SIGINT: 130, SIGTERM: 143, SIGHUP: 129, SIGQUIT: 131] as [Int32: Int32])
  func `by a signal ends the steps, runs the hooks and gives the status`(
    signal: Int32, status: Int32
  ) throws {
    try expectEnd(by: signal, status: status)
  }

  /// Every signal that a step may send to its parent and that would end a process; 32 and 33 are
  /// those that the C library hides.
  @Test(
    arguments: [
      SIGUSR1, SIGUSR2, SIGALRM, SIGSTKFLT, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, 32, 33, 34,
      50, 64,
    ] as [Int32])
  func `by a signal of any other kind does the same`(signal: Int32) throws {
    try expectEnd(by: signal, status: 128 + signal)
  }

  @Test func `by signals that were ignored at the start works, HUP excepted`() throws {
    try expectEnd(by: SIGINT, status: 130, prefix: "trap '' INT QUIT TERM USR1; exec")
    try expectEnd(by: SIGUSR1, status: 138, prefix: "trap '' INT QUIT TERM USR1; exec")
  }

  @Test func `by a write without a reader or beyond a limit does not happen`() throws {
    let oprun = try OprunProcess(
      pipeline(script: "kill -PIPE $PPID; kill -XFSZ $PPID; touch done"))
    #expect(oprun.wait() == 0)
    #expect(oprun.exists("done"))
  }

  private func expectEnd(by signal: Int32, status: Int32, prefix: String = "exec") throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      pipeline(
        script: "sleep \(mark) & sleep \(mark)",
        keys: "stop: {grace: 1h}\n"
          + "on_cancel: echo $OPRUN_STATUS >hook\non_complete: touch complete"),
      prefix: prefix)
    #expect(eventually { mark.processes.count == 2 })
    oprun.send(signal)
    #expect(oprun.wait() == status)
    let name = signalName(signal)
    #expect(
      oprun.standardError.contains("! stopping: \(name); a second signal kills running commands\n"))
    #expect(oprun.standardError.contains(", stopped: \(name)"))
    #expect(mark.processes == [])
    #expect(oprun.content(of: "hook") == "cancelled\n" && oprun.exists("complete"))
  }

  @Test func `a stubborn step has its grace and is then killed`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      "defaults: {stop: {grace: 1h}}\n"
        + pipeline(
          script: "trap '' TERM\ntouch ready\nwhile :; do sleep \(mark); done",
          keys: "stop: {grace: 300ms}"))
    #expect(eventually { oprun.exists("ready") && !mark.processes.isEmpty })
    let time = duration {
      oprun.send(SIGTERM)
      #expect(oprun.wait() == 143)
    }
    #expect(time >= 0.3)
    #expect(mark.processes == [])
  }

  @Test func `the second signal does not wait for the grace`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      pipeline(
        script: "trap 'touch asked' TERM\ntouch ready\nwhile :; do sleep \(mark) & wait; done",
        keys: "stop: {grace: 1h}\non_cancel: touch hook"))
    #expect(eventually { oprun.exists("ready") && !mark.processes.isEmpty })
    oprun.send(SIGINT)
    #expect(eventually { oprun.exists("asked") })
    oprun.send(SIGINT)
    #expect(oprun.wait() == 130)
    #expect(mark.processes == [] && oprun.exists("hook"))
  }

  @Test func `after the third signal the summary is true`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      """
      max_parallel: 4
      defaults: {stop: {grace: 1h}}
      steps:
        - {id: ok, run: "true"}
        - {id: running, run: "trap '' TERM; sleep \(mark) & touch ready; while :; do sleep 0.01; done"}
        - {id: after, depends_on: [running], run: "true"}
        - {id: hooked, run: "true", on_success: "trap '' TERM; sleep \(mark) & wait"}
        - {id: broken, run: exit 3, on_failure: "trap '' TERM; sleep \(mark) & wait"}
      """)
    #expect(eventually { oprun.exists("ready") && mark.processes.count == 3 })
    #expect(eventually { oprun.standardError.contains("ok ") })
    // Each of another kind: signals of one kind that wait together are one.
    oprun.send(SIGINT)
    oprun.send(SIGTERM)
    oprun.send(SIGUSR1)
    #expect([130, 138, 143].contains(oprun.wait()))
    #expect(mark.processes == [])
    let said = oprun.standardError
    #expect(said.contains(": 1 failed, 3 cancelled, 1 ok in "), "\(said)")
    for step in ["running", "hooked"] { #expect(said.contains("- \(step)  "), "\(said)") }
    #expect(said.contains("broken  exit 3 after "), "\(said)")
  }

  @Test func `the third signal does not wait for hooks`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      pipeline(
        script: "sleep \(mark)",
        keys: "stop: {grace: 1h}\non_cancel: \"trap '' TERM; touch hook; sleep \(mark)\""))
    #expect(eventually { !mark.processes.isEmpty })
    oprun.send(SIGINT)
    #expect(eventually { oprun.exists("hook") && !mark.processes.isEmpty })
    // Each of another kind: signals of one kind that wait together are one.
    oprun.send(SIGTERM)
    oprun.send(SIGHUP)
    #expect(oprun.wait() == 130)
    #expect(mark.processes == [])
  }

  @Test(arguments: [SIGKILL, SIGSEGV, SIGABRT, SIGILL])
  func `its own death leaves nothing`(signal: Int32) throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      """
      max_parallel: 4
      steps:
        - {id: a, run: sleep \(mark)}
        - {id: b, run: "trap '' TERM HUP; sleep \(mark) & sleep \(mark)"}
        - {id: c, run: "setsid sleep \(mark) & (setsid sh -c 'sleep \(mark) & true' &) ; sleep \(mark)"}
      """)
    #expect(eventually { mark.processes.count >= 6 }, "\(mark.processes)")
    oprun.send(signal)
    _ = oprun.wait()
    #expect(eventually { mark.processes.isEmpty }, "left: \(mark.processes)")
  }

  @Test func `signals for its whole group do not reach commands that just start`() throws {
    let oprun = try OprunProcess(
      """
      steps: [{id: step, run: "touch ready; while :; do sleep 0.01; done"}]
      on_cancel: [\(Array(repeating: "{run: true}", count: 40).joined(separator: ", "))]
      on_complete: touch complete
      """)
    #expect(eventually { oprun.exists("ready") })
    // The first to oprun alone; then one to whoever is in its group, while hooks start.
    oprun.send(SIGINT)
    #expect(eventually { oprun.standardError.contains("stopping") })
    kill(-oprun.processID, SIGTERM)
    #expect(oprun.wait() == 130)
    #expect(oprun.exists("complete"))
    #expect(!oprun.standardError.contains("hook"), "\(oprun.standardError)")
  }

  @Test func `the death of its whole group leaves nothing`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(pipeline(script: "setsid sleep \(mark) & sleep \(mark)"))
    #expect(eventually { mark.processes.count == 2 })
    kill(-oprun.processID, SIGKILL)
    _ = oprun.wait()
    #expect(eventually { mark.processes.isEmpty }, "left: \(mark.processes)")
  }

  @Test func `killing everything by its name leaves nothing`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(pipeline(script: "setsid sleep \(mark) & sleep \(mark)"))
    #expect(eventually { mark.processes.count == 2 })
    // They have their names once they have their program.
    #expect(eventually { guardians(of: oprun.processID).count == 2 })
    // What `pkill -9 -f oprun` would end, of this run's processes.
    let named = descendants(of: oprun.processID).filter {
      arguments(of: $0).contains { $0.contains("oprun") }
    }
    for process in named + [oprun.processID] { kill(process, SIGKILL) }
    _ = oprun.wait()
    #expect(eventually { mark.processes.isEmpty }, "left: \(mark.processes)")
  }

  @Test func `the death of its guardian first, too, leaves nothing`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(pipeline(script: "setsid sleep \(mark) & sleep \(mark)"))
    #expect(eventually { mark.processes.count == 2 })
    // They have their names a moment after they exist.
    #expect(eventually { guardians(of: oprun.processID).count == 2 })
    let first = Set(guardians(of: oprun.processID))
    for guardian in first { kill(guardian, SIGKILL) }
    #expect(
      eventually {
        let all = guardians(of: oprun.processID)
        return !all.isEmpty && first.isDisjoint(with: all)
      })
    oprun.send(SIGKILL)
    _ = oprun.wait()
    #expect(eventually { mark.processes.isEmpty }, "left: \(mark.processes)")
  }

  @Test func `a run inside a run is ended with it`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let inner = "steps: [{id: inner, run: 'setsid sleep \(mark) & sleep \(mark)'}]"
    let oprun = try OprunProcess(
      pipeline(
        script: "printf '%s' \"\(inner)\" >inner.yml\n'\(OprunProcess.program)' inner.yml",
        keys: "stop: {signal: KILL}"))
    #expect(eventually { mark.processes.count == 2 })
    oprun.send(SIGTERM)
    #expect(oprun.wait() == 143)
    #expect(eventually { mark.processes.isEmpty }, "left: \(mark.processes)")
  }

  @Test func `a closed output does not stop the steps`() throws {
    let oprun = try OprunProcess(
      """
      max_parallel: 1
      steps:
        - {id: a, run: echo one; echo two}
        - {id: b, run: echo three; touch b}
        - {id: c, depends_on: [b], run: touch c}
      """, prefix: "(", suffix: "; echo $? >status) 2>&1 | head -1")
    _ = oprun.wait()
    #expect(eventually { oprun.exists("status") })
    #expect(oprun.content(of: "status") == "0\n" && oprun.exists("b") && oprun.exists("c"))
  }

  @Test func `under nohup a hangup changes nothing`() throws {
    let oprun = try OprunProcess(
      pipeline(script: "touch ready\nwhile [ ! -e go ]; do sleep 0.01; done\ntouch done"),
      prefix: "exec nohup")
    #expect(eventually { oprun.exists("ready") })
    oprun.send(SIGHUP)
    #expect(!eventually(within: 0.2) { !oprun.isRunning })
    try Data().write(to: oprun.folder.appending(path: "go"))
    #expect(oprun.wait() == 0)
    #expect(oprun.exists("done"))
  }

  @Test func `a time limit takes its own grace, whatever ignores it`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      "defaults: {stop: {grace: 1h}}\n"
        + pipeline(
          script:
            "trap '' TERM INT HUP\nsetsid sleep \(mark) &\n(trap '' TERM; sleep \(mark)) &\nwait",
          keys: "timeout: 500ms\nstop: {grace: 500ms}"))
    #expect(oprun.wait() == 1)
    #expect(mark.processes == [])
    #expect(oprun.standardError.contains("timed out after 500ms"), "\(oprun.standardError)")
  }

  @Test func `a child that ends its work after TERM is given the time`() throws {
    let oprun = try OprunProcess(
      pipeline(
        script: """
          sh -c 'trap "sleep 0.3; touch clean; exit 0" TERM; touch ready; while :; do sleep 0.01; done' &
          wait
          """, keys: "stop: {grace: 1h}"))
    #expect(eventually { oprun.exists("ready") })
    oprun.send(SIGTERM)
    #expect(oprun.wait() == 143)
    #expect(oprun.exists("clean"), "the shell ends at once, its child needs 300 ms")
  }
}
