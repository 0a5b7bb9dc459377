// One command of a run on a node: the real program, with whole outcomes compared.

import Foundation
import Plans
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct NodeTaskTests {
  private let run: NodeRun

  init() throws { run = try NodeRun() }

  @Test func `a success is its result, with its outputs and its log`() throws {
    try run.write(
      """
      echo "here $(pwd)"
      echo "$OWN $SLURM_JOB_ID ${OPRUN_STEP_COOKIE:+marked}" >&2
      echo a=1 >>"$OPRUN_OUTPUT"
      """)
    #expect(try run.start().wait() == 0)
    let log = "here \(run.workspace)\nown 100 marked\n"
    #expect(run.log() == log)
    #expect(
      try run.story == """
        claim 1: 100
        start 1.0: n2 100
        result 1.0: exited(0), outputs "a=1\\n", log \(log.utf8.count)
        """)
    #expect(run.leftovers == ["s.1.log"])
    #expect(run.said() == "")
    let result = try #require(try run.files.result(of: TaskStart(task: 1, restart: 0)))
    #expect(result.place.host == "n2" && result.end.duration > 0)
  }

  @Test func `a failure is its result, without outputs`() throws {
    try run.write("echo a=1 >>\"$OPRUN_OUTPUT\"; echo no; exit 3")
    #expect(try run.start().wait() == 3)
    #expect(
      try run.story == """
        claim 1: 100
        start 1.0: n2 100
        result 1.0: exited(3), log 3
        """)
    #expect(run.leftovers == ["s.1.log", "s.1.outputs"])
  }

  @Test func `a command that dies of its own signal has failed`() throws {
    try run.write("kill -TERM $$")
    #expect(try run.start().wait() == 143)
    #expect(
      try run.story == """
        claim 1: 100
        start 1.0: n2 100
        result 1.0: signalled(15), log 0
        """)
  }

  @Test func `of two jobs for one task, one runs it`() throws {
    try run.write("echo ran >>ran; sleep 0.2")
    let jobs = try (100..<108).map { try run.start(job: $0) }
    #expect(jobs.map { $0.wait() } == Array(repeating: 0, count: 8))
    #expect(run.work("ran") == "ran\n")
    let holder = try #require(try run.files.claim(of: 1))
    #expect(
      try run.story == """
        claim 1: \(holder)
        start 1.0: n2 \(holder)
        result 1.0: exited(0), log 0
        """)
    for job in 100..<108 where String(job) != holder {
      #expect(
        run.said(job: job) == "oprun: task 1 belongs to job '\(holder)': this start is ignored\n")
    }
    #expect(run.leftovers == [])
  }

  @Test func `one start of one job begins once`() throws {
    try run.write("echo ran >>ran")
    #expect(try run.start().wait() == 0)
    #expect(try run.start().wait() == 0)
    #expect(run.said() == "oprun: start 0 of task 1 has already begun: this start is ignored\n")
    #expect(run.work("ran") == "ran\n")
  }

  @Test(arguments: [(0, false, "half\n"), (1, false, ""), (0, true, "")])
  func `a start that is not the first of its attempt removes what is only its work`(
    restart: Int, isRepeated: Bool, left: String
  ) throws {
    try run.write(
      "cat out >seen || true; cat other >>kept", replaceable: ["out", "sub/none"],
      isRepeated: isRepeated)
    for name in ["out", "other"] {
      try Data("half\n".utf8).write(to: URL(filePath: "\(run.workspace)/\(name)"))
    }
    #expect(try run.start(restart: restart).wait() == 0)
    #expect(run.work("seen") == left)
    #expect(run.work("kept") == "half\n")
  }

  @Test func `a job that is started again keeps the result that is there`() throws {
    try run.write("echo ran >>ran; echo a=1 >>\"$OPRUN_OUTPUT\"; exit 0")
    #expect(try run.start().wait() == 0)
    #expect(try run.start(restart: 1).wait() == 0)
    #expect(run.work("ran") == "ran\n")
    #expect(
      try run.story == """
        claim 1: 100
        start 1.0: n2 100
        start 1.1: n2 100
        result 1.0: exited(0), outputs "a=1\\n", log 0
        result 1.1: exited(0), outputs "a=1\\n", log 0
        """)
  }

  @Test func `of two copies of a job the newest start counts`() throws {
    try run.write(
      """
      echo ran >>ran
      echo "$SLURM_RESTART_COUNT"
      if [ "$SLURM_RESTART_COUNT" = 0 ]; then
        touch began
        while [ ! -e go ]; do sleep 0.01; done
      fi
      echo "a=$SLURM_RESTART_COUNT" >>"$OPRUN_OUTPUT"
      """)
    let old = try run.start(restart: 0)
    #expect(run.awaits("began"))
    #expect(try run.start(restart: 1).wait() == 0)
    run.touch("go")
    #expect(old.wait() == 0)
    #expect(run.work("ran") == "ran\nran\n")
    #expect(run.log() == "1\n")
    #expect(
      try run.story == """
        claim 1: 100
        start 1.0: n2 100
        start 1.1: n2 100
        result 1.1: exited(0), outputs "a=1\\n", log 2
        """)
    #expect(
      run.said()
        == "oprun: task 1 has been started again: the result of start 0 does not count\n")
    #expect(run.leftovers == ["s.1.log"])
  }

  @Test func `a signal from outside ends the command and is no result`() throws {
    let limits = {
      var limits = TaskLimits(); limits.stop.grace = second / 5; return limits
    }()
    try run.write(
      "trap '' TERM; setsid sh -c 'echo $$ >hidden; exec sleep 86400' & touch began; wait",
      limits: limits)
    let job = try run.start()
    #expect(run.awaits("began") && run.awaits("hidden"))
    kill(job.processID, SIGTERM)
    #expect(job.wait() == 143)
    #expect(run.said() == "oprun: task 1 was ended from outside by SIGTERM: it has no result\n")
    #expect(isGone("hidden"))
    #expect(
      try run.story == """
        claim 1: 100
        start 1.0: n2 100
        stop 1.0
        """)
    #expect(run.leftovers == [])
  }

  @Test func `a command that dies of a signal before oprun is told has no result`() throws {
    try run.write("echo $$ >leader; exec sleep 86400")
    let job = try run.start()
    #expect(run.awaits("leader") && eventuallyNumber("leader") > 0)
    // So it hears of both at the same time.
    kill(job.processID, SIGSTOP)
    kill(eventuallyNumber("leader"), SIGTERM)
    kill(job.processID, SIGTERM)
    kill(job.processID, SIGCONT)
    #expect(job.wait() == 143)
    #expect(
      try run.story == """
        claim 1: 100
        start 1.0: n2 100
        stop 1.0
        """)
  }

  @Test func `nothing is left when oprun is killed, and there is no result`() throws {
    try run.write("setsid sh -c 'echo $$ >hidden; exec sleep 86400' & echo $$ >leader; wait")
    let job = try run.start()
    #expect(run.awaits("leader") && run.awaits("hidden"))
    kill(job.processID, SIGKILL)
    #expect(job.wait() == 137)
    #expect(isGone("hidden") && isGone("leader"))
    #expect(
      try run.story == """
        claim 1: 100
        start 1.0: n2 100
        """)
    // Slurm starts the job again.
    try run.write("echo again")
    #expect(try run.start(restart: 1).wait() == 0)
    #expect(run.log() == "again\n")
  }

  @Test func `the time limit and the stop sequence are kept`() throws {
    // The command must listen before its time is over, and answer before it is killed: where the machine
    // is too slow for that, it gets more.
    for time in [second / 5, second, 5 * second, 30 * second, 180 * second] {
      let run = try NodeRun()
      var limits = TaskLimits(time: time)
      limits.stop.signal = SIGINT
      limits.stop.grace = time
      try run.write("trap 'echo asked' INT; while :; do sleep 0.02 || :; done", limits: limits)
      let status = try run.start().wait()
      guard run.log() == "asked\n" else { continue }
      #expect(status == 137)
      #expect(
        try run.story == """
          claim 1: 100
          start 1.0: n2 100
          result 1.0: signalled(9), timed out, log 6
          """)
      return
    }
    Issue.record("it is not asked to end")
  }

  @Test func `what a command leaves behind is ended and told`() throws {
    try run.write(
      """
      setsid sh -c 'echo $$ >hidden; exec sleep 86400' &
      until grep -qxs sleep "/proc/$(cat hidden 2>/dev/null)/comm"; do sleep 0.01; done
      """)
    #expect(try run.start().wait() == 0)
    #expect(isGone("hidden"))
    #expect(
      try run.story == """
        claim 1: 100
        start 1.0: n2 100
        result 1.0: exited(0), log 0, kill sleep
        """)
  }

  @Test func `secrets are masked in the log, and leave no file`() throws {
    try run.write(
      "echo \"it is hunter22\"; echo x=hunter22 >>\"$OPRUN_OUTPUT\"; exit 3", secrets: ["hunter22"])
    #expect(try run.start().wait() == 3)
    #expect(run.log() == "it is ***\n")
    #expect(run.leftovers == ["s.1.log"])
    try run.write(
      "echo x=hunter22 >>\"$OPRUN_OUTPUT\"", number: 2, secrets: ["hunter22"])
    try run.write("echo other=1 >>\"$OPRUN_OUTPUT\"; touch made; sleep 86400", number: 3)
    let other = try run.start("3", job: 103)
    #expect(run.awaits("made"))
    #expect(try run.start("2", job: 102).wait() == 0)
    let result = try run.files.result(of: TaskStart(task: 2, restart: 0))
    #expect(result?.outputs == Array("x=hunter22\n".utf8))
    // What another task has written is not its own.
    #expect(run.leftovers.filter { !$0.hasPrefix(".") } == ["s.1.log"])
    let outputs = "\(run.files.path)/outputs"
    #expect(try FileManager.default.contentsOfDirectory(atPath: outputs) == ["3.0"])
    kill(other.processID, SIGTERM)
    #expect(other.wait() == 143)
  }

  @Test func `other signals are passed on to the command`() throws {
    // The whole group gets the signal. A shell reports that a child has died of it, if it collects the child
    // before its own trap runs: the child ignores it, and no other one makes the file.
    try run.write(
      "trap '' USR1; sleep 86400 & trap 'echo warned; exit 0' USR1; : >began; wait")
    let job = try run.start()
    #expect(run.awaits("began"))
    kill(job.processID, SIGUSR1)
    #expect(job.wait() == 0)
    #expect(run.log() == "warned\n")
  }

  @Test func `outputs that cannot be used fail the command`() throws {
    try run.write("ln -s /etc/passwd \"$OPRUN_OUTPUT\"")
    #expect(try run.start().wait() == 1)
    #expect(
      try run.story == """
        claim 1: 100
        start 1.0: n2 100
        result 1.0: outputsRefused("OPRUN_OUTPUT is a link, wanted a regular file"), log 0
        """)
  }

  @Test func `a number of an array is added to the base`() throws {
    try run.write("echo ran", number: 17)
    let job = try run.start(
      "--array 10", variables: ["SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_JOB_ID": "90"])
    #expect(job.wait() == 0)
    #expect(try run.files.claim(of: 17) == "90_7")
    #expect(run.log(17) == "ran\n")
  }

  @Test func `a step of a job has a claim of its own, and the script of a job has that of the job`()
    throws
  {
    try run.write("true", number: 1)
    try run.write("true", number: 2)
    #expect(try run.start("1", variables: ["SLURM_STEP_ID": "3"]).wait() == 0)
    #expect(try run.start("2", variables: ["SLURM_STEP_ID": "4294967291"]).wait() == 0)
    #expect(try run.files.claim(of: 1) == "100.3")
    #expect(try run.files.claim(of: 2) == "100")
  }

  @Test func `a job does not carry the mark of the run that submitted it`() throws {
    try run.write("ulimit -S -m")
    let mark = (UInt64(1) << 62 + 5) / 1024
    let job = try run.start(prefix: "ulimit -S -m \(mark); exec")
    #expect(job.wait() == 0)
    let own = UInt64(run.log().dropLast()) ?? 0
    #expect(own != mark && own > 0, "\(run.log())")
  }

  // MARK: Processes

  private func eventuallyNumber(_ name: String) -> Int32 {
    let end = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < end {
      if let number = Int32(run.work(name).dropLast()) { return number }
      usleep(3000)
    }
    return -1
  }

  /// Whether the process whose number is in the file is gone, or goes.
  private func isGone(_ name: String) -> Bool {
    let process = eventuallyNumber(name)
    guard process > 0 else { return false }
    let end = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < end {
      if ProcessStatus(of: process)?.isZombie != false { return true }
      usleep(3000)
    }
    kill(process, SIGKILL)
    return false
  }
}
