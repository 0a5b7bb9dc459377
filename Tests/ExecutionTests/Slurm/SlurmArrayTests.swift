// Tests arrays: what is ready at the same time and asks for the same is submitted with one call, in virtual
// time.

import Plans
import Running
import Scheduling
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `Steps that are submitted together` {
  /// Instances whose jobs do what the values say, and how they end.
  private func run(
    _ scripts: [String], more: String = "", id: String = "r1",
    signals: [(second: Nanoseconds, signal: Int32)] = [],
    outages: [Range<Nanoseconds>] = [], after earlier: SlurmRun? = nil
  ) throws -> SlurmRun {
    let values = scripts.map { "'\($0)'" }.joined(separator: ", ")
    return try SlurmRun(
      """
      steps:
        - id: a
          run: ${{ matrix.s }}
          matrix: {s: [\(values)]}\(more)
      """, id: id, signals: signals, slurm: "{submit_rate: 1000/s, max_queued: 5000}",
      outages: outages, after: earlier)
  }

  private func submissions(_ run: SlurmRun) -> [String] {
    run.slurm.calls.filter { $0.contains("sbatch") }
  }

  @Test func `are one array, and end one by one`() throws {
    let run = try run(["0@1", "0@2", "3@3", "0@4"])
    let timeline = run.timeline()
    #expect(submissions(run) == ["0:sbatch 0-3"])
    #expect(timeline.hasSuffix("end=1"))
    #expect(run.slurm.jobs.map(\.id) == ["101_0", "101_1", "101_2", "101_3"])
    #expect(run.slurm.jobs.map(\.state) == ["COMPLETED", "COMPLETED", "FAILED", "COMPLETED"])
  }

  @Test func `leave the width of a matrix to Slurm`() throws {
    let run = try run((1...7).map { "0@1 #\($0)" }, more: "\n    max_parallel: 3")
    #expect(run.timeline().hasSuffix("end=0"))
    #expect(submissions(run) == ["0:sbatch 0-6%3"])
    #expect(run.slurm.mostAtOnce == 3)
  }

  @Test func `stay below the width when some run again`() throws {
    let run = try SlurmRun(
      """
      steps:
        - id: a
          run: ${{ matrix.s }}
          retry: 1
          matrix: {s: ['3@1; 0@9', '0@9 #2', '0@9 #3', '0@9 #4']}
          max_parallel: 2
      """, slurm: "{submit_rate: 1000/s}")
    #expect(run.timeline().hasSuffix("end=0"))
    #expect(submissions(run).first == "0:sbatch 0-3%2")
    #expect(submissions(run).count == 2)
    #expect(run.slurm.mostAtOnce == 2)
  }

  @Test(arguments: ["lost; 9@9", "hang; 9@9"])
  func `run once if the answer to their submission is lost`(script: String) throws {
    let run = try run(["\(script) #1", "\(script) #2", "\(script) #3"])
    #expect(run.timeline().hasSuffix("end=0"))
    #expect(submissions(run) == ["0:sbatch 0-2"])
  }

  @Test func `are submitted again, together, if no job of theirs is found`() throws {
    let run = try run(["dropped; 0@2 #1", "dropped; 0@2 #2", "dropped; 0@2 #3"])
    #expect(run.timeline().hasSuffix("end=0"))
    #expect(submissions(run).map { $0.dropFirst(2) } == ["sbatch 0-2", "sbatch 0-2"])
  }

  @Test func `end apart if somebody cancels one`() throws {
    let run = try run(["0@9 #1", "CANCELLED@3", "0@9 #3"])
    let timeline = run.timeline()
    #expect(timeline.hasSuffix("end=1"))
    #expect(run.slurm.jobs.map(\.state) == ["COMPLETED", "CANCELLED", "COMPLETED"])
    #expect(submissions(run).count == 1)
  }

  @Test func `run again one by one if nodes fail`() throws {
    let run = try run(["0@9 #1", "NODE_FAIL@3; 0@1", "0@9 #3"])
    #expect(run.timeline().hasSuffix("end=0"))
    #expect(submissions(run) == ["0:sbatch 0-2", "7:sbatch"])
  }

  @Test func `are fewer at a time if Slurm allows no larger numbers`() throws {
    let run = try SlurmRun(
      "steps: [{id: a, run: '0@1 #${{ matrix.n }}', matrix: {n: [1, 2, 3, 4, 5]}}]",
      slurm: "{submit_rate: 1000/s}")
    run.slurm.largestIndex = 3
    #expect(run.timeline().hasSuffix("end=0"))
    #expect(
      submissions(run).map { $0.dropFirst(2) } == ["sbatch 0-4", "sbatch 0-2", "sbatch 0-1"])
    let none = try SlurmRun(
      "steps: [{id: a, run: '0@1 #${{ matrix.n }}', matrix: {n: [1, 2]}}]",
      slurm: "{submit_rate: 1000/s}")
    none.slurm.largestIndex = 0
    #expect(none.timeline().hasSuffix("end=0"))
    #expect(submissions(none).map { $0.dropFirst(2) } == ["sbatch 0-1", "sbatch", "sbatch"])
  }

  @Test func `are fewer at a time if the user may not have more jobs`() throws {
    let run = try run((1...5).map { "0@1 #\($0)" })
    run.slurm.largestSubmission = 2
    #expect(run.timeline().hasSuffix("end=0"))
    #expect(run.slurm.jobs.count == 5)
    #expect(submissions(run).first == "0:sbatch 0-4")
  }

  @Test func `go on as soon as Slurm takes more jobs, which is said once`() throws {
    let run = try run((1...9).map { "0@2 #\($0)" })
    run.slurm.mostJobs = 3
    let timeline = run.timeline()
    #expect(timeline.hasSuffix("end=0"))
    #expect(run.slurm.jobs.count == 9)
    #expect(
      timeline.split(separator: "!").dropFirst().map { $0.prefix { $0 != ")" } } == [
        "'a[s=0@2 #4]' is submitted later: Slurm accepts no more jobs at present (MaxJobCount"
      ])
  }

  @Test func `are cancelled with one call`() throws {
    let run = try run((1...600).map { "0@50 #\($0)" }, signals: [(8, 15)])
    #expect(run.timeline().hasSuffix("end=143"))
    #expect(
      run.slurm.calls.filter { $0.contains("scancel") } == [
        "8:scancel 101_[0-499]", "8:scancel 101_[500-599]",
      ])
  }

  @Test func `go on when the run is left, and another takes each of them over`() throws {
    let scripts = ["0@50 #1", "0@2 #2", "wait@90 0@5"]
    let first = try run(scripts, signals: [(8, 1)])
    _ = first.timeline()
    let second = try run(scripts, id: "r2", after: first)
    #expect(second.timeline().hasSuffix("end=0"))
    #expect(submissions(second) == ["0:sbatch 0-2", "0:sbatch"])
  }

  @Test func `are submitted together by the run that takes them over if they never were`() throws {
    let scripts = ["0@5 #1", "0@5 #2", "0@5 #3"]
    let first = try run(scripts, signals: [(5, 1)], outages: [0..<100])
    _ = first.timeline()
    let second = try run(scripts, id: "r2", after: first)
    #expect(second.timeline().hasSuffix("end=0"))
    #expect(submissions(second) == ["0:sbatch 0-2", "0:sbatch 0-2"])
  }
}
