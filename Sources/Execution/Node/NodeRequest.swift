// The request of a job of a cluster that starts a task: the words of the command line, and the
// variables that Slurm sets for it.

import Diagnostics
import Glibc

/// The task that is to run, and the job that it runs for.
struct NodeRequest {
  /// The directory of the run; absolute.
  let folder: String
  let task: Int
  /// The job, or the job and its step: `1234`, `1234_5` in an array, `1234.7`.
  let job: String
  let restart: Int
  let host: String

  var start: TaskStart { TaskStart(task: task, restart: restart) }

  func place(began: Int64) -> TaskOrigin {
    TaskOrigin(host: host, job: job, processID: getpid(), began: began)
  }

  /// Parses `RUN_DIRECTORY NUMBER`, or `RUN_DIRECTORY --array BASE`: then the job's number in its
  /// array is added to the base.
  init(
    _ words: [String], variable: (String) -> String? = { getenv($0).map { String(cString: $0) } }
  ) throws(NodeFailure) {
    let isInArray = words.count == 3 && words[1] == "--array"
    guard words.count == 2 || isInArray, let folder = words.first, folder.hasPrefix("/"),
      let last = words.last, let number = plainNumber(last)
    else { throw .usage("wanted '\(NodeTask.word) RUN_DIRECTORY NUMBER', which oprun writes") }
    func count(_ name: String) throws(NodeFailure) -> Int? {
      guard let text = variable(name) else { return nil }
      guard let number = plainNumber(text) else {
        throw .usage("\(name) is \(quoted(text)), wanted a number")
      }
      return number
    }
    guard let id = try count("SLURM_JOB_ID") else {
      throw .usage("this is not a Slurm job: SLURM_JOB_ID is not set")
    }
    var name = String(id)
    var task = number
    if isInArray {
      guard let index = try count("SLURM_ARRAY_TASK_ID") else {
        throw .usage("this is not a job of an array: SLURM_ARRAY_TASK_ID is not set")
      }
      let (sum, overflow) = number.addingReportingOverflow(index)
      if overflow { throw .usage("the number of the task is too large") }
      task = sum
      if let array = try count("SLURM_ARRAY_JOB_ID") { name = "\(array)_\(index)" }
    }
    self.folder = folder
    self.task = task
    restart = try count("SLURM_RESTART_COUNT") ?? 0
    let step = try count("SLURM_STEP_ID").flatMap { $0 < NodeRequest.firstSpecialStep ? $0 : nil }
    job = step.map { "\(id).\($0)" } ?? name
    host = variable("SLURMD_NODENAME") ?? NodeRequest.machineName()
  }

  /// The first of Slurm's special step numbers, such as that of the script of a job.
  private static let firstSpecialStep = 0xFFFF_FF00

  private static func machineName() -> String {
    var name = [CChar](repeating: 0, count: 256)
    gethostname(&name, name.count - 1)
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
