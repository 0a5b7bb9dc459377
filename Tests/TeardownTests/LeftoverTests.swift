// Processes that steps leave behind are gone when oprun is. Each script, run only by the shell,
// first shows that it does leave a process behind and that the probe sees it.

import Foundation
import TestSupport
import Testing

/// Waits in a script until the process that it started last is `sleep`, and no longer a shell or `setsid`.
let awaitsSleep = "until grep -qxs sleep /proc/$!/comm; do command sleep 0.01; done"

@Suite(.blocking) struct `Leftovers of a step` {
  /// Scripts that end at once and leave a process marked MARK.
  static let leavers = [
    "in the background": "sleep MARK & true",
    "holding the pipe": "sleep MARK & echo started",
    "with closed output": "sleep MARK >&- 2>&- & true",
    "after the shell closed its own output": "exec >&- 2>&-; sleep MARK & true",
    "in a session of its own": "setsid sleep MARK & true",
    "forked twice": "(setsid sh -c 'sleep MARK & true' & true) & wait",
    "without environment": "env -i setsid sleep MARK & true",
    "without environment, forked twice": "env -i setsid sh -c 'setsid sleep MARK & exit 0'",
    "ignoring every signal it can": "(trap '' TERM INT HUP QUIT; exec setsid sleep MARK) & true",
    "under nohup": "nohup sleep MARK >/dev/null 2>&1 & true",
    "below a parent that goes on": "setsid sh -c 'sleep MARK; true' & true",
  ]

  @Test(arguments: leavers.keys.sorted())
  func `are gone when the step ends`(_ how: String) throws {
    let script = try #require(`Leftovers of a step`.leavers[how])
    let bare = Mark()
    defer { bare.endAll() }
    _ = try Child(script: script.replacing("MARK", with: bare.seconds)).wait()
    #expect(eventually { !bare.processes.isEmpty }, "the probe must see the leftover")

    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      pipeline(
        script: script.replacing("MARK", with: mark.seconds), keys: "stop: {grace: 1h}"))
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    #expect(mark.processes == [])
    #expect(oprun.standardError.contains("left 1 process behind, killed"), "\(oprun.standardError)")
  }

  @Test(arguments: leavers.keys.sorted())
  func `are gone when oprun is killed while the step goes on`(_ how: String) throws {
    let script = try #require(`Leftovers of a step`.leavers[how])
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      pipeline(
        script: "\(script.replacing("MARK", with: mark.seconds))\ntouch here; sleep 86400"))
    #expect(eventually { oprun.exists("here") && !mark.processes.isEmpty })
    oprun.send(SIGKILL)
    _ = oprun.wait()
    #expect(eventually { mark.processes.isEmpty }, "left: \(mark.processes)")
  }

  @Test func `of one step are ended and its neighbour's are not`() throws {
    let mine = Mark()
    let neighbours = Mark()
    defer { mine.endAll(); neighbours.endAll() }
    let oprun = try OprunProcess(
      """
      max_parallel: 2
      steps:
        - id: neighbour
          run: |
            setsid sleep \(neighbours) &
            \(awaitsSleep)
            touch begun
            while [ ! -e over ]; do sleep 0.01; done
        - id: leaver
          run: |
            while [ ! -e begun ]; do sleep 0.01; done
            setsid sleep \(mine) & true
        - id: witness
          depends_on: [leaver]
          run: |
            for process in /proc/[0-9]*; do
              cat $process/cmdline 2>/dev/null | tr '\\0' ' ' | grep '^sleep \(neighbours)' || true
            done
            touch over
      """)
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    #expect(oprun.standardOutput == "sleep \(neighbours) \n")
    #expect(mine.processes == [] && neighbours.processes == [])
  }

  /// The tests may be a step of a run, whose mark a run inside it would keep.
  @Test func `without an environment are those of their own step, whoever runs beside it`() throws {
    let allowed = Mark()
    let left = Mark()
    defer { allowed.endAll(); left.endAll() }
    let oprun = try OprunProcess(
      """
      max_parallel: 3
      steps:
        - id: neighbour
          run: while [ ! -e over ]; do sleep 0.01; done
        - id: daemon
          orphans: allow
          run: |
            env -i setsid sleep \(allowed) >/dev/null 2>&1 &
            \(awaitsSleep)
        - id: leaver
          run: |
            env -i setsid sleep \(left) >/dev/null 2>&1 &
            \(awaitsSleep)
        - id: end
          depends_on: [daemon, leaver]
          run: touch over
      """, prefix: "ulimit -S -m unlimited; exec")
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    #expect(allowed.processes.count == 1 && left.processes == [])
    #expect(oprun.standardError.contains("! leaver     left 1 process behind, killed: sleep"))
    #expect(!oprun.standardError.contains("! neighbour"), "\(oprun.standardError)")
  }

  @Test func `may live on when the file says so`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      pipeline(script: "setsid sleep \(mark) & true", keys: "orphans: allow"))
    #expect(oprun.wait() == 0)
    #expect(eventually { mark.processes.count == 1 })
    #expect(!oprun.standardError.contains("behind"))
  }

  @Test func `that write without end may live on, and the run still ends`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      pipeline(script: "yes \(mark) &", keys: "orphans: allow\nlog_limit: 1M"),
      arguments: "--output quiet")
    #expect(oprun.wait() == 0)
  }

  @Test func `are told of and live on under warn`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      pipeline(script: "setsid sleep \(mark) & true", keys: "orphans: warn"))
    #expect(oprun.wait() == 0)
    #expect(eventually { mark.processes.count == 1 })
    #expect(oprun.standardError.contains("left 1 process behind:"), "\(oprun.standardError)")
  }

  @Test func `that fork without end are ended`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let storm = "while :; do setsid sh -c 'sleep \(mark) & sleep \(mark) & true'; done"
    let oprun = try OprunProcess(pipeline(script: "(\(storm)) &\nsleep 0.2"))
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    #expect(mark.processes == [])
  }

  @Test func `that move on by forking and leaving are ended`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      pipeline(
        script: """
          echo 'setsid sh runner \(mark) & exit 0' >runner
          sh runner \(mark)
          """))
    _ = oprun.wait()
    #expect(!eventually(within: 0.3) { !mark.processes.isEmpty }, "left: \(mark.processes)")
  }

  /// The shell that becomes oprun has children, one of which leaves an orphan, too.
  @Test(arguments: leavers.keys.sorted())
  func `are gone and those of the caller's own children are not`(_ how: String) throws {
    let script = try #require(`Leftovers of a step`.leavers[how])
    let mark = Mark()
    let callers = Mark()
    defer { mark.endAll(); callers.endAll() }
    let oprun = try OprunProcess(
      pipeline(
        script:
          "\(script.replacing("MARK", with: mark.seconds))\nwhile [ ! -e orphan ]; do sleep 0.01; done"
      ),
      prefix: """
        sh -c '(env -i setsid sh -c "sleep \(callers) & echo \\$! >orphan") & exec sleep \(callers)' &
        exec
        """)
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    #expect(mark.processes == [])
    #expect(eventually { callers.processes.count == 2 })
    #expect(oprun.standardError.contains("left 1 process behind, killed"), "\(oprun.standardError)")
  }

  @Test func `are gone and the reader of a process substitution is not`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      pipeline(script: "env -i setsid sh -c 'setsid sleep \(mark) & exit 0'\necho said"),
      prefix: "exec bash -c 'exec \"$@\" > >(tee log; sleep \(mark))' sh")
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    #expect(eventually { oprun.content(of: "log") == "said\n" && mark.processes.count == 1 })
    #expect(oprun.standardError.contains("left 1 process behind, killed: "))
  }

  @Test func `of processes that were there before oprun are left alone`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      pipeline(script: "true"), prefix: "sleep \(mark) & exec")
    #expect(oprun.wait() == 0)
    #expect(eventually { mark.processes.count == 1 })
  }
}
