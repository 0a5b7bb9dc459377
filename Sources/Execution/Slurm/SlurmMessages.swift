// The messages about jobs.

import Diagnostics

enum SlurmMessage {
  static func refused(_ sentence: String) -> String {
    "Slurm refuses the job: \(printable(sentence))"
  }

  static func mustWait(_ step: String, _ sentence: String) -> String {
    "\(quoted(step)) is submitted later: \(printable(sentence))"
  }

  static func again(_ step: String, _ reason: String) -> String {
    "\(quoted(step)) is submitted again: \(printable(reason))"
  }

  static func away(_ sentence: String) -> String {
    let words = sentence.isEmpty ? "" : " (\(printable(sentence)))"
    return "Slurm does not answer\(words): jobs continue, and the run waits"
  }

  static func cannotList(_ message: String) -> String {
    "\(message): results are looked for again, and the run waits"
  }

  static let back = "Slurm answers again"

  static func stuck(_ step: String, _ job: QueuedJob, count: Int) -> String {
    let others = count == 2 ? "1 other wait" : "\(count - 1) others wait"
    return
      "\(quoted(step)) \(count == 1 ? "waits" : "and \(others)") in Slurm for a reason that does not go "
      + "away by itself: \(printable(job.reason)) (job \(job.id))"
  }

  static func nodeFailed(_ job: QueuedJob) -> String {
    job.node.map { "node \(printable($0)) failed" } ?? "the node of job \(job.id) failed"
  }

  static func cancelledOutside(_ job: QueuedJob?) -> String {
    job.map { "job \($0.id) was cancelled outside of oprun" }
      ?? "its job was cancelled outside of oprun"
  }

  static func timeLimit(_ job: QueuedJob) -> String {
    "job \(job.id) reached Slurm's time limit"
  }

  static func outOfMemory(_ job: QueuedJob) -> String { "job \(job.id) ran out of memory" }

  /// `words` are the last line that the job has printed.
  static func noResult(_ job: QueuedJob, _ words: String) -> String {
    "job \(job.id) ended without a result"
      + (words.isEmpty ? "" : ": \(shortened(withoutHidden(words), to: 300))")
  }

  static func vanished(_ job: String?) -> String {
    job.map { "Slurm no longer knows job \($0), which has left no result" }
      ?? "Slurm knows no job of this step, which has left no result"
  }

  static func notShared(_ job: QueuedJob, _ folder: String) -> String {
    "job \(job.id) ended without a result\(job.node.map { " on \(printable($0))" } ?? ""): "
      + "\(quoted(folder)) must be on a file system that all nodes share"
  }

  static func notEnded(_ step: String, _ job: String) -> String {
    "job \(job) of \(quoted(step)) was cancelled, and has not ended yet"
  }

  static func notCancelled(_ step: String, _ job: String) -> String {
    "Slurm did not hear that job \(job) of \(quoted(step)) is to end: it may go on"
  }

  static func waitsForEarlier(_ step: String, _ job: String) -> String {
    "\(named(step: step)) waits for the end of job \(job), which an earlier run has started with what has changed since"
  }

  static func unknownHolder(_ words: String) -> String {
    "Slurm knows no job of this step, and whether one has begun is unknown: \(words)"
  }

  static func leftBehind(_ count: Int) -> String {
    let jobs = count == 1 ? "1 job continues" : "\(count) jobs continue"
    return "\(jobs) in Slurm: 'oprun resume' waits for the results"
  }

  static func left(_ count: Int, to run: String) -> String {
    count == 1
      ? "1 job continues in Slurm, and belongs to run \(run) now"
      : "\(count) jobs continue in Slurm, and belong to run \(run) now"
  }

  /// `job` is that of an earlier run, if it is known.
  static func notNeeded(_ step: String, _ job: String?) -> String {
    "\(named(job)) of \(named(step: step)), which does not run, is cancelled"
  }

  private static func named(_ job: String?) -> String { job.map { "job \($0)" } ?? "a job" }

  private static func named(step: String) -> String {
    step.hasPrefix("#") ? "a step" : quoted(step)
  }

  /// `steps` did not run, and have jobs of an earlier run, which are named if they are known.
  static func unclaimed(_ steps: [(step: String, job: String?)], _ run: String) -> String {
    let names = steps.map { named(step: $0.step) }
    guard steps.count > 1 else {
      return
        "\(named(steps[0].job)) of \(names[0]), which did not run, may go on: 'oprun cancel \(run)' ends it"
    }
    return
      "jobs of steps that did not run may go on (\(firstNames(of: names, most: 3))): "
      + "'oprun cancel \(run)' ends them"
  }

  static func unawaited(_ count: Int) -> String {
    let words =
      count == 1 ? "1 job is to end, and is" : "\(count) jobs are to end, and are"
    return "\(words) not waited for: 'oprun resume' does that"
  }
}
