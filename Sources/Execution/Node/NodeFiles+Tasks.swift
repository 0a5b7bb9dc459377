// The meaning of the files of nodes: tasks, the jobs that they belong to, and which of their starts
// count. docs/design-execution.md, “Nodes”.

import Caching
import Diagnostics
import Plans

/// One start of a task. A job that Slurm starts again, after a node has failed for example, starts its
/// tasks again, with a higher number.
struct TaskStart: Hashable, Comparable, Sendable {
  let task: Int
  /// The number of times that Slurm had started the job before: `SLURM_RESTART_COUNT`.
  let restart: Int

  init(task: Int, restart: Int) {
    self.task = task
    self.restart = restart
  }

  /// Parses the name of a file; nil if it is not the name of a start.
  init?(name: String) {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let task = plainNumber(parts[0]), let restart = plainNumber(parts[1])
    else { return nil }
    self.init(task: task, restart: restart)
  }

  var name: String { "\(task).\(restart)" }

  static func < (left: TaskStart, right: TaskStart) -> Bool {
    (left.task, left.restart) < (right.task, right.restart)
  }

  /// The starts whose results count, by task: only the result of the newest start of a task does, because
  /// an older one may have run on for a while.
  ///
  /// `results` must have been listed before `starts`: otherwise a start could begin in between.
  static func accepted(results: [TaskStart], starts: [TaskStart]) -> [Int: TaskStart] {
    var newest: [Int: Int] = [:]
    for start in starts { newest[start.task] = max(start.restart, newest[start.task] ?? 0) }
    var accepted: [Int: TaskStart] = [:]
    for result in results where result.restart >= newest[result.task] ?? 0 {
      if let known = accepted[result.task], known.restart > result.restart { continue }
      accepted[result.task] = result
    }
    return accepted
  }
}

/// A number as oprun writes it: without a sign, or zeros in front.
func plainNumber(_ text: some StringProtocol) -> Int? {
  guard let number = Int(text), number >= 0, String(number) == text else { return nil }
  return number
}

/// Why a file of a node cannot be used.
struct NodeFailure: Error, Hashable {
  let message: String
  /// True if the task was started in a way in which oprun starts none.
  var isUsage = false

  init(_ message: String) { self.message = message }

  init(_ error: SystemError) { message = error.message }

  static func usage(_ message: String) -> NodeFailure {
    var failure = NodeFailure(message)
    failure.isUsage = true
    return failure
  }
}

extension NodeFiles {
  // MARK: Tasks

  /// Writes a task, before it is submitted. There may be a thousand at a time, so nobody waits
  /// until each is on disk: files that are missing after a power failure are written again by the
  /// run that is resumed.
  func write(_ task: TaskFile, number: Int) throws(SystemError) {
    try write(task.encoded, to: .tasks, String(number), isKept: false)
  }

  func task(_ number: Int) throws(NodeFailure) -> TaskFile {
    let name = String(number)
    guard let bytes = try read(.tasks, name) else {
      throw NodeFailure("task \(quoted(shown(.tasks, name))) does not exist")
    }
    do throws(ByteReadFailure) {
      return try TaskFile(decoding: bytes)
    } catch {
      throw damaged(.tasks, name)
    }
  }

  // MARK: Claims

  /// The content of the claim of a task that no job may begin with any more.
  static let nobody = "nobody"

  /// Claims a task for a job, permanently; returns the job that it belongs to, which may be another.
  func claim(_ task: Int, for job: String) throws(NodeFailure) -> String {
    do throws(SystemError) {
      if try publish(Array(job.utf8), as: .claims, String(task)) { return job }
    } catch {
      throw NodeFailure(error)
    }
    return try claim(of: task) ?? ""
  }

  /// The job that a task belongs to; nil if no job has begun with it.
  func claim(of task: Int) throws(NodeFailure) -> String? {
    try read(.claims, String(task)).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The tasks that belong to a job.
  func claims() throws(SystemError) -> Set<Int> {
    Set(try names(in: .claims).compactMap { plainNumber($0) })
  }

  // MARK: Starts

  /// Notes for people where a start begins; false if it has begun before.
  func begin(_ start: TaskStart, at place: TaskOrigin) throws(SystemError) -> Bool {
    let note =
      "host=\(place.host)\npid=\(place.processID)\njob=\(place.job)\nbegan=\(place.began)\n"
    return try publish(Array(note.utf8), as: .starts, start.name)
  }

  func starts() throws(SystemError) -> [TaskStart] {
    try names(in: .starts).compactMap { TaskStart(name: $0) }
  }

  /// The number of restarts that are looked at before one; Slurm counts them up, one after another.
  private static let reach = 64

  /// True if a newer start of the same task has begun.
  func isSuperseded(_ start: TaskStart) -> Bool {
    let next = start.restart + 1
    return (next..<next + 8).contains { restart in
      exists(.starts, TaskStart(task: start.task, restart: restart).name)
    }
  }

  // MARK: Outputs

  /// The file that `OPRUN_OUTPUT` names in a start, in the directory of the run. Starts do not
  /// share one: an earlier start of the same command, also as another task, may still be running on
  /// a node that Slurm has lost sight of.
  func outputsPlace(of start: TaskStart) throws(SystemError) -> String {
    try Self.makeFolder("\(path)/outputs")
    return "\(Self.folderName)/outputs/\(start.name)"
  }

  // MARK: Results

  func result(of start: TaskStart) throws(NodeFailure) -> TaskResult? {
    guard let bytes = try read(.results, start.name) else { return nil }
    do throws(ByteReadFailure) {
      return try TaskResult(decoding: bytes)
    } catch {
      throw damaged(.results, start.name)
    }
  }

  func results() throws(SystemError) -> [TaskStart] {
    try names(in: .results).compactMap { TaskStart(name: $0) }
  }

  /// The newest result of an earlier start of the task; nil if there is none.
  func resultBefore(_ start: TaskStart) throws(NodeFailure) -> TaskResult? {
    for restart in (max(0, start.restart - Self.reach)..<start.restart).reversed() {
      if let known = try result(of: TaskStart(task: start.task, restart: restart)) { return known }
    }
    return nil
  }

  // MARK: Stops

  /// Notes that a start was ended from outside and none of its processes is left.
  func noteStop(of start: TaskStart) throws(SystemError) {
    _ = try publish([], as: .stops, start.name)
  }

  func stops() throws(SystemError) -> [TaskStart] {
    try names(in: .stops).compactMap { TaskStart(name: $0) }
  }

  private func read(_ folder: Folder, _ name: String) throws(NodeFailure) -> [UInt8]? {
    do throws(SystemError) {
      return try content(of: folder, name)
    } catch {
      throw NodeFailure(error)
    }
  }

  private func damaged(_ folder: Folder, _ name: String) -> NodeFailure {
    NodeFailure("\(quoted(shown(folder, name))) is damaged, or of another version of oprun")
  }
}
