// Examines a cluster: whether its commands are there, answer, and take a job whose files are seen
// here.

import Diagnostics
import Glibc
import Plans
package import RunFiles
import Scheduling

/// The examination of a cluster.
package struct SlurmChecks {
  /// Calls a command and waits for it: words, input, milliseconds.
  typealias Call = ([String], String, Int) -> SlurmAnswer

  private let call: Call
  private let hasCommand: (String) -> Bool
  /// Further options for the job, such as those that name a partition.
  private let options: [String]

  package init(options: [String]) {
    self.init(options: options, hasCommand: isOnPath) { words, input, limit in
      SlurmAnswer(
        to: SlurmCall(words: words, input: input, limit: Nanoseconds(limit) * 1_000_000),
        SlurmVariables(masker: nil).passed)
    }
  }

  init(options: [String], hasCommand: @escaping (String) -> Bool, call: @escaping Call) {
    self.options = options
    self.hasCommand = hasCommand
    self.call = call
  }

  /// All findings without a job. The last one has failed if the rest cannot be examined.
  package func findings() -> [Finding] {
    var findings = [commands]
    if findings[0].verdict == .failed { return findings }
    findings.append(version)
    findings.append(controller)
    if findings.contains(where: { $0.verdict == .failed }) { return findings }
    return findings + [queue, limits, partitions]
  }

  private static let needed = ["sbatch", "squeue", "scancel", "scontrol"]

  private var commands: Finding {
    let missing = Self.needed.filter { !hasCommand($0) }
    if !missing.isEmpty {
      return Finding(
        "commands", .failed, "not installed: \(missing.map(quoted).joined(separator: ", "))",
        help: "run oprun on a login node, or install the client commands of Slurm")
    }
    return hasCommand("srun")
      ? Finding("commands", .ok, Self.needed.joined(separator: ", ") + ", srun")
      : Finding(
        "commands", .warning,
        "'srun' is not installed: 'oprun submit' needs it to reach other nodes",
        help: "install the client commands of Slurm")
  }

  /// The finding about the version: `squeue --me` came with 20.02.
  private var version: Finding {
    let answer = call(["sbatch", "--version"], "", 10_000)
    guard answer.isSuccess else { return failure("version", answer, "sbatch --version") }
    let word = answer.output.split { $0 == " " || $0 == "\n" }.last ?? ""
    let parts = word.split { $0 == "." || $0 == "-" }.compactMap { Int($0) }
    guard parts.count >= 2 else {
      return Finding("version", .warning, "unknown: \(printable(answer.output))")
    }
    return (parts[0], parts[1]) >= (20, 2)
      ? Finding("version", .ok, "Slurm \(printable(String(word)))")
      : Finding(
        "version", .failed, "Slurm \(printable(String(word))), wanted 20.02 or newer",
        help: "'squeue --me' must work")
  }

  private var controller: Finding {
    let answer = call(["scontrol", "ping"], "", 30_000)
    if answer.isSuccess, answer.output.containsText("UP") {
      return Finding("controller", .ok, "it answers")
    }
    return failure("controller", answer, "scontrol ping")
  }

  /// The command that lists jobs, with a line for each job of an array.
  private static let look = SlurmCommands.look.words + ["--array"]

  private var queue: Finding {
    let began = milliseconds()
    let answer = call(Self.look, "", 30_000)
    guard answer.isSuccess else { return failure("queue", answer, "squeue --me --states=all") }
    let time = milliseconds() - began
    guard QueueListing.isListing(answer.output) else {
      return Finding(
        "queue", .failed, "squeue printed something other than the queue",
        help: "try 'squeue --me --states=all'")
    }
    let lines = answer.output.split(separator: "\n").filter {
      $0.utf8.first.map { (0x30...0x39).contains($0) } == true && !$0.containsText("|COMPLETED|")
    }
    let jobs = lines.count == 1 ? "1 job of yours is" : "\(lines.count) jobs of yours are"
    return time < 5000
      ? Finding("queue", .ok, "\(jobs) in it")
      : Finding(
        "queue", .warning, "squeue needs \(time / 1000) s", help: "give 'poll' a higher value")
  }

  private var limits: Finding {
    let answer = call(["scontrol", "show", "config"], "", 30_000)
    guard answer.isSuccess else { return failure("limits", answer, "scontrol show config") }
    let array = Self.value(of: "MaxArraySize", in: answer.output) ?? 1001
    let jobs = Self.value(of: "MaxJobCount", in: answer.output) ?? 10_000
    if array < 2 {
      return Finding(
        "limits", .warning,
        "there are no arrays (MaxArraySize \(array)): each step is submitted alone",
        help: "prefer 'oprun submit' for many steps")
    }
    let few = SlurmPlan().maxQueued
    return jobs >= few
      ? Finding(
        "limits", .ok,
        "arrays of \(min(array - 1, ArrayLimits.usual)), \(jobs) jobs of all users")
      : Finding(
        "limits", .warning, "Slurm keeps \(jobs) jobs of all users, and oprun submits up to \(few)",
        help: "give 'max_queued' a lower value")
  }

  private static func value(of name: String, in text: String) -> Int? {
    for line in text.split(separator: "\n") {
      let words = line.split { $0 == " " || $0 == "=" }
      if words.first == name[...], words.count > 1 { return Int(words[1]) }
    }
    return nil
  }

  private var partitions: Finding {
    let answer = call(["sinfo", "--noheader", "--format=%P|%a|%D"], "", 30_000)
    guard answer.isSuccess else { return failure("partitions", answer, "sinfo") }
    var names: [String] = []
    for line in answer.output.split(separator: "\n") {
      let fields = line.split(separator: "|").map { String($0) }
      guard fields.count == 3, fields[1] == "up", !names.contains(fields[0]) else { continue }
      names.append(fields[0])
    }
    return names.isEmpty
      ? Finding("partitions", .failed, "none is up", help: "ask the administrators of the cluster")
      : Finding("partitions", .ok, printable(names.joined(separator: ", ")))
  }

  private func failure(_ subject: String, _ answer: SlurmAnswer, _ command: String) -> Finding {
    let sentence =
      answer.refusal ?? slurmSentence(answer.errors.isEmpty ? answer.output : answer.errors)
    let words =
      answer.exitStatus == nil && answer.refusal == nil ? "no answer in time" : printable(sentence)
    return Finding(
      subject, .failed, words.isEmpty ? "\(quoted(command)) failed" : words,
      help: "try \(quoted(command))")
  }

  // MARK: A job

  /// Submits a small job, and waits until its output is seen here, at most this many seconds.
  package func job(in state: StateFolder, seconds: Int = 60) -> [Finding] {
    let program: String
    do throws(SystemError) {
      program = try copyProgram(to: state)
    } catch {
      return [Finding("job", .failed, error.message)]
    }
    let folder = state.shown("doctor-\(getpid())")
    guard mkdir(folder, 0o700) == 0 else {
      return [
        Finding("job", .failed, "cannot create \(quoted(folder)): \(SystemError.reason(errno))")
      ]
    }
    defer {
      for name in ["seen", "writing"] { unlink("\(folder)/\(name)") }
      rmdir(folder)
    }
    let submittedAt = time(nil)
    let words = [
      "sbatch", "--parsable", "--job-name=oprun.doctor", "--time=1", "--output=/dev/null",
      "--chdir=/",
    ]
    let answer = call(words + options, Self.script(folder, program), 60_000)
    switch Submission(answer) {
    case .accepted(let job): return wait(for: job, in: folder, submittedAt: submittedAt, seconds)
    case .refused(let sentence), .arrayRefused(let sentence), .tooMany(let sentence),
      .unknown(let sentence), .unclear(let sentence):
      return [
        Finding(
          "job", .failed, printable(sentence),
          help:
            "what the job needs is named after '--': oprun doctor --executor slurm -- --partition=…"
        )
      ]
    }
  }

  /// The script of the job, which writes where and when it ran, and whether oprun starts there.
  private static func script(_ folder: String, _ program: String) -> String {
    """
    #!/bin/sh
    { echo "host=${SLURMD_NODENAME:-$(hostname)}"; echo "time=$(date +%s)"
      echo "version=$(\(shellWord(program)) --version 2>&1 | head -n 1)"; } >\(shellWord("\(folder)/writing")) &&
      mv \(shellWord("\(folder)/writing")) \(shellWord("\(folder)/seen"))

    """
  }

  private func wait(
    for job: String, in folder: String, submittedAt: Int, _ seconds: Int
  ) -> [Finding] {
    let end = milliseconds() + seconds * 1000
    var lookAt = milliseconds() + 2000
    var last: QueuedJob?
    var endedAt: Int?
    while milliseconds() < end {
      if let text = Self.text(of: "\(folder)/seen") {
        return Self.findings(job, text, between: submittedAt, and: time(nil))
      }
      if let endedAt, milliseconds() > endedAt + 5000 { break }
      if milliseconds() >= lookAt {
        last = QueuedJob(of: job, in: call(Self.look, "", 30_000).output) ?? last
        if last?.isLive == false, endedAt == nil { endedAt = milliseconds() }
        if let last, last.isStuck { return [stuck(last)] }
        lookAt = milliseconds() + 2000
      }
      usleep(100_000)
    }
    if endedAt != nil {
      let node = last?.node.map { " on \(quoted($0))" } ?? ""
      return [
        Finding(
          "shared directory", .failed,
          "job \(job) has ended\(node), but its file is not visible in \(quoted(folder))",
          help:
            "the state directory and the files of steps must be on a file system that all nodes share; "
            + "name another directory with --state-dir")
      ]
    }
    _ = call(["scancel", "--quiet", job], "", 10_000)
    return [
      Finding(
        "job", .warning,
        "job \(job) has not run within \(seconds) s"
          + (last.map { ": \(printable($0.reason))" } ?? ""),
        help:
          "the job was cancelled; try again when the cluster has room, or name another partition after '--'"
      )
    ]
  }

  private func stuck(_ job: QueuedJob) -> Finding {
    _ = call(["scancel", "--quiet", job.id], "", 10_000)
    return Finding(
      "job", .failed,
      "job \(job.id) waited for a reason that does not go away by itself: \(printable(job.reason))",
      help: "the job was cancelled; ask for less, or for something else, after '--'")
  }

  static func findings(_ job: String, _ text: String, between first: Int, and last: Int)
    -> [Finding]
  {
    var values: [Substring: Substring] = [:]
    for line in text.split(separator: "\n") {
      guard let sign = line.firstIndex(of: "=") else { continue }
      values[line[..<sign]] = line[line.index(after: sign)...]
    }
    let node = quoted(String(values["host"] ?? ""))
    var findings = [
      Finding("job", .ok, "job \(job) ran on \(node)"),
      Finding("shared directory", .ok, "\(node) sees it"),
    ]
    let version = values["version"] ?? ""
    findings.append(
      version.hasPrefix("oprun")
        ? Finding("program", .ok, "oprun starts there")
        : Finding(
          "program", .failed, "oprun does not start on \(node): \(printable(String(version)))",
          help:
            "nodes need the same processor architecture as this machine, and may execute files in the state "
            + "directory"))
    let clock = values["time"].flatMap { Int($0) } ?? first
    let skew = clock < first ? clock - first : max(0, clock - last)
    findings.append(
      abs(skew) <= 2
        ? Finding("clocks", .ok, "the clocks of \(node) and this machine agree")
        : Finding(
          "clocks", .warning,
          "the clock of \(node) is \(abs(skew)) s \(skew < 0 ? "behind" : "ahead")",
          help:
            "times in listings and of files will disagree; ask the administrators of the cluster"))
    return findings
  }

  private static func text(of path: String) -> String? {
    let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    guard let bytes = readToEnd(file), !bytes.isEmpty else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension QueuedJob {
  /// The job of this number in a listing; nil if it is not in it.
  init?(of job: String, in listing: String) {
    for line in listing.split(separator: "\n") {
      let fields = line.split(separator: "|", maxSplits: 5, omittingEmptySubsequences: false)
      guard fields.count == 6, fields[0] == job[...] else { continue }
      self.init(
        id: job, state: State(fields[2].prefix { $0 != " " }), reason: String(fields[3]),
        node: fields[4].isEmpty ? nil : String(fields[4]))
      return
    }
    return nil
  }
}

private func milliseconds() -> Int { Int(monotonicTime() / 1_000_000) }
