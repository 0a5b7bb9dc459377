// Tests the examination of a cluster, with commands that answer what a test says.

import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `An examination of a cluster` {
  private static let healthy = [
    "sbatch --version": "slurm-wlm 22.05.8\n",
    "scontrol ping": "Slurmctld(primary) at host is UP\n",
    "squeue":
      "JOB|TASK|STATE|REASON|NODES|NAME|COMMENT\n7|N/A|RUNNING|None|n1|x|\n8|N/A|COMPLETED|None|n1|x|\n",
    "scontrol show": "MaxArraySize            = 1001\nMaxJobCount             = 10000\n",
    "sinfo": "main*|up|4\nold|down|2\nmain*|up|1\n",
  ]

  /// Each finding as `verdict subject: words`.
  private func findings(
    _ changes: [String: String?] = [:], without missing: Set<String> = []
  ) -> [String] {
    var answers: [String: String?] = Self.healthy
    for (name, answer) in changes { answers.updateValue(answer, forKey: name) }
    let checks = SlurmChecks(options: [], hasCommand: { !missing.contains($0) }) { words, _, _ in
      let name = answers.keys.first { words.joined(separator: " ").hasPrefix($0) }
      guard let answer = name.flatMap({ answers[$0] ?? nil }) else {
        return SlurmAnswer(exitStatus: 1, errors: "slurm_load_jobs error: it is away\n")
      }
      return SlurmAnswer(exitStatus: 0, output: answer)
    }
    return checks.findings().map { "\($0.verdict) \($0.subject): \($0.words)" }
  }

  @Test func `finds nothing wrong with one that is well`() {
    #expect(
      findings() == [
        "ok commands: sbatch, squeue, scancel, scontrol, srun", "ok version: Slurm 22.05.8",
        "ok controller: it answers", "ok queue: 1 job of yours is in it",
        "ok limits: arrays of 1000, 10000 jobs of all users", "ok partitions: main*",
      ])
  }

  @Test func `says what is missing`() {
    #expect(
      findings(without: ["sbatch", "srun"]) == ["failed commands: not installed: 'sbatch'"])
    #expect(
      findings(without: ["srun"])[0]
        == "warning commands: 'srun' is not installed: 'oprun submit' needs it to reach other nodes"
    )
  }

  @Test(arguments: [
    ("sbatch --version", "slurm 19.05.5\n", "failed version: Slurm 19.05.5, wanted 20.02 or newer"),
    ("scontrol ping", nil, "failed controller: it is away"),
    (
      "scontrol ping",
      "Slurmctld(primary) at host is DOWN\n****\n** RESTORE SLURMCTLD DAEMON TO SERVICE **\n****\n",
      "failed controller: Slurmctld(primary) at host is DOWN"
    ),
    ("squeue", nil, "failed queue: it is away"),
    (
      "squeue", "<html>502</html>\n", "failed queue: squeue printed something other than the queue"
    ),
    (
      "scontrol show", "MaxArraySize = 0\n",
      "warning limits: there are no arrays (MaxArraySize 0): each step is submitted alone"
    ),
    (
      "scontrol show", "MaxJobCount = 50\n",
      "warning limits: Slurm keeps 50 jobs of all users, and oprun submits up to 200"
    ),
    ("sinfo", "main*|down|4\n", "failed partitions: none is up"),
  ])
  func `says what is wrong`(command: String, answer: String?, finding: String) {
    #expect(findings([command: answer]).contains(finding), "\(findings([command: answer]))")
  }

  @Test(arguments: [
    (100, "ok clocks: the clocks of 'n1' and this machine agree"),
    (103, "ok clocks: the clocks of 'n1' and this machine agree"),
    (90, "warning clocks: the clock of 'n1' is 10 s behind"),
    (120, "warning clocks: the clock of 'n1' is 18 s ahead"),
  ])
  func `compares clocks`(time: Int, words: String) {
    let text = "host=n1\ntime=\(time)\nversion=oprun 1.0\n"
    let found = SlurmChecks.findings("7", text, between: 100, and: 102)
    #expect(
      found.map { "\($0.verdict) \($0.subject): \($0.words)" } == [
        "ok job: job 7 ran on 'n1'", "ok shared directory: 'n1' sees it",
        "ok program: oprun starts there", words,
      ])
  }

  @Test func `says that oprun does not start on a node`() {
    let text = "host=n1\ntime=1\nversion=sh: exec format error\n"
    #expect(
      SlurmChecks.findings("7", text, between: 1, and: 1).first { $0.subject == "program" }?.words
        == "oprun does not start on 'n1': sh: exec format error")
  }
}
