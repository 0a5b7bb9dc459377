// Calls of Slurm: the words of its commands, and who makes them. docs/design-slurm.md

import Diagnostics
import Plans
import Scheduling

/// One call of a command of Slurm.
struct SlurmCall: Hashable {
  /// Calls of one channel follow each other. A submission that hangs does not hold up a look at the queue, and neither
  /// holds up the end of jobs.
  enum Channel: Int, CaseIterable {
    case submit, look, cancel
  }

  let words: [String]
  /// The standard input of the command.
  var input = ""
  /// The time after which the command is killed.
  let limit: Nanoseconds

  var channel: Channel {
    switch words[0].split(separator: "/").last {
    case "sbatch": .submit
    case "scancel": .cancel
    default: .look
    }
  }
}

/// The result of a call.
struct SlurmAnswer: Hashable {
  /// The exit status; nil if the command was killed when its time was over.
  let exitStatus: Int32?
  var output = ""
  var errors = ""
  /// Why the command could not be started.
  var refusal: String?
  var processorTime: Nanoseconds = 0

  var isSuccess: Bool { exitStatus == 0 && refusal == nil }

  /// True if the controller has received the cancellation: it may not know some of the jobs any
  /// more, or not let the user end them, and says so for each.
  var hasCancelled: Bool {
    if isSuccess { return true }
    guard exitStatus == 1 else { return false }
    let lines = errors.split(separator: "\n").map { String($0) }
    return lines.contains { $0.containsText("job id") }
      && !lines.contains { line in Submission.failuresToTalk.contains { line.containsText($0) } }
  }
}

/// Calls commands of Slurm beside the loop of a run. Tests have an implementation without processes.
protocol SlurmCaller: AnyObject {
  /// Calls as soon as the channel is free; the answer comes under this number.
  func begin(_ call: SlurmCall, number: Int, at now: Nanoseconds)
  /// Called when a descriptor that it watches is ready.
  func ready(_ number: Int)
  func takeAnswers(at now: Nanoseconds) -> [(number: Int, answer: SlurmAnswer)]
  /// When there may be an answer although no descriptor is ready.
  var deadline: Nanoseconds? { get }
  /// Ends every call, after those that cancel jobs, of which this is the last; nil for none. Waits
  /// for those for a few seconds.
  func close(after last: SlurmCall?)
}

/// The mark that tells the jobs of a run from all others: a word in their names and comments.
struct JobMark {
  /// The word before the number of a task.
  let prefix: String

  /// The word is that of the run's files: no two runs share it, and no path changes it.
  init(run: String, word: String) { prefix = "oprun:\(run)-\(word):" }

  func text(of task: Int) -> String { prefix + String(task) }
}

extension NodeFiles {
  /// The mark of jobs of a run whose files these are.
  func mark(of run: String) -> JobMark {
    // Older versions made the word from the path of the run's directory.
    JobMark(
      run: run,
      word: word ?? shortDigest(of: String(path.dropLast(NodeFiles.folderName.count + 1))))
  }
}

/// The words of the commands.
struct SlurmCommands {
  let mark: JobMark
  /// The directory for what Slurm itself prints about jobs.
  let jobsFolder: String
  /// The directory in which jobs begin.
  let workspace: String

  static let second: Nanoseconds = 1_000_000_000

  /// The submission of tasks; `script` is what their jobs run.
  func submission(
    of batch: SlurmBatch, _ request: SlurmRequest, nice: Int, script: String
  ) -> SlurmCall {
    let mark = mark.text(of: batch.base)
    let file = Self.outputName(base: batch.base, index: batch.isArray ? "%a" : nil)
    // Slurm removes backslashes, and then replaces nothing in the path.
    let output =
      jobsFolder.contains("\\") ? "/dev/null" : "\(Self.escaped(jobsFolder))/\(file)"
    var words = [
      "sbatch", "--parsable", "--job-name=\(Self.jobName(batch.name)).\(mark)",
      "--comment=\(mark)", "--open-mode=append", "--input=/dev/null",
      "--output=\(output)", "--chdir=\(workspace)", "--export=ALL",
    ]
    if batch.isArray { words.append("--array=\(batch.indices)") }
    if nice > 0 { words.append("--nice=\(nice)") }
    words += request.options
    return SlurmCall(words: words, input: script, limit: 60 * Self.second)
  }

  /// The file in the folder `jobs` for what a job prints outside of its command; `index` is its number in an array.
  static func outputName(base: Int, index: String?) -> String {
    "\(base)\(index.map { ".\($0)" } ?? "").out"
  }

  /// A look at all jobs of the user, also in partitions that are hidden from the user, with one
  /// line for the pending jobs of an array. Names come last, because they may contain anything. The
  /// titles show that the output is a listing.
  static let look = SlurmCall(
    words: ["squeue", "--states=all", "--all", "--me", "--format=%F|%K|%T|%r|%N|%j|%k"],
    limit: 30 * second)

  /// The steps of all jobs of the user that go on, with their names.
  static let steps = ["squeue", "--steps", "--all", "--me", "--noheader", "--format=%i|%j"]

  /// Keeps Slurm from cutting off the numbers of an array.
  static let lookVariable = "SLURM_BITSTR_LEN=0"

  static func cancellation(of jobs: [String]) -> SlurmCall {
    SlurmCall(words: ["scancel", "--quiet"] + JobName.words(for: jobs), limit: 60 * second)
  }

  static func kill(_ jobs: [String]) -> SlurmCall {
    SlurmCall(
      words: ["scancel", "--quiet", "--full", "--signal=KILL"] + JobName.words(for: jobs),
      limit: 10 * second)
  }

  static func immediateStart(of jobs: [String]) -> SlurmCall {
    SlurmCall(
      words: ["scontrol", "update", "JobId=\(jobs.joined(separator: ","))", "StartTime=now"],
      limit: 10 * second)
  }

  /// The largest number of jobs that one call names.
  static let jobsPerCall = 500

  /// The script of jobs: each finds the number of its task.
  static func script(program: String, folder: String, _ batch: SlurmBatch) -> String {
    "#!/bin/sh\nexec \(shellWord(program)) __task \(shellWord(folder)) "
      + "\(batch.isArray ? "--array " : "")\(batch.base)\n"
  }

  /// The name of a job. Characters with a meaning for Slurm or terminals are replaced.
  static func jobName(_ step: String) -> String {
    let allowed = Set("._-=,@+[]:")
    let name = step.prefix(80).map { character in
      character.isASCII && (character.isLetter || character.isNumber) || allowed.contains(character)
        ? character : "_"
    }
    return String(name)
  }

  /// Slurm replaces `%` and a letter in the names of files.
  private static func escaped(_ path: String) -> String {
    path.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%")
  }
}

/// A word as a shell reads it.
func shellWord(_ text: String) -> String {
  "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#)
    + "'"
}

/// The last line that a command of Slurm printed, without the command's name. Hints and decoration
/// are skipped, and so is an unspecified error after another line: a site's own rules speak before
/// it.
func slurmSentence(_ text: String) -> String {
  let lines = text.split(separator: "\n").filter {
    !$0.hasPrefix("Try \"") && !$0.hasPrefix("**")
  }.map { line in
    ["error: ", "sbatch: ", "squeue: ", "scancel: ", "slurm_load_jobs "].reduce(Substring(line)) {
      $1 == "error: " ? $0 : $0.hasPrefix($1) ? $0.dropFirst($1.count) : $0
    }
  }
  let isVague = lines.count > 1 && lines.last?.hasSuffix("Unspecified error") == true
  let words = (isVague ? lines.dropLast() : lines[...]).last ?? ""
  return String(words.hasPrefix("error: ") ? words.dropFirst(7) : words)
}

/// True if Slurm has as many jobs as it may, and `sbatch` repeats the submission for two minutes by
/// itself: with the same array, which may never fit.
func isSbatchWaiting(_ errors: String) -> Bool {
  errors.containsText("Slurm temporarily unable to accept job")
}

/// The meaning of an answer to a submission.
enum Submission: Hashable {
  /// The job has this number.
  case accepted(String)
  /// Slurm will not take the job; the string is its own sentence.
  case refused(String)
  /// Slurm takes no array like this one; the string is its own sentence.
  case arrayRefused(String)
  /// The user has too many jobs: this one can be taken later.
  case tooMany(String)
  /// The job may have been taken or not.
  case unknown(String)
  /// `sbatch` has failed with a sentence that is not known. The job may have been taken, but that is unlikely.
  case unclear(String)

  /// True if the same jobs are to be submitted again, in some way.
  var isForLater: Bool {
    switch self {
    case .arrayRefused, .tooMany: true
    case .accepted, .refused, .unknown, .unclear: false
    }
  }

  init(_ answer: SlurmAnswer) {
    if let refusal = answer.refusal {
      self = .refused(refusal)
      return
    }
    // The name of a cluster may follow.
    let job = answer.output.split(separator: "\n").last?.prefix { $0 != ";" } ?? ""
    guard answer.exitStatus != 0 || plainNumber(job) == nil else {
      self = .accepted(String(job))
      return
    }
    let sentence = slurmSentence(answer.errors)
    if answer.exitStatus == nil {
      self = .unknown("sbatch did not answer")
    } else if answer.errors.containsText("Invalid job array specification") {
      self = .arrayRefused(sentence)
    } else if isSbatchWaiting(answer.errors) {
      self = .tooMany("Slurm accepts no more jobs at present (MaxJobCount)")
    } else if Self.limits.contains(where: { answer.errors.containsText($0) }) {
      self = .tooMany(sentence)
    } else if answer.exitStatus != 0,
      Self.refusals.contains(where: { answer.errors.containsText($0) })
    {
      self = .refused(sentence)
    } else if sentence.isEmpty {
      self = .unknown("sbatch said nothing")
    } else if answer.exitStatus == 0
      || Self.failuresToTalk.contains(where: { answer.errors.containsText($0) })
    {
      self = .unknown(sentence)
    } else {
      self = .unclear(sentence)
    }
  }

  /// Sentences of Slurm after which nobody knows what its controller has heard.
  fileprivate static let failuresToTalk = [
    "Unable to contact", "Zero Bytes", "timed out", "Connection", "connect", "ommunication",
    "Transport endpoint", "standby mode", "temporarily unavailable", "essage receive failure",
    "essage send failure", "Resource temporarily", "Protocol authentication",
  ]

  private static let limits = [
    "MaxSubmitJob", "GrpSubmitJob", "job submit limit reached",
  ]

  /// Sentences of Slurm after which no job exists, and none will.
  private static let refusals = [
    "Invalid ", "invalid ", "Requested node configuration is not available",
    "Memory specification can not be satisfied", "Access/permission denied",
    "Job violates accounting/QOS policy", "Requested time limit is invalid",
    "More processors requested than permitted", "not permitted to use",
    "Requested partition configuration not available", "unrecognized option",
    "Unable to allocate resources: Invalid", "Requested operation not supported",
    "Job dependency problem", "ambiguous", "requires an argument",
    "Requested reservation", "Could not establish a configuration source",
  ]
}
