// Tests which jobs of an earlier run go on, and what becomes of the others, in virtual time.

import Plans
import RunFiles
import Running
import Scheduling
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `Jobs that an earlier run has left` {
  private let file = "steps: [{id: a, run: '0@50'}]"

  /// A run that was left after 8 s.
  private func left(_ file: String) throws -> SlurmRun {
    let run = try SlurmRun(file, signals: [(8, 1)])
    _ = run.timeline()
    return run
  }

  private func submissions(_ run: SlurmRun) -> [String] {
    run.slurm.calls.filter { $0.contains("sbatch") }
  }

  @Test func `end before an edited step runs again`() throws {
    let next = try SlurmRun("steps: [{id: a, run: '0@3'}]", id: "r2", after: try left(file))
    next.slurm.stopDelay = 7
    #expect(
      next.timeline()
        == "0:+a 0:!'a' waits for the end of job 101, which an earlier run has started with what has "
        + "changed since 15:-a=0 15:a=succeeded 15:end=0")
    #expect(next.slurm.jobs.map(\.state) == ["CANCELLED", "COMPLETED"])
    #expect(next.slurm.calls.contains("0:scancel 101"))
    #expect(submissions(next) == ["0:sbatch", "10:sbatch"])
  }

  @Test(arguments: [0, 1] as [Nanoseconds])
  func `are asked to end as often as it takes`(outage: Nanoseconds) throws {
    let next = try SlurmRun(
      "steps: [{id: a, run: '0@3'}]", id: "r2", outages: [outage..<200],
      after: try left("steps: [{id: a, run: '0@900'}]"))
    next.slurm.lookDelay = second
    #expect(next.timeline().hasSuffix("end=0"))
    #expect(next.slurm.jobs.map(\.state) == ["CANCELLED", "COMPLETED"])
  }

  @Test(arguments: ["mutex: m", "resources: {r: 1}"])
  func `keep what their steps claim`(claim: String) throws {
    let file =
      "steps: [{id: a, run: '0@50', \(claim)}, {id: z, run: '0@1', executor: local, \(claim), priority: high}]\n"
      + "resources: {r: 1}"
    let next = try SlurmRun(file, id: "r2", after: try left(file))
    let words = next.timeline().split(separator: " ")
    let ended = words.firstIndex { $0.hasSuffix(":-a=0") }
    let started = words.firstIndex { $0.hasSuffix(":+z") }
    #expect(ended != nil && started != nil && ended ?? 0 < started ?? 0, "\(words)")
    #expect(submissions(next).count == 1)
  }

  @Test func `end if their steps do not run, before others get what these claim`() throws {
    let first = "steps: [{id: a, run: '0@50', mutex: m}]"
    let file =
      "steps: [{id: a, run: '0@50', mutex: m, if: 'false'}, {id: z, run: '0@1', executor: local, mutex: m}]"
    let next = try SlurmRun(file, id: "r2", after: try left(first))
    next.slurm.stopDelay = 7
    let words = next.timeline()
    let started = try #require(
      words.split(separator: " ").first { $0.hasSuffix(":+z") }.flatMap {
        Int($0.prefix { $0 != ":" })
      })
    #expect(started >= 7, "\(words)")
    #expect(words.hasSuffix("end=0"))
    #expect(submissions(next).count == 1)
    #expect(try !next.jobs.isOpen())
  }

  @Test func `are not waited for a second time if their steps do not run`() throws {
    let file = "steps: [{id: a, run: '0@50', if: 'false'}]"
    let next = try SlurmRun(
      file, id: "r2", signals: [(3, 15), (4, 15)], outages: [0..<200], after: try left(self.file))
    #expect(next.timeline().hasSuffix("4:end=143"))
    #expect(try next.jobs.isOpen())
  }

  @Test func `are waited for only for a while if they are to end and the time of the run is over`()
    throws
  {
    let next = try SlurmRun(
      "timeout: 3s\nsteps: [{id: a, run: '0@900', if: 'false'}]", id: "r2", outages: [0..<600],
      after: try left("steps: [{id: a, run: '0@900'}]"))
    let words = next.timeline()
    #expect(
      words.contains("63:!1 job is to end, and is not waited for: 'oprun resume' does that"),
      "\(words)")
    #expect(words.hasSuffix("63:end=124"), "\(words)")
    #expect(try next.jobs.isOpen())
    #expect(try OpenWork(of: next.jobs).tasks.values.allSatisfy(\.entry.wasStopped))
  }

  @Test func `are not taken over if what they ran on has run since`() throws {
    let next = try SlurmRun(file, id: "r2", after: try left(file), memory: ChangedUpstream())
    #expect(next.timeline().hasSuffix("end=0"))
    #expect(next.slurm.jobs.map(\.state) == ["CANCELLED", "COMPLETED"])
  }

  @Test func `are not taken over if they were to end`() throws {
    let first = try SlurmRun(file, signals: [(8, 15), (9, 15), (10, 15)])
    first.slurm.stopDelay = 20
    first.slurm.ignoresKill = true
    #expect(first.timeline().hasSuffix("end=143"))
    #expect(try first.jobs.isOpen())
    let next = try SlurmRun(file, id: "r2", after: first)
    #expect(next.timeline().hasSuffix("-a=0 82:a=succeeded 82:end=0"))
    #expect(next.slurm.jobs.map(\.state) == ["CANCELLED", "COMPLETED"])
  }

  @Test func `end if their step is blocked, and the run after it submits the step again`() throws {
    let file = """
      steps:
        - {id: a, run: "0@50", depends_on: [b]}
        - {id: b, run: "0@1; 3@1; 0@1"}
      """
    let first = try SlurmRun(file, signals: [(8, 1)])
    _ = first.timeline()
    let second = try SlurmRun(file, id: "r2", after: first)
    #expect(second.timeline().contains("a=blocked"))
    let third = try SlurmRun(file, id: "r3", after: second)
    #expect(third.timeline().hasSuffix("a=succeeded 54:end=0"))
    #expect(submissions(third) == ["0:sbatch", "2:sbatch", "0:sbatch", "0:sbatch", "2:sbatch"])
  }

  @Test func `are cancelled when a look has shown them, and not by their number alone`() throws {
    let next = try SlurmRun(file, id: "r2", signals: [(1, 15)], after: try left(file))
    next.slurm.lookDelay = 3 * second
    #expect(next.timeline().hasSuffix("3:-a=sig15 3:a=cancelled 3:end=143"))
    #expect(next.slurm.calls.suffix(2) == ["0:squeue", "3:scancel 101"])
  }

  @Test func `depend on parameters, and not on the name of the run`() {
    func digest(_ name: String, _ value: String, basis: String? = nil) -> String {
      var command = Command(
        CommandKey(operation: OperationID(0), role: .attempt(1)), .words(["x"]),
        in: CommandEnvironment([EnvironmentVariable(name: name, value: value)]),
        settings: StepSettings(), files: (log: "s.log", outputs: "s.outputs"))
      command.slurm = SlurmOrder(SlurmRequest(), StepSettings(), priority: 0)
      command.slurm?.basis = basis
      return command.taskDigest
    }
    #expect(digest("OPRUN_PARAM_P", "one") != digest("OPRUN_PARAM_P", "two"))
    #expect(digest("OPRUN_RUN_ID", "r1") == digest("OPRUN_RUN_ID", "r2"))
    #expect(digest("A", "1", basis: "old") != digest("A", "1", basis: "new"))
  }
}

@Suite(.blocking) struct `A run that ends before its jobs` {
  @Test func `has noted which ones it cancels at the last moment`() throws {
    let numbers = (1...600).map(String.init).joined(separator: ", ")
    let run = try SlurmRun(
      "steps: [{id: a, run: '0@50', matrix: {n: [\(numbers)]}}]",
      signals: [(8, 15), (9, 15), (10, 15)], slurm: "{submit_rate: 1000/s, max_queued: 1000}",
      outages: [8..<20])
    #expect(run.timeline().hasSuffix("end=143"))
    #expect(run.slurm.calls.last?.hasPrefix("end:scancel ") == true)
    let entries = try SlurmJournal.entries(in: run.folder.path(of: "@node"))
    #expect(entries.count == 600)
    #expect(entries.values.allSatisfy { $0.wasStopped || $0.hasEnded })
  }

  @Test func `cancels them although a look takes long`() throws {
    let run = try SlurmRun("steps: [{id: a, run: '0@50'}]", signals: [(6, 15)])
    run.slurm.lookDelay = 24 * second
    #expect(run.timeline() == "0:+a 6:stopping 6:-a=sig15 6:a=cancelled 6:end=143")
  }

  @Test func `leaves to the next run what goes on`() throws {
    let run = try SlurmRun(
      "steps: [{id: a, run: '0@50', stop: {grace: 1s}}]", signals: [(8, 15)])
    run.slurm.ignoresCancellation = true
    #expect(
      run.timeline()
        == "0:+a 8:stopping 19:!job 101 of 'a' was cancelled, and has not ended yet 19:-a=abandoned "
        + "19:a=cancelled 19:end=143")
    #expect(try run.jobs.isOpen())
    let next = try SlurmRun("steps: [{id: a, run: '0@50'}]", id: "r2", after: run)
    #expect(next.timeline().hasSuffix("end=0"))
    #expect(next.slurm.jobs.map(\.state) == ["COMPLETED", "COMPLETED"])
    #expect(next.slurm.mostAtOnce == 1)
  }

  @Test func `says of which jobs Slurm was not told`() throws {
    let run = try SlurmRun(
      "steps: [{id: a, run: '0@90', stop: {grace: 1s}}]", signals: [(8, 15)], outages: [7..<100])
    #expect(
      run.timeline().contains("!Slurm did not hear that job 101 of 'a' is to end: it may go on"))
    #expect(try run.jobs.isOpen())
  }

  @Test func `takes the task away from a job that comes to light later`() throws {
    let run = try SlurmRun(
      "steps: [{id: a, run: 'wait@90 hang', stop: {grace: 1s}}]", signals: [(2, 15)])
    #expect(run.timeline().contains("13:-a=abandoned"))
    #expect(try !run.jobs.isOpen())
    #expect(run.slurm.jobs.map(\.state) == ["PENDING"])
  }

  @Test func `does not wait for ever for a claim that cannot be made`() throws {
    let run = try SlurmRun(
      "steps: [{id: a, run: forgotten, slurm: {infrastructure_retries: 0}}]")
    run.slurm.losesClaims = true
    #expect(run.timeline() == "0:+a 65:-a=lost 65:a=failed 65:end=1")
    #expect(try run.jobs.isOpen())
  }
}

/// Whatever a step depends on has run.
private final class ChangedUpstream: RunMemory {
  let isOfEarlierRun = true
  func reasonToLeaveOut(_ operation: OperationID) -> String? { nil }
  func leavesGap(_ operation: OperationID) -> Bool { false }
  func noteResolved(_ operation: OperationID, as step: ReadyStep) {}
  func noteResult(_ operation: OperationID, _ number: Int) {}
  func kept(_ operation: OperationID, as step: ReadyStep) -> KeptStep? { nil }
  func isUpstreamUnchanged(of operation: OperationID, since run: String) -> Bool { false }
  let idleSteps = IdleSteps()

  func keptGivenUp(_ operation: OperationID, with other: OperationID) -> KeptStep? { nil }

  func held(_ operation: OperationID, _ allowance: AllowFailure) -> KeptStep? { nil }
  func mayHold(_ operation: OperationID) -> Bool { false }
  func hooks(of group: OperationID) -> GroupHookDuty { .asUsual }
  func hadTimedOut(_ group: OperationID) -> Bool { false }
}
