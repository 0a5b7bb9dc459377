// Tasks that earlier runs have given to Slurm, as long as they matter to this run.

import Running

/// A task that an earlier run has given to Slurm, and whose end it has not recorded.
struct AdoptableTask {
  let entry: JournalEntry
  /// The run to which the task's files belong.
  let origin: JournalEntry.Origin
  /// The number in the journal of this run.
  let number: Int

  /// True if the task runs the same as a command with this order and digest.
  func fits(_ order: SlurmOrder, _ digest: String) -> Bool {
    entry.digest == digest && !entry.wasStopped && !order.outdatedRuns.contains(origin.run)
  }
}

/// The tasks that earlier runs have left open. A task is adoptable until it is known whether its
/// step needs it; its files are known until its end is in the journal of this run.
struct EarlierTasks {
  /// The place of the files of a task.
  struct Files {
    let origin: JournalEntry.Origin
    /// The logs that were taken over: the earlier run has them, too, until the end of the task is recorded.
    var broughtLogs: [String] = []
  }

  /// The tasks by the names of their steps in the journal.
  private var adoptable: [String: [AdoptableTask]] = [:]
  /// The names of steps that have succeeded without their adoptable tasks, which is not recorded yet.
  private var unneeded: [String] = []
  /// The places of the files, by the numbers of the tasks in the journal of this run.
  private var files: [Int: Files] = [:]

  /// True if nothing is adoptable.
  var isEmpty: Bool { adoptable.isEmpty }

  /// The adoptable tasks, those of one step together.
  var steps: [[AdoptableTask]] { adoptable.sorted { $0.key < $1.key }.map(\.value) }

  mutating func add(_ task: AdoptableTask) {
    files[task.number] = Files(origin: task.origin)
    adoptable[task.entry.step, default: []].append(task)
  }

  /// Names under which a step may be noted: a value that is a secret now may not have been one then.
  private static func names(of step: String) -> [String] { [step, JournalEntry.hidden(step)] }

  /// The adoptable tasks of a step.
  subscript(_ step: String) -> [AdoptableTask] {
    adoptable.isEmpty ? [] : Self.names(of: step).flatMap { adoptable[$0] ?? [] }
  }

  /// Takes the adoptable tasks of a step, in the order of their numbers.
  mutating func take(_ step: String) -> [AdoptableTask] {
    defer { for name in Self.names(of: step) { adoptable[name] = nil } }
    return self[step].sorted { $0.number < $1.number }
  }

  mutating func putBack(_ tasks: [AdoptableTask], of step: String) { adoptable[step] = tasks }

  // MARK: Steps that need none

  mutating func noteUnneeded(_ step: String) {
    if adoptable.isEmpty { return }
    unneeded += Self.names(of: step).filter { adoptable[$0] != nil }
  }

  mutating func forgetUnneeded() { unneeded = [] }

  /// Drops the tasks of the steps that need none, except those that are open; returns their numbers.
  mutating func dropUnneeded(except isOpen: (AdoptableTask) -> Bool) -> [Int] {
    defer { unneeded = [] }
    return unneeded.flatMap { step -> [Int] in
      guard let tasks = adoptable.removeValue(forKey: step) else { return [] }
      let open = tasks.filter(isOpen)
      if !open.isEmpty { adoptable[step] = open }
      let kept = Set(open.map(\.number))
      return tasks.map(\.number).filter { !kept.contains($0) }
    }
  }

  // MARK: Files

  mutating func noteBroughtLog(_ path: String, of number: Int) {
    files[number]?.broughtLogs.append(path)
  }

  /// Forgets where the files of a task are; nil if it is one of this run.
  mutating func removeFiles(of number: Int) -> Files? { files.removeValue(forKey: number) }

  func hasFiles(in folder: String) -> Bool {
    files.values.contains { $0.origin.folder == folder }
  }
}
