// What is noted when tasks have ended: in the journal of this run, and in that of the run whose files they used. Files
// that nobody needs any more are removed, because they hold secrets.

import Diagnostics
import Glibc
import Masking
import Plans
import Running
import Scheduling

extension SlurmExecutor {
  func decided(_ operation: OperationID, of step: String?) {
    if let numbers = endedTasks.removeValue(forKey: operation) { endedNumbers += numbers }
    guard !adoptable.isEmpty, let step else { return }
    unneeded += [step, JournalEntry.hidden(step)].filter { adoptable[$0] != nil }
  }

  /// What earlier runs have started, and steps did not need that have succeeded: nobody looks for its results any more.
  private func dropResults() {
    if unneeded.isEmpty { return }
    var homes = OpenTasks()
    for step in unneeded {
      guard let known = adoptable.removeValue(forKey: step) else { continue }
      let open = known.filter { homes.mayHave($0.origin) }
      if !open.isEmpty { adoptable[step] = open }
      let numbers = Set(open.map(\.number))
      endedNumbers += known.map(\.number).filter { !numbers.contains($0) }
    }
    unneeded = []
  }

  func conclude() {
    var homes = OpenTasks()
    let steps = adoptable.keys.sorted().compactMap {
      step -> (step: String, job: String?)? in
      let open = adoptable[step]?.last { homes.mayHave($0.origin) }
      return open.map { ($0.entry.step, $0.entry.job) }
    }
    if steps.isEmpty { return }
    news.append(.event(.notice(SlurmMessage.unclaimed(steps, parts.runID))))
  }

  /// A task that has ended is not looked for again. What has ended before that is recorded is in the journal as if it
  /// went on: who resumes the run finds its result.
  func kept() {
    dropResults()
    if endedNumbers.isEmpty { return }
    let numbers = endedNumbers
    endedNumbers = []
    var earlier: Set<EndedHome> = []
    for number in numbers {
      keep { journal throws(SystemError) in try journal.noteEnd(of: number) }
      home?.files.remove(.tasks, String(number))
      guard let origin = origins.removeValue(forKey: number) else { continue }
      noteEnd(at: origin)
      for log in broughtLogs.removeValue(forKey: number) ?? [] { unlink(log) }
      earlier.insert(EndedHome(folder: origin.folder, run: origin.run))
    }
    if hasGivenUp { return }
    for home in earlier where !origins.values.contains(where: { $0.folder == home.folder }) {
      EarlierJobs(runID: home.run, folder: home.folder).removeFilesIfDone()
    }
    // It may only have waited for what another one had begun.
    if !earlier.isEmpty { parts.earlier?.removeFilesIfDone() }
  }

  /// A home that is gone needs no note.
  func noteEnd(at origin: JournalEntry.Origin) {
    guard let files = try? NodeFiles.find(in: origin.folder) else { return }
    try? SlurmJournal(in: files.path).noteEnd(of: origin.number)
    files.remove(.tasks, String(origin.number))
  }
}

/// The tasks without a result in the homes of earlier runs, each of which is listed once.
struct OpenTasks {
  private var tasks: [String: Set<Int>?] = [:]

  /// If it cannot be read, a job may go on.
  mutating func mayHave(_ origin: JournalEntry.Origin) -> Bool {
    if tasks[origin.folder] == nil {
      let files = try? NodeFiles.find(in: origin.folder)
      tasks[origin.folder] = .some((try? files?.openTasks()).map { Set($0) })
    }
    return tasks[origin.folder].flatMap(\.self)?.contains(origin.number) ?? true
  }
}

private struct EndedHome: Hashable {
  let folder: String
  let run: String
}

extension SlurmParts {
  /// The id of a step as everybody may see it: that of an instance may contain a secret.
  func shownName(_ step: String, _ key: CommandKey) -> String {
    masker?.name(step, number: key.operation.index) ?? step
  }
}
