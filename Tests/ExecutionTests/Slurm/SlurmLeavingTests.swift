// Tests how a run is left while its jobs go on, or are yet to end, in virtual time.

import Plans
import RunFiles
import Running
import Scheduling
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `A run that is left` {
  private let file = "steps: [{id: a, run: '0@50'}]"
  private let one = "1 job continues in Slurm: 'oprun resume' waits for the results"

  private func wasStopped(_ run: SlurmRun) throws -> Bool {
    try OpenWork(of: run.jobs).tasks.values.allSatisfy(\.entry.wasStopped)
  }

  @Test func `leaves the hooks of what goes on to the run that sees its end`() throws {
    let file = """
      on_cancel: "0@1"
      on_complete: "0@1"
      steps:
        - {id: a, run: "0@50", on_success: "0@1", on_cancel: "0@1", on_complete: "0@1"}
        - {id: b, run: "hang", executor: local, on_cancel: "0@1"}
        - {id: c, run: "0@1", depends_on: [a], on_cancel: "0@1"}
      """
    let first = try SlurmRun(file, signals: [(8, 1)])
    #expect(
      first.timeline()
        == "0:+b 0:+a 8:!\(one) 8:stopping 8:c=cancelled 8:a=cancelled 9:-b=sig15 9:+b.onCancel.1 "
        + "10:-b.onCancel.1=0 10:b=cancelled 10:end=129")
    #expect(first.slurm.calls.filter { !$0.hasSuffix("squeue") } == ["0:sbatch"])
    let last = try SlurmRun(
      file.replacing("hang", with: "0@1"), id: "r2", after: first)
    let timeline = last.timeline()
    #expect(timeline.contains("52:-a=0 52:+a.onSuccess.1") && timeline.hasSuffix("end=0"))
    #expect(timeline.contains("+@run.onComplete.1") && !timeline.contains("onCancel"))
  }

  @Test func `is left at the second signal, and the next run ends its jobs first`() throws {
    let run = try SlurmRun(
      "steps: [{id: a, run: '0@50', on_cancel: '0@1'}]", signals: [(8, 15), (9, 15)])
    run.slurm.ignoresCancellation = true
    #expect(
      run.timeline()
        == "0:+a 8:stopping 9:!1 job is to end, and is not waited for: 'oprun resume' does that "
        + "9:-a=abandoned 9:+a.onCancel.1 10:-a.onCancel.1=0 10:a=cancelled 10:end=143")
    #expect(try run.jobs.isOpen() && wasStopped(run))
    let next = try SlurmRun("steps: [{id: a, run: '0@50'}]", id: "r2", after: run)
    #expect(next.timeline().hasSuffix("end=0"))
    #expect(next.slurm.jobs.map(\.state) == ["COMPLETED", "COMPLETED"])
    #expect(next.slurm.mostAtOnce == 1)
  }

  @Test(arguments: [[(8, 2), (9, 2)], [(8, 2), (8, 2)], [(8, 1), (8, 2), (8, 2)]])
  func `asks all jobs to end before it is left`(signals: [(Int, Int)]) throws {
    let run = try SlurmRun(
      file, signals: signals.map { (Nanoseconds($0.0), Int32($0.1)) }, outages: [7..<100])
    let isHangup = signals[0].1 == 1
    let timeline = run.timeline()
    #expect(timeline.hasSuffix(isHangup ? "8:end=129" : "\(signals[1].0):end=130"), "\(timeline)")
    #expect(try run.jobs.isOpen() && wasStopped(run) == !isHangup)
    #expect(run.slurm.calls.contains("end:scancel 101") == !isHangup)
    let next = try SlurmRun(file, id: "r2", after: run)
    #expect(next.timeline().hasSuffix("end=0"))
    #expect(next.slurm.jobs.count == (isHangup ? 1 : 2))
  }

  @Test func `ends a job whose submission is under way`() throws {
    let run = try SlurmRun("steps: [{id: a, run: 'wait@90 hang'}]", signals: [(2, 15), (3, 15)])
    #expect(run.timeline() == "0:+a 2:stopping 3:-a=sig9 3:a=cancelled 3:end=143")
    #expect(try !run.jobs.isOpen())
  }

  @Test func `does not let go on what was to end`() throws {
    let run = try SlurmRun(
      """
      failure_policy: cancel
      steps: [{id: a, run: '0@50'}, {id: b, run: '1@3', executor: local}]
      """, signals: [(5, 1)])
    run.slurm.stopDelay = 20
    #expect(
      run.timeline()
        == "0:+b 0:+a 3:-b=1 3:b=failed 3:stopping 5:stopping 10:-a=sig15 10:a=cancelled 10:end=129"
    )
  }
}

@Suite(.blocking) struct `A run with whose jobs another one goes on already` {
  private let file = """
    on_cancel: "0@1"
    max_parallel: 9
    steps:
      - {id: a, run: "0@50", on_cancel: "0@1"}
      - {id: b, run: "0@60", stop: {grace: 9s}}
      - {id: c, run: "hang", executor: local, on_cancel: "0@1"}
      - {id: d, run: "0@6", executor: local}
      - {id: e, run: "0@1", depends_on: [d], executor: local}
      - {id: late, run: "0@90", depends_on: [e]}
      - {id: f, run: "0@6", executor: local, depends_on: [e]}
    """

  @Test func `leaves those that the other one has, and ends what it has not`() throws {
    let other = TemporaryRun()
    let observer = Overtaken(by: other)
    let run = try SlurmRun(file, observer: observer)
    observer.jobs = run.jobs
    let name = other.name
    #expect(
      run.timeline()
        == "0:+d 0:+a 0:+b 0:+c 6:-d=0 6:d=succeeded 6:+e 7:-e=0 7:e=succeeded 7:+late 7:+f "
        + "13:-f=0 13:f=succeeded 13:!2 jobs continue in Slurm, and belong to run \(name) now "
        + "13:stopping 13:a=cancelled 13:b=cancelled 13:-late=sig9 13:late=cancelled 14:-c=sig9 "
        + "14:c=cancelled 14:end=74")
    let cancelled = run.slurm.calls.filter { $0.contains("scancel") }
    #expect(cancelled == ["13:scancel 102", "13:scancel --full --signal=KILL 102"])
    // That 'late' has ended is not noted: nothing is any more that the other run may rely on.
    #expect(try run.jobs.openSteps() == ["a": ["r1"], "b": ["r1"], "late": ["r1"]])
  }

  @Test func `leaves what waits to be submitted again, which the other one may have done`() throws {
    let other = TemporaryRun()
    let observer = Overtaken(by: other)
    let run = try SlurmRun(file, observer: observer)
    run.slurm.mostJobs = 0
    observer.jobs = run.jobs
    let name = other.name
    #expect(
      run.timeline()
        == "0:+d 0:+a 0:+b 0:+c "
        + "0:!'a' is submitted later: Slurm accepts no more jobs at present (MaxJobCount) 6:-d=0 "
        + "6:d=succeeded 6:+e 7:-e=0 7:e=succeeded 7:+late 7:+f 13:-f=0 13:f=succeeded "
        + "13:!2 jobs continue in Slurm, and belong to run \(name) now 13:stopping 13:a=cancelled "
        + "13:b=cancelled 13:-late=sig9 13:late=cancelled 14:-c=sig9 14:c=cancelled 14:end=74")
    let files = try NodeFiles.open(in: run.folder.directory.path)
    #expect(try [1, 2].map { try files.claim(of: $0) } == [nil, nil])
  }

  @Test func `ends nothing that a run before it has left`() throws {
    let first = try SlurmRun("steps: [{id: a, run: '0@50'}]", signals: [(8, 1)])
    _ = first.timeline()
    let other = TemporaryRun()
    let next = try SlurmRun(
      """
      max_parallel: 9
      steps:
        - {id: a, run: "0@3"}
        - {id: c, run: "hang", executor: local}
        - {id: d, run: "0@6", executor: local}
      """, id: "r2", after: first, observer: Overtaken(by: other, after: 2))
    // What 'a' was is to be cancelled as soon as it is seen, which is after the other run has begun.
    next.slurm.lookDelay = 6_500_000_000
    #expect(next.timeline().hasSuffix("7:c=cancelled 7:end=74"))
    #expect(!next.slurm.calls.contains { $0.contains("scancel") })
  }
}

/// Reports, when `f` has succeeded, or another step, that the other run goes on with this one, which has taken its jobs over
/// when `d` had.
private final class Overtaken: RunObserver {
  var jobs: EarlierJobs?
  private let other: TemporaryRun
  private let last: OperationID
  private var executor: SlurmExecutor?

  init(by other: TemporaryRun, after last: Int = 6) {
    self.other = other
    self.last = OperationID(last)
  }

  func observe(_ event: RunEvent) throws(ObserverFailure) {
    guard case .settled(let operation, _, _) = event.kind else { return }
    if operation == OperationID(3) { takeOver() }
    if operation == last {
      var failure = ObserverFailure("lost")
      failure.successor = other.name
      throw failure
    }
  }

  private func takeOver() {
    let parts = SlurmParts(
      plan: SlurmPlan(), runID: "r2", directory: other.directory, folder: other.directory.path,
      workspace: "/", secrets: [], secretVariables: [], earlier: jobs)
    executor = SlurmExecutor(parts, FakeSlurm(), VirtualWaiting())
  }
}

@Suite(.blocking) struct `A run that detaches itself` {
  private let one = "1 job continues in Slurm: 'oprun resume' waits for the results"
  private let two = "2 jobs continue in Slurm: 'oprun resume' waits for the results"

  private func detached(
    _ file: String, id: String = "r1", slurm: String = "{submit_rate: 1000/s}",
    signals: [(second: Nanoseconds, signal: Int32)] = [], after earlier: SlurmRun? = nil
  ) throws -> SlurmRun {
    try SlurmRun(
      file, id: id, signals: signals, slurm: slurm, after: earlier, isDetached: true)
  }

  @Test func `goes along a chain, a job for each resumed run`() throws {
    let file =
      "steps: [{id: a, run: '0@1', on_success: '0@1'}, {id: b, run: '0@1', depends_on: [a]}]"
    let first = try detached(file)
    #expect(first.timeline() == "0:+a 0:!\(one) 0:stopping 0:b=cancelled 0:a=cancelled 0:end=0")
    let again = try detached(file, id: "r2", after: first)
    #expect(again.timeline() == "0:+a 0:!\(one) 0:stopping 0:b=cancelled 0:a=cancelled 0:end=0")
    _ = again.slurm.takeAnswers(at: 9 * second)
    let next = try detached(file, id: "r3", after: again)
    #expect(
      next.timeline()
        == "0:+a 0:-a=0 0:+a.onSuccess.1 1:-a.onSuccess.1=0 1:a=succeeded 1:+b 1:!\(one) 1:stopping "
        + "1:b=cancelled 1:end=0")
    _ = next.slurm.takeAnswers(at: 9 * second)
    // Nothing remembers here that it has succeeded.
    let rest = file.replacing("{id: a, run: '0@1'", with: "{id: a, executor: local, run: '0@0'")
    let last = try detached(rest, id: "r4", after: next)
    #expect(last.timeline().hasSuffix("b=succeeded 1:end=0"))
    #expect(last.slurm.calls.count { $0.contains("sbatch") } == 2)
    #expect(!last.slurm.calls.contains { $0.contains("scancel") })
    for run in [first, again, next, last] { #expect(try !run.jobs.isOpen()) }
  }

  @Test func `waits for what runs here, and for what it will start`() throws {
    let run = try detached(
      """
      steps:
        - {id: a, run: "0@50"}
        - {id: b, run: "1@5; 0@1", executor: local, retry: {limit: 1, delay: 9s}}
        - {id: c, run: "0@1", depends_on: [b]}
        - {id: d, run: "0@1", depends_on: [a]}
      """)
    #expect(
      run.timeline()
        == "0:+b 0:+a 5:-b=1 5:b#2 14:+b 15:-b=0 15:b=succeeded 15:+c 15:!\(two) 15:stopping "
        + "15:d=cancelled 15:a=cancelled 15:c=cancelled 15:end=0")
  }

  @Test func `has submitted every job before`() throws {
    let run = try detached(
      """
      queues: {all: {max_parallel: 10}}
      steps: [{id: a, run: "0@5", queue: all}, {id: b, run: "0@5", queue: all}]
      """, slurm: "{max_queued: 1}")
    #expect(
      run.timeline()
        == "0:+a 0:+b 7:-a=0 7:a=succeeded 7:!\(one) 7:stopping 7:b=cancelled 7:end=0")
  }

  @Test func `says that something has failed`() throws {
    let run = try detached(
      """
      steps: [{id: a, run: "0@50"}, {id: b, run: "1@5", executor: local}]
      """)
    #expect(
      run.timeline() == "0:+b 0:+a 5:-b=1 5:b=failed 5:!\(one) 5:stopping 5:a=cancelled 5:end=1")
  }

  @Test func `leaves nothing when jobs are to end`() throws {
    let run = try detached(
      "steps: [{id: a, run: '0@50'}, {id: b, run: '0@60', executor: local}]", signals: [(8, 15)])
    #expect(
      run.timeline()
        == "0:+b 0:+a 8:stopping 8:-a=sig15 8:a=cancelled 9:-b=sig15 9:b=cancelled 9:end=143")
  }

  @Test func `ends as usual when no job is left`() throws {
    let run = try detached("steps: [{id: a, run: '0@2'}, {id: b, run: '0@9', executor: local}]")
    #expect(
      run.timeline() == "0:+b 0:+a 4:-a=0 4:a=succeeded 9:-b=0 9:b=succeeded 9:end=0")
  }
}
