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
    ends.decide(operation)
    if let step { earlier.noteUnneeded(step) }
  }

  func conclude() {
    var homes = OpenTasks()
    let steps = earlier.steps.compactMap { tasks -> (step: String, job: String?)? in
      let open = tasks.last { homes.mayHave($0.origin) }
      return open.map { ($0.entry.step, $0.entry.job) }
    }
    if steps.isEmpty { return }
    news.append(.event(.notice(SlurmMessage.unclaimed(steps, parts.runID))))
  }

  /// A task that has ended is not looked for again. What has ended before that is recorded is in the journal as if it
  /// went on: who resumes the run finds its result.
  func recorded() {
    // What earlier runs have started, and steps did not need that have succeeded: nobody looks for its results any more.
    var homes = OpenTasks()
    ends.addDecided(earlier.dropUnneeded { homes.mayHave($0.origin) })
    let numbers = ends.takeDecided()
    if numbers.isEmpty { return }
    var endedHomes: Set<EndedHome> = []
    for number in numbers {
      keep { journal throws(SystemError) in try journal.noteEnd(of: number) }
      home?.files.remove(.tasks, String(number))
      guard let files = earlier.removeFiles(of: number) else { continue }
      noteEnd(at: files.origin)
      for log in files.broughtLogs { unlink(log) }
      endedHomes.insert(EndedHome(folder: files.origin.folder, run: files.origin.run))
    }
    if hasGivenUp { return }
    for home in endedHomes where !earlier.hasFiles(in: home.folder) {
      EarlierJobs(runID: home.run, folder: home.folder).removeFilesIfDone()
    }
    // It may only have waited for what another one had begun.
    if !endedHomes.isEmpty { parts.earlier?.removeFilesIfDone() }
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
