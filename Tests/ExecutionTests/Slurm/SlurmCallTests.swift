// What is said to Slurm, and what its answers mean.

import Diagnostics
import Foundation
import Plans
import RunFiles
import Running
import Scheduling
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `Calls of Slurm` {
  private let commands = SlurmCommands(
    mark: JobMark(run: "r1", word: shortDigest(of: "/w/.oprun/runs/r1")),
    jobsFolder: "/w/100%d/jobs",
    workspace: "/w")

  @Test func `a submission names the job, and everything that is asked for`() {
    var request = SlurmRequest()
    request.partition = "short; rm"
    request.resources = [
      .cpus: 1_500_000, .memory: 500_000, .gpus: 2_000_000, .time: 16_667, .tmp: 977,
    ]
    request.extra = ["--exclusive"]
    var batch = SlurmBatch(numbers: [7])
    batch.name = "build[os=a b]"
    let call = commands.submission(
      of: batch, request, nice: 4,
      script: SlurmCommands.script(program: "/w/it's/oprun", folder: "/w/x y", batch))
    let mark = "oprun:r1-\(shortDigest(of: "/w/.oprun/runs/r1")):7"
    #expect(
      call.words == [
        "sbatch", "--parsable", "--job-name=build[os=a_b].\(mark)", "--comment=\(mark)",
        "--open-mode=append", "--input=/dev/null", "--output=/w/100%%d/jobs/7.out", "--chdir=/w",
        "--export=ALL", "--nice=4", "--partition=short; rm", "--cpus-per-task=2", "--mem=512M",
        "--gpus=2", "--time=1", "--tmp=1M", "--requeue", "--exclusive",
      ])
    #expect(
      call.input == "#!/bin/sh\nexec '/w/it'\\''s/oprun' __task '/w/x y' 7\n")
  }

  @Test func `a submission of several tasks is an array`() {
    var batch = SlurmBatch(numbers: [12, 7, 8, 9, 31], throttle: 3)
    batch.name = "a"
    let call = commands.submission(
      of: batch, SlurmRequest(), nice: 0,
      script: SlurmCommands.script(program: "/p", folder: "/r", batch))
    let mark = "oprun:r1-\(shortDigest(of: "/w/.oprun/runs/r1")):7"
    #expect(
      call.words == [
        "sbatch", "--parsable", "--job-name=a.\(mark)", "--comment=\(mark)", "--open-mode=append",
        "--input=/dev/null", "--output=/w/100%%d/jobs/7.%a.out", "--chdir=/w", "--export=ALL",
        "--array=0-2,5,24%3", "--requeue",
      ])
    #expect(call.input == "#!/bin/sh\nexec '/p' __task '/r' --array 7\n")
    #expect(
      batch.members.map { batch.job(of: $0, "88") } == ["88_5", "88_0", "88_1", "88_2", "88_24"])
  }

  @Test func `in a path with a backslash Slurm would replace nothing`() {
    let odd = SlurmCommands(
      mark: JobMark(run: "r1", word: shortDigest(of: "/a\\b")), jobsFolder: "/a\\b/jobs",
      workspace: "/w")
    let call = odd.submission(
      of: SlurmBatch(numbers: [7]), SlurmRequest(), nice: 0, script: "")
    #expect(call.words.contains("--output=/dev/null"))
  }

  @Test(arguments: [
    ("ReqNodeNotAvail, UnavailableNodes:n1", true), ("AssocGrpCPUMinutesLimit", true),
    ("QOSMaxGRESPerJob", true), ("JobHoldMaxRequeue", true), ("QOSGrpCpuLimit", false),
    ("Priority", false), ("Resources", false),
  ])
  func `some reasons do not go away by themselves`(reason: String, isStuck: Bool) {
    let job = QueuedJob(id: "1", state: .pending, reason: reason, node: nil)
    #expect(job.isStuck == isStuck)
  }

  @Test func `jobs of an array are named together`() {
    let names = ["9", "12_3", "13_1", "12_4", "12_7", "8"]
    #expect(
      SlurmCommands.cancellation(of: names).words == [
        "scancel", "--quiet", "9", "12_[3-4,7]", "13_1", "8",
      ])
  }

  @Test func `an array has the name of what its steps have in common`() {
    #expect(commonName(of: ["a[n=1]"]) == "a[n=1]")
    #expect(commonName(of: ["a[n=1]", "a[n=2]"]) == "a")
    #expect(commonName(of: ["a[n=1]", "ab[n=2]", "c"]) == "a[n=1]+2")
  }

  @Test(arguments: [
    ("12\n", 0, "", Submission.accepted("12")),
    ("12;cluster\n", 0, "", .accepted("12")),
    ("", 0, "", .unknown("sbatch said nothing")),
    ("12 jobs\n", 0, "", .unknown("sbatch said nothing")),
    (
      "", 1,
      "sbatch: unrecognized option '--nonsense'\nTry \"sbatch --help\" for more information\n",
      .refused("unrecognized option '--nonsense'")
    ),
    (
      "", 1, "sbatch: error: Batch job submission failed: Invalid partition name specified\n",
      .refused("Batch job submission failed: Invalid partition name specified")
    ),
    (
      "", 1,
      "sbatch: error: Memory specification can not be satisfied\nsbatch: error: Batch job "
        + "submission failed: Requested node configuration is not available\n",
      .refused("Batch job submission failed: Requested node configuration is not available")
    ),
    (
      "", 1,
      "sbatch: error: Batch job submission failed: Zero Bytes were transmitted or received\n",
      .unknown("Batch job submission failed: Zero Bytes were transmitted or received")
    ),
    (
      "", 1, "sbatch: fatal: --mem and --mem-per-cpu are mutually exclusive.\n",
      .unclear("fatal: --mem and --mem-per-cpu are mutually exclusive.")
    ),
    (
      "", 1,
      "sbatch: error: Please give an account\nsbatch: error: Batch job submission failed: Unspecified error\n",
      .unclear("Please give an account")
    ),
    (
      "", 1,
      "sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job submission failed: "
        + "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)\n",
      .tooMany(
        "Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size "
          + "and/or time limits)")
    ),
  ])
  func `an answer means one of a few things`(
    output: String, status: Int32, errors: String, meaning: Submission
  ) {
    #expect(
      Submission(SlurmAnswer(exitStatus: status, output: output, errors: errors)) == meaning)
  }

  @Test func `sbatch is not left to ask again and again for more than fits`() throws {
    let script =
      "echo 'sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying' >&2; sleep 6000"
    let began = monotonicTime()
    let call = SlurmCall(words: ["sh", "-c", script], limit: 3000 * second)
    let answer = SlurmAnswer(to: call, ["PATH=/bin:/usr/bin"])
    #expect(monotonicTime() - began < 300_000_000_000)
    #expect(
      Submission(answer)
        == .tooMany("Slurm accepts no more jobs at present (MaxJobCount)"))
  }

  @Test(arguments: [
    (0, "", true),
    (1, "scancel: error: Kill job error on job id 7: Invalid job id specified\n", true),
    (1, "scancel: error: Kill job error on job id 7: Access/permission denied\n", true),
    (
      1,
      "scancel: error: Kill job error on job id 7: Unable to contact slurm controller (connect failure)\n",
      false
    ),
    (1, "scancel: error: slurm_kill_job2: Connection refused\n", false),
    (1, "scancel: fatal: Invalid credential\n", false),
    (nil, "", false),
  ])
  func `jobs are to end if Slurm has heard of it, also if it denies it`(
    status: Int32?, errors: String, meaning: Bool
  ) {
    #expect(SlurmAnswer(exitStatus: status, errors: errors).hasCancelled == meaning)
  }

  @Test func `jobs are cancelled while a look hangs, which ends with the run`() throws {
    let folder = TemporaryRun()
    let path = folder.directory.path
    for (name, script) in [
      ("squeue", "echo $$ >'\(path)/squeue.pid'; sleep 600"),
      ("scancel", "echo $* >>'\(path)/cancelled'"),
    ] {
      let text = Array("#!/bin/sh\n\(script)\n".utf8)
      let file = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o700)
      #expect(write(file, text, text.count) == text.count)
      close(file)
    }
    let waiting = VirtualWaiting()
    let caller = SlurmProcesses(
      waiting, environment: ["PATH=/bin:/usr/bin"], lastWait: 300 * second)
    func call(_ words: [String]) -> SlurmCall {
      SlurmCall(words: ["\(path)/\(words[0])"] + words.dropFirst(), limit: 600 * second)
    }
    caller.begin(call(["squeue"]), number: 1, at: 0)
    var process: Int32?
    while process == nil {
      usleep(1000)
      let text = try? String(contentsOfFile: "\(path)/squeue.pid", encoding: .utf8)
      process = text.flatMap { $0.hasSuffix("\n") ? Int32($0.dropLast()) : nil }
    }
    caller.close(after: call(["scancel", "7"]))
    #expect(access("\(path)/cancelled", F_OK) == 0)
    let look = try #require(process)
    while ProcessStatus(of: look)?.isZombie == false { usleep(1000) }
    // Exit tests wait for ever beside processes whose ends nobody collects.
    for worker in waiting.ownProcesses.processIDs { #expect(waitpid(worker, nil, 0) == worker) }
  }

  @Test func `no answer means nothing`() {
    #expect(Submission(SlurmAnswer(exitStatus: nil)) == .unknown("sbatch did not answer"))
  }

  @Test func `a listing has the jobs of this run alone, whatever others are called`() {
    let mark = JobMark(run: "r1", word: shortDigest(of: "/w"))
    let listing = QueueListing(
      """
      7|N/A|RUNNING|None|n2|a.\(mark.text(of: 3))|(null)
      8|N/A|PENDING|Resources||x|y|\(mark.text(of: 4))
      9|N/A|PENDING|Resources||a.oprun:r1-0000000000000000:3|
      10|N/A|CANCELLED by 0|None|n1|a.\(mark.text(of: 3))|(null)
      12|7|PENDING|JobArrayTaskLimit|(null)|a.\(mark.text(of: 3))|(null)
      oprun
      11|N/A|PENDING|Dependency||plain|(null)

      """, mark)
    #expect(listing.jobs.count == 3)
    #expect(
      listing.job(of: 10, known: nil)
        == QueuedJob(id: "12_7", state: .pending, reason: "JobArrayTaskLimit", node: nil))
    #expect(
      listing.job(of: 3, known: "10")
        == QueuedJob(id: "7", state: .running, reason: "None", node: "n2"))
    #expect(
      listing.job(of: 4, known: nil)
        == QueuedJob(id: "8", state: .pending, reason: "Resources", node: nil))
    #expect(listing.job(of: 5, known: "11") == nil)
    #expect(!listing.isIncomplete)
  }

  @Test func `a line of a listing stands for all jobs of an array that wait`() {
    let mark = JobMark(run: "r1", word: shortDigest(of: "/w"))
    func listing(_ numbers: String) -> QueueListing {
      QueueListing("7|\(numbers)|PENDING|Priority||a.\(mark.text(of: 10))|(null)\n", mark)
    }
    let all = listing("0-1,4,8-16:4%2")
    #expect(all.jobs.keys.sorted() == [10, 11, 14, 18, 22, 26])
    #expect(all.job(of: 14, known: nil)?.id == "7_4")
    #expect(listing("[3]").jobs.keys.sorted() == [13])
    // Cut off, or something else: nothing can be said of jobs that are not listed.
    for text in ["0-1,4,...", "0-", "4-2", "1:0", "-1", "x", "0-99999999999", "0-4000000,0-4"] {
      #expect(listing(text).isIncomplete, "\(text)")
    }
  }

  @Test func `only what has titles is a listing`() {
    let titles = "ARRAY_JOB_ID|ARRAY_TASK_ID|STATE|REASON|NODELIST|NAME|COMMENT\n"
    #expect(QueueListing.isListing(titles))
    #expect(QueueListing.isListing("Welcome!\n\n" + titles + "7|1|PENDING|None||a|b\n"))
    #expect(!QueueListing.isListing(""))
    #expect(!QueueListing.isListing("7|1|PENDING|None||a|b\n"))
    #expect(!QueueListing.isListing("<html>|</html>"))
  }
}

extension SlurmBatch {
  fileprivate init(numbers: [Int], throttle: Int? = nil) {
    self.init(
      numbers.map {
        Member(key: CommandKey(operation: OperationID($0), role: .attempt(1)), number: $0)
      },
      throttle: throttle)
  }
}
