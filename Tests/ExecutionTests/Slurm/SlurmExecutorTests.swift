// Tests the loop with Slurm as its executor, in virtual time: answers are late or lost, jobs are lost, nodes
// fail, the controller is away.

import Plans
import RunFiles
import Running
import Scheduling
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `A run whose steps are jobs` {
  @Test func `goes along a diamond`() throws {
    let run = try SlurmRun(
      """
      steps:
        - {id: a, run: "0@1"}
        - {id: b, depends_on: [a], run: "wait@9 0@2"}
        - {id: c, depends_on: [a], run: "0@4"}
        - {id: d, depends_on: [b, c], run: "3@1"}
        - {id: e, depends_on: [a], run: "0@1", executor: local}
      """)
    #expect(
      run.timeline()
        == "0:+a 2:-a=0 2:a=succeeded 2:+e 2:+b 2:+c 3:-e=0 3:e=succeeded 7:-c=0 7:c=succeeded "
        + "14:-b=0 14:b=succeeded 14:+d 17:-d=3 17:d=failed 17:end=1")
    #expect(
      run.slurm.calls == [
        "0:sbatch", "2:sbatch 0-1", "7:squeue", "12:squeue", "14:sbatch",
      ])
  }

  @Test(arguments: [
    ("lost; 9@9", "\(away) 0:!Slurm answers again 2:-a=0 2:a=succeeded 2:end=0"),
    ("dropped; 0@2", "\(away) 0:!Slurm answers again 9:-a=0 9:a=succeeded 9:end=0"),
    ("hang; 9@9", "2:-a=0 2:a=succeeded 2:end=0"),
    ("forgotten; 0@2", "9:-a=0 9:a=succeeded 9:end=0"),
    ("refused", "0:-a=refused 0:a=failed 0:end=1"),
    ("odd", "10:-a=refused 10:a=failed 10:end=1"),
    ("odd; 0@2", "9:-a=0 9:a=succeeded 9:end=0"),
    ("purged@2", "4:-a=0 4:a=succeeded 4:end=0"),
    ("silent@2", "65:-a=lost 65:a=failed 65:end=1"),
    ("silentfailure@2", "10:-a=lost 10:a=failed 10:end=1"),
    ("CANCELLED@3", "7:-a=lost 7:a=failed 7:end=1"),
    ("TIMEOUT@3", "7:-a=lost! 7:a=timedOut 7:end=1"),
    ("OUT_OF_MEMORY@3", "7:-a=lost 7:a=failed 7:end=1"),
    ("NODE_FAIL@3; 0@1", "7:!'a' is submitted again: node n1 failed 9:-a=0 9:a=succeeded 9:end=0"),
    (
      "NODE_FAIL@3",
      "7:!'a' is submitted again: node n1 failed 17:!'a' is submitted again: node n1 failed "
        + "27:!'a' is submitted again: node n1 failed 37:-a=lost 37:a=failed 37:end=1"
    ),
    (
      "BOOT_FAIL@0; 0@1",
      "7:!'a' is submitted again: job 101 could not be started 9:-a=0 9:a=succeeded 9:end=0"
    ),
    (
      "PREEMPTED@3; 0@1",
      "7:!'a' is submitted again: job 101 was preempted 9:-a=0 9:a=succeeded 9:end=0"
    ),
  ])
  func `a job that does not just end`(script: String, timeline: String) throws {
    let run = try SlurmRun("steps: [{id: a, run: '\(script)'}]")
    #expect(run.timeline() == "0:+a " + timeline)
  }

  @Test func `the queue is not left alone for long because a busy machine lists it slowly`() throws
  {
    let run = try SlurmRun("steps: [{id: a, run: 'NODE_FAIL@8; 0@1'}]", slurm: "{poll: 1s}")
    run.slurm.lookDelay = 100_000_000
    #expect(
      run.timeline()
        == "0:+a 11:!'a' is submitted again: node n1 failed 13:-a=0 13:a=succeeded 13:end=0")
    #expect(
      run.slurm.calls == [
        "0:sbatch", "1:squeue", "3:squeue", "5:squeue", "7:squeue", "9:squeue", "11:squeue",
        "11:sbatch", "13:squeue",
      ])
  }

  @Test func `a long queue is looked at less often once nothing moves in it`() throws {
    let run = try SlurmRun("steps: [{id: a, run: 'NODE_FAIL@40; 0@1'}]", slurm: "{poll: 1s}")
    run.slurm.lookCost = 50_000_000
    #expect(
      run.timeline()
        == "0:+a 53:!'a' is submitted again: node n1 failed 55:-a=0 55:a=succeeded 55:end=0")
    #expect(
      run.slurm.calls == [
        "0:sbatch", "1:squeue", "6:squeue", "21:squeue", "36:squeue", "51:squeue", "53:sbatch",
      ])
  }

  @Test(arguments: [
    ("[{id: a, run: '0@1'}, {id: b, run: 'silent,broken@1; 0@1', depends_on: [a]}]", "102"),
    (
      "[{id: a, run: '0@1'}, {id: b, run: 'silent,broken@1; 0@1', matrix: {n: [1, 2]}, depends_on: [a]}]",
      "102_1"
    ),
  ])
  func `what a job printed instead of a result is reported`(steps: String, job: String) throws {
    let timeline = try SlurmRun("steps: \(steps)", slurm: "{submit_rate: 1000/s, file_wait: 1s}")
      .timeline()
    let words = "sh: 2: exec: oprun:\\t\\u{1b}not found"
    #expect(timeline.contains("job \(job) ended without a result: \(words)"))
    #expect(!timeline.contains("older line") && timeline.hasSuffix("end=0"))
  }

  @Test func `a step that must not run twice fails with its node`() throws {
    let run = try SlurmRun(
      "steps: [{id: a, run: 'NODE_FAIL@3; 0@1', slurm: {on_node_failure: fail}}]")
    #expect(run.timeline() == "0:+a 7:-a=lost 7:a=failed 7:end=1")
  }

  @Test func `a reason that does not go away is told once`() throws {
    let run = try SlurmRun("steps: [{id: a, run: stuck}]", signals: [(40, 15)])
    #expect(
      run.timeline()
        == "0:+a 5:!'a' waits in Slurm for a reason that does not go away by itself: PartitionTimeLimit "
        + "(job 101) 40:stopping 40:-a=sig15 40:a=cancelled 40:end=143")
  }

  @Test func `of the jobs of an array it is told together`() throws {
    let run = try SlurmRun(
      "steps: [{id: a, run: 'stuck #${{ matrix.n }}', matrix: {n: [1, 2, 3]}}]", signals: [(40, 15)]
    )
    #expect(
      run.timeline().contains(
        "5:!'a[n=1]' and 2 others wait in Slurm for a reason that does not go away by itself: "
          + "PartitionTimeLimit (job 101_0) 40:"))
  }

  @Test(arguments: ["", "502 Bad Gateway\n", "7|N/A|PENDING|None||x|y\n"])
  func `what is no listing says nothing about jobs`(text: String) throws {
    let run = try SlurmRun("steps: [{id: a, run: 'wait@500 0@5'}]")
    run.slurm.rubbish = text
    #expect(
      run.timeline()
        == "0:+a 5:!Slurm does not answer (squeue printed something other than the queue): jobs continue, "
        + "and the run waits 506:-a=0 506:a=succeeded 506:end=0")
    #expect(run.slurm.calls.filter { $0.contains("sbatch") } == ["0:sbatch"])
  }

  @Test func `a job that comes to light when it was given up does nothing`() throws {
    let run = try SlurmRun(
      """
      steps:
        - {id: a, run: forgotten, slurm: {infrastructure_retries: 0}}
        - {id: b, run: "0@50"}
      """, signals: [(8, 1)])
    #expect(run.timeline().contains("5:-a=lost 5:a=failed"))
    let files = try NodeFiles.open(in: run.folder.directory.path)
    #expect(try files.claim(1, for: "101") == NodeFiles.nobody)
  }

  @Test func `a controller that is away fails nothing, and is told once`() throws {
    let run = try SlurmRun(
      """
      steps:
        - {id: a, run: "0@20"}
        - {id: b, depends_on: [a], run: "0@3"}
      """, outages: [3..<60])
    #expect(
      run.timeline()
        == "0:+a 14:!Slurm does not answer (Unable to contact slurm controller (connect failure)): jobs "
        + "continue, and the run waits 22:-a=0 22:a=succeeded 22:+b 68:!Slurm answers again 72:-b=0 "
        + "72:b=succeeded 72:end=0")
    #expect(
      run.slurm.calls == [
        "0:sbatch", "5:squeue", "14:squeue", "22:sbatch", "23:squeue", "32:squeue", "41:squeue",
        "50:squeue", "59:squeue", "68:squeue", "68:sbatch",
      ])
  }

  @Test func `no more jobs than allowed are queued, and not faster than allowed`() throws {
    let run = try SlurmRun(
      """
      queues: {all: {max_parallel: 10}}
      steps: [{id: a, run: "0@5", queue: all, matrix: {n: [1, 2, 3, 4]}}]
      """, slurm: "{max_queued: 2, submit_rate: 30/m}")
    _ = run.timeline()
    #expect(
      run.slurm.calls.filter { $0.contains("sbatch") } == ["0:sbatch 0-1", "7:sbatch 0-1"])
  }

  @Test func `a signal cancels all jobs with one call, and hooks run`() throws {
    let run = try SlurmRun(
      """
      steps:
        - {id: a, run: "0@50", on_cancel: "0@1"}
        - {id: b, run: "wait@90 0@5"}
      """, signals: [(8, 15)])
    #expect(
      run.timeline()
        == "0:+a 0:+b 8:stopping 8:-a=sig15 8:+a.onCancel.1 8:-b=sig15 8:b=cancelled "
        + "9:-a.onCancel.1=0 9:a=cancelled 9:end=143")
    #expect(run.slurm.calls == ["0:sbatch 0-1", "5:squeue", "8:scancel 101_[0-1]"])
  }

  @Test func `a step with a time limit is limited by its job, not by the queue`() throws {
    let run = try SlurmRun("steps: [{id: a, run: 'wait@500 0@5', timeout: 1m}]")
    #expect(run.timeline() == "0:+a 505:-a=0 505:a=succeeded 505:end=0")
  }

  @Test func `a job that Slurm puts back into its queue is started at once`() throws {
    let run = try SlurmRun("steps: [{id: a, run: 'requeued@3 0@9'}]")
    #expect(run.timeline() == "0:+a 14:-a=0 14:a=succeeded 14:end=0")
    #expect(
      run.slurm.calls == [
        "0:sbatch", "5:squeue", "5:scontrol update JobId=101 StartTime=now", "10:squeue",
      ])
  }

  @Test func `a job that is put back is started at once, even before Slurm says why it waits`()
    throws
  {
    let run = try SlurmRun("steps: [{id: a, run: 'requeued,unexplained@7 0@9'}]")
    #expect(run.timeline() == "0:+a 19:-a=0 19:a=succeeded 19:end=0")
    #expect(
      run.slurm.calls == [
        "0:sbatch", "5:squeue", "10:squeue", "10:scontrol update JobId=101 StartTime=now",
        "15:squeue",
      ])
  }

  @Test func `a job that was started again is not taken for stopped before it is`() throws {
    let run = try SlurmRun("steps: [{id: a, run: 'requeued@3 0@90'}]", signals: [(20, 15)])
    run.slurm.stopDelay = 4
    #expect(run.timeline() == "0:+a 20:stopping 24:-a=sig15 24:a=cancelled 24:end=143")
  }

  @Test func `a job that is put back after its end is cancelled`() throws {
    let run = try SlurmRun("steps: [{id: a, run: held@2}, {id: b, run: 0@9}]")
    #expect(run.timeline() == "0:+a 0:+b 4:-a=0 4:a=succeeded 10:-b=0 10:b=succeeded 10:end=0")
    #expect(run.slurm.calls == ["0:sbatch 0-1", "5:squeue", "5:scancel 101_0", "10:squeue"])
  }

  @Test func `a run in which time stands still does not hang the tests`() throws {
    let run = try SlurmRun("steps: [{id: a, run: '0@5'}]")
    run.slurm.isIdle = true
    #expect(
      run.timeline() == "0:+a 1000:stopping 2000:-a=0 2000:a=cancelled 2000:end=130 STUCK")
  }

  @Test func `who logs out leaves the jobs, and another run takes them over`() throws {
    let file = """
      steps:
        - {id: a, run: "0@50"}
        - {id: b, run: "wait@90 0@5"}
        - {id: c, run: "0@2"}
      """
    let first = try SlurmRun(file, signals: [(8, 1)])
    #expect(
      first.timeline()
        == "0:+a 0:+b 0:+c 4:-c=0 4:c=succeeded 8:!2 jobs continue in Slurm: 'oprun resume' "
        + "waits for the results 8:stopping 8:a=cancelled 8:b=cancelled 8:end=129")
    let second = try SlurmRun(file, id: "r2", after: first)
    #expect(
      second.timeline()
        == "0:+a 0:+b 0:+c 3:-c=0 3:c=succeeded 52:-a=0 52:a=succeeded 97:-b=0 97:b=succeeded "
        + "97:end=0")
    #expect(
      second.slurm.calls.filter { !$0.hasSuffix("squeue") } == ["0:sbatch 0-2", "0:sbatch"])
  }

  @Test func `what a run takes over is not lost if that ends before its step begins`() throws {
    let file = """
      steps:
        - {id: a, run: "0@50", depends_on: [b]}
        - {id: b, run: "0@1"}
      """
    let first = try SlurmRun(file, signals: [(8, 1)])
    _ = first.timeline()
    let second = try SlurmRun(file, id: "r2", signals: [(1, 1)], after: first)
    _ = second.timeline()
    let third = try SlurmRun(file, id: "r3", after: second)
    #expect(
      third.timeline()
        == "0:+b 2:-b=0 2:b=succeeded 2:+a 54:-a=0 54:a=succeeded 54:end=0")
    #expect(
      third.slurm.calls.filter { !$0.hasSuffix("squeue") } == ["0:sbatch", "2:sbatch", "0:sbatch"])
  }
}

private let away =
  "0:!Slurm does not answer (Batch job submission failed: Zero Bytes were transmitted or received): "
  + "jobs continue, and the run waits"
