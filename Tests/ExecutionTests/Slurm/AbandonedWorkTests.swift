// What a dead run has left in Slurm is ended: commands answer what a test says, and the clock is virtual.

import Glibc
import Plans
import RunFiles
import Running
import Scheduling
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `What a dead run has left in Slurm` {
  private let folder = TemporaryRun()
  private var run: EarlierJobs { EarlierJobs(runID: "r1", folder: folder.directory.path) }
  private var mark: JobMark {
    get throws { try NodeFiles.open(in: folder.directory.path).mark(of: "r1") }
  }

  /// Answers commands; steps end so many seconds after they were asked to.
  private final class Cluster {
    var calls: [String] = []
    var now = 0
    var steps: [String: String] = [:]
    var jobs: [String: String] = [:]
    var delay = 1
    var outage = 0..<0
    var refusal: String?
    var endsWhenKilled = true
    var looks = 0
    private var ending: [String: Int] = [:]

    func call(_ words: [String], _ limit: Int) -> SlurmAnswer {
      if let refusal { return SlurmAnswer(exitStatus: nil, refusal: refusal) }
      if outage.contains(now / 1000) {
        now += 9000
        return SlurmAnswer(
          exitStatus: 1, errors: "slurm_load_jobs error: Unable to contact slurm controller\n")
      }
      for (id, end) in ending where end <= now {
        steps[id] = nil
        jobs[id] = nil
      }
      if words[0] == "squeue" {
        looks += 1
        if words.contains("--steps") {
          let lines = steps.sorted { $0.key < $1.key }.map { "\($0.key)|\($0.value)\n" }
          return SlurmAnswer(exitStatus: 0, output: lines.joined())
        }
        let lines = jobs.sorted { $0.key < $1.key }.map {
          "\($0.key)|N/A|RUNNING|None|n1|\($0.value)|\n"
        }
        return SlurmAnswer(
          exitStatus: 0, output: "JOB|TASK|STATE|REASON|NODES|NAME|C\n" + lines.joined())
      }
      calls.append("\(now / 1000):" + words.joined(separator: " "))
      let isKill = endsWhenKilled && words.contains { $0.hasPrefix("--signal=KILL") }
      for id in words where steps[id] != nil || jobs[id] != nil {
        ending[id] = isKill ? now + 1000 : min(ending[id] ?? .max, now + delay * 1000)
      }
      return SlurmAnswer(exitStatus: 0)
    }
  }

  private func work(_ cluster: Cluster, _ kind: AbandonedWork.Kind = .steps) throws
    -> AbandonedWork?
  {
    let clock = AbandonedWork.Clock(now: { cluster.now }, sleep: { cluster.now += $0 })
    return try AbandonedWork(of: OpenWork(of: run), kind, clock: clock, call: cluster.call)
  }

  private func writeTask(_ number: Int, grace: Nanoseconds = 5_000_000_000) throws {
    let key = CommandKey(operation: OperationID(0), role: .attempt(1))
    let command = Command(
      key, .words(["x"]), in: CommandEnvironment([]), settings: StepSettings(),
      files: (log: "s.log", outputs: "s.outputs"))
    var limits = TaskLimits()
    limits.stop.grace = grace
    let file = TaskFile(
      command: command, workspace: "/work", runID: "r1", limits: limits, secrets: [])
    try NodeFiles.make(in: folder.directory.path).write(file, number: number)
  }

  private func claim(of task: Int) throws -> String? {
    try NodeFiles.open(in: folder.directory.path).claim(of: task)
  }

  @Test func `is nothing if there are no files for nodes`() throws {
    #expect(try work(Cluster()) == nil)
  }

  @Test func `is ended step by step, and what has not begun never will`() throws {
    try writeTask(1)
    try writeTask(2)
    let files = try NodeFiles.open(in: folder.directory.path)
    let journal = try SlurmJournal(in: files.path)
    try journal.add(
      JournalEntry(step: "a", digest: "d", logName: "l", outputsName: "o"), number: 3)
    _ = try NodeFiles.open(in: folder.directory.path).claim(1, for: "12.3")
    let cluster = Cluster()
    cluster.steps = [
      "12.3": "a.\(try mark.text(of: 1))", "12.4": "a.oprun:r1-0000000000000000:1", "12.5": "plain",
    ]
    #expect(try work(cluster)?.end() == .ended(1))
    #expect(cluster.calls == ["0:scancel --quiet --signal=TERM 12.3"])
    #expect(try claim(of: 1) == "12.3")
    #expect(try claim(of: 2) == NodeFiles.nobody)
    #expect(cluster.steps.count == 2)
  }

  @Test func `is killed after the time that the step may take`() throws {
    try writeTask(1, grace: 8_000_000_000)
    let cluster = Cluster()
    cluster.steps = ["12.3": "a.\(try mark.text(of: 1))"]
    cluster.delay = 100
    #expect(try work(cluster)?.end() == .ended(1))
    #expect(
      cluster.calls == [
        "0:scancel --quiet --signal=TERM 12.3", "10:scancel --quiet --signal=KILL 12.3",
      ])
  }

  @Test func `is waited for while Slurm does not answer, but not for ever`() throws {
    try writeTask(1)
    let cluster = Cluster()
    cluster.steps = ["12.3": "a.\(try mark.text(of: 1))"]
    cluster.outage = 0..<15
    #expect(try work(cluster)?.end() == .ended(1))
    #expect(access("\(folder.directory.path)/@node", F_OK) != 0)
    try writeTask(1)
    cluster.outage = 0..<1000
    #expect(try work(cluster)?.end() == .goesOn("squeue: Unable to contact slurm controller"))
    cluster.refusal = "'squeue' is not installed on this machine"
    #expect(try work(cluster)?.end() == .unknown("'squeue' is not installed on this machine"))
  }

  @Test func `goes on if it has begun and Slurm cannot be asked`() throws {
    try writeTask(1)
    try writeTask(2)
    let files = try NodeFiles.open(in: folder.directory.path)
    _ = try files.claim(1, for: "12.3")
    let cluster = Cluster()
    cluster.refusal = "'squeue' is not installed on this machine"
    #expect(try work(cluster)?.end() == .goesOn("'squeue' is not installed on this machine"))
    #expect(try claim(of: 2) == NodeFiles.nobody)
  }

  @Test func `goes on if its tasks cannot be taken away`() throws {
    try writeTask(1)
    let files = try NodeFiles.open(in: folder.directory.path)
    try files.write([], to: .claims, "1")
    let cluster = Cluster()
    #expect(try work(cluster)?.end() == .goesOn("its claim is not seen here yet"))
    #expect(access("\(folder.directory.path)/@node/tasks/1", F_OK) == 0)
  }

  @Test func `is looked for less and less often`() throws {
    try writeTask(1)
    let cluster = Cluster()
    cluster.steps = ["12.3": "a.\(try mark.text(of: 1))"]
    cluster.delay = 1000
    cluster.endsWhenKilled = false
    #expect(try work(cluster)?.end() == .goesOn("12.3 has not ended"))
    #expect(cluster.looks < 15)
  }

  @Test func `includes jobs only if nobody takes them over`() throws {
    try writeTask(1)
    let journal = try SlurmJournal(in: "\(folder.directory.path)/@node")
    try journal.add(
      JournalEntry(step: "a", digest: "d", logName: "l", outputsName: "o"), number: 1)
    let cluster = Cluster()
    cluster.jobs = ["12": "a.\(try mark.text(of: 1))", "13": "other"]
    #expect(try work(cluster) == nil)
    #expect(try work(cluster, .stepsAndJobs)?.end() == .ended(1))
    #expect(cluster.calls == ["0:scancel --quiet 12"])
    #expect(try !run.isOpen())
    #expect(access("\(folder.directory.path)/@node", F_OK) != 0)
  }

  @Test func `can be that of some steps alone`() throws {
    try writeTask(1)
    try writeTask(2)
    let journal = try SlurmJournal(in: "\(folder.directory.path)/@node")
    for (number, step) in [(1, "a"), (2, "b")] {
      try journal.add(
        JournalEntry(step: step, digest: "d", logName: "l", outputsName: "o"), number: number)
    }
    #expect(try run.openSteps() == ["a": ["r1"], "b": ["r1"]])
    let cluster = Cluster()
    cluster.jobs = try ["12": "a.\(mark.text(of: 1))", "13": "b.\(mark.text(of: 2))"]
    #expect(try work(cluster, .jobs(of: ["c"])) == nil)
    #expect(try work(cluster, .jobs(of: ["b"]))?.end() == .ended(1))
    #expect(cluster.calls == ["0:scancel --quiet 13"])
    #expect(try claim(of: 1) == nil)
    #expect(try run.openSteps() == ["a": ["r1"]])
  }
}
