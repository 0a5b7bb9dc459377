// Work that runs that are over still have open with Slurm: jobs that go on, and results that no run
// has taken. Locks end with a process, and jobs do not, so this tells whether somebody still needs
// a directory, a lock or a step. Slurm is asked only whether all jobs continue.

import Diagnostics
import Glibc

/// The tasks that one run has given to Slurm, and whose end no run has recorded.
package struct OpenWork: Sendable {
  /// Why the open work cannot be known. It is then never taken for none: jobs might go on.
  package enum Unknown: Error, Hashable, Sendable {
    /// A file cannot be read; the string is the whole message.
    case unreadable(String)
    /// The directory is a copy of another one, to which the jobs belong.
    case copied(String)
    /// The files by which the jobs are found are gone.
    case lost(String)
  }

  /// One command that was given to Slurm.
  struct Task: Hashable, Sendable {
    let entry: JournalEntry
    /// The place of the task's files: in the directory of that run, or of one before.
    let origin: JournalEntry.Origin
  }

  package let run: EarlierJobs
  /// The entries, by their numbers in the journal of the run.
  let tasks: [Int: Task]

  /// Reads the files of a run. `hadJobs` is true if the run had jobs by its record, and no other
  /// run has taken them over: then files that are not there are missing.
  package init(of run: EarlierJobs, hadJobs: Bool = false) throws(Unknown) {
    self.run = run
    var reader = JournalReader(hadJobs: hadJobs)
    try reader.checkPlace(of: run.folder)
    var tasks: [Int: Task] = [:]
    for (number, entry) in try reader.entries(of: run.folder) where !entry.hasEnded {
      guard let origin = entry.origin?.found(beside: run.folder) else {
        let own = JournalEntry.Origin(folder: run.folder, run: run.runID, number: number)
        tasks[number] = Task(entry: entry, origin: own)
        continue
      }
      // When several runs have taken a task over one after another, the last one notes its end
      // there, too.
      let entries = try reader.entries(of: origin.folder)
      guard entries[origin.number]?.hasEnded == false else { continue }
      try reader.checkPlace(of: origin.folder)
      tasks[number] = Task(entry: entry, origin: origin)
    }
    self.tasks = tasks
  }

  package var isEmpty: Bool { tasks.isEmpty }

  /// The steps, and for each one the runs that have given it to Slurm: this one, or others before.
  package var steps: [String: Set<String>] {
    var steps: [String: Set<String>] = [:]
    for task in tasks.values { steps[task.entry.step, default: []].insert(task.origin.run) }
    return steps
  }

  /// The runs whose directories have files of open tasks.
  package var homes: Set<String> { Set(tasks.values.map(\.origin.run)) }

  /// True if the task with this number in the home of another run is among them.
  func has(_ number: Int, of run: String) -> Bool {
    tasks.values.contains { $0.origin.number == number && $0.origin.run == run }
  }

  /// True if there is a task that the other one does not know.
  package func hasMore(than other: OpenWork) -> Bool {
    let known = Set(other.tasks.values.map(\.origin.place))
    return tasks.values.contains { !known.contains($0.origin.place) }
  }

  /// The tasks without a result, by their numbers in the journal of the run: jobs of them may
  /// exist. Tasks whose results cannot be listed are among them.
  var unfinished: Set<Int> {
    var known: [String: Set<Int>?] = [:]
    var stopped: [String: Set<Int>] = [:]
    return Set(
      tasks.filter { _, task in
        let (folder, number) = (task.origin.folder, task.origin.number)
        if known[folder] == nil {
          known[folder] = .some(try? Set(NodeFiles.find(in: folder)?.openTasks() ?? []))
        }
        guard (known[folder] ?? nil)?.contains(number) ?? true else { return false }
        // A job that was asked to end, and notes that nothing of it is left, never has a result.
        guard task.entry.wasStopped else { return true }
        if stopped[folder] == nil {
          stopped[folder] = (try? NodeFiles.find(in: folder)?.stoppedTasks()) ?? []
        }
        return stopped[folder]?.contains(number) != true
      }.keys)
  }

  /// The steps of the unfinished tasks.
  package var unfinishedSteps: Set<String> { Set(unfinished.compactMap { tasks[$0]?.entry.step }) }

  /// True if jobs may go on.
  package var mayHaveJobs: Bool { !isEmpty && !unfinished.isEmpty }

  /// True if jobs may go on whose files are in the directory of this run.
  package var hasJobsAtHome: Bool {
    unfinished.contains { tasks[$0]?.origin.run == run.runID }
  }

  /// The number of jobs, if all go on; nil if one has ended or is to end, or if Slurm does not say.
  package func continuingJobs() -> Int? {
    guard !isEmpty, unfinished.count == tasks.count,
      !tasks.values.contains(where: \.entry.wasStopped)
    else {
      return nil
    }
    let queue = AbandonedWork.call(SlurmCommands.look.words, 30_000)
    guard queue.isSuccess, QueueListing.isListing(queue.output) else { return nil }
    for (folder, home) in Dictionary(grouping: tasks.values, by: \.origin.folder) {
      guard let files = try? NodeFiles.find(in: folder) else { return nil }
      let listing = QueueListing(queue.output, files.mark(of: home[0].origin.run))
      let areLive = home.allSatisfy {
        listing.job(of: $0.origin.number, known: $0.entry.job)?.isLive == true
      }
      if listing.isIncomplete || !areLive { return nil }
    }
    return tasks.count
  }

  // MARK: The end

  /// Notes that nobody is to take the results of these tasks any more. Files that nobody needs are removed.
  func noteEnds(of numbers: Set<Int>) {
    var done = [run.folder: run]
    for number in numbers.sorted() {
      guard let origin = tasks[number]?.origin else { continue }
      Self.note(number, in: run.folder)
      if origin.folder != run.folder { Self.note(origin.number, in: origin.folder) }
      done[origin.folder] = EarlierJobs(runID: origin.run, folder: origin.folder)
    }
    for run in done.values { run.removeFilesIfDone() }
  }

  /// Gives up all open tasks, and returns their number.
  package func giveUp() -> Int {
    noteEnds(of: Set(tasks.keys))
    return tasks.count
  }

  private static func note(_ number: Int, in folder: String) {
    guard let files = try? NodeFiles.find(in: folder),
      let journal = try? SlurmJournal(in: files.path)
    else { return }
    try? journal.noteEnd(of: number)
    try? journal.flush()
    files.remove(.tasks, String(number))
  }
}

extension OpenWork.Unknown {
  /// A sentence that ends with what is unknown.
  package func message(of run: String) -> String {
    let words = "what run \(run) has left in Slurm is unknown"
    switch self {
    case .unreadable(let message): return "\(message): \(words)"
    case .copied(let place):
      return
        "\(quoted(place)) is a copy: the jobs of run \(run) belong to the directory that it was copied from"
    case .lost(let place): return "\(quoted(place)) is gone: \(words)"
    }
  }

  /// The help for this failure; nil if there is none.
  package func help(for run: String) -> String? {
    switch self {
    case .unreadable: nil
    case .copied: "'oprun cancel \(run)' forgets them here, and ends none of them"
    case .lost: "'oprun cancel \(run)' ends what Slurm still has of it"
    }
  }
}

extension JournalEntry.Origin {
  /// Identifies the task, whatever path leads there.
  fileprivate var place: [String] { [run, String(number)] }

  /// The same task, where its files are now: the directories of runs are side by side, whatever path was written.
  fileprivate func found(beside other: String) -> JournalEntry.Origin {
    guard let slash = other.lastIndex(of: "/") else { return self }
    let place = "\(other[..<slash])/\(run)"
    return access("\(place)/\(NodeFiles.folderName)", F_OK) == 0
      ? JournalEntry.Origin(folder: place, run: run, number: number) : self
  }
}

/// Reads the journals of several runs, each once.
private struct JournalReader {
  let hadJobs: Bool
  private var known: [String: [Int: JournalEntry]] = [:]

  init(hadJobs: Bool) { self.hadJobs = hadJobs }

  /// The entries of the journal in the directory of a run; none if it has no journal. Throws if it should have one.
  mutating func entries(of folder: String) throws(OpenWork.Unknown) -> [Int: JournalEntry] {
    if let entries = known[folder] { return entries }
    let place = "\(folder)/\(NodeFiles.folderName)"
    let entries: [Int: JournalEntry]
    do throws(SystemError) {
      entries = try SlurmJournal.entries(in: place)
    } catch {
      throw .unreadable(error.message)
    }
    if hadJobs, entries.isEmpty, !EarlierJobs.isSettled(folder),
      access("\(place)/\(SlurmJournal.name)", F_OK) != 0
    {
      throw .lost(place)
    }
    known[folder] = entries
    return entries
  }

  /// Throws if the directory of a run is a copy.
  func checkPlace(of folder: String) throws(OpenWork.Unknown) {
    if let files = try? NodeFiles.find(in: folder), files.isCopy { throw .copied(files.path) }
  }
}
