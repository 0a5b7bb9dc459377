// What is noted when tasks have ended: in the journal of this run, and in that of the run whose files they used. Files
// that nobody needs any more are removed, because they hold secrets.

import Diagnostics
import Masking
import Running
import Scheduling

extension SlurmExecutor {
  func decided(_ operation: OperationID, of step: String?) {
    if let numbers = endedTasks.removeValue(forKey: operation) { endedNumbers += numbers }
    guard !adoptable.isEmpty, let step else { return }
    for name in [step, JournalEntry.hidden(step)] { dropResults(of: name) }
  }

  /// What earlier runs have started, and the step did not need: nobody looks for its results any more.
  private func dropResults(of step: String) {
    guard let known = adoptable.removeValue(forKey: step) else { return }
    let open = known.filter { task in
      // If it cannot be read, a job may go on.
      guard let files = try? NodeFiles.find(in: task.origin.folder) else { return true }
      return (try? files.openTasks().contains(task.origin.number)) ?? true
    }
    if !open.isEmpty { adoptable[step] = open }
    let numbers = Set(open.map(\.number))
    endedNumbers += known.map(\.number).filter { !numbers.contains($0) }
  }

  /// A task that has ended is not looked for again. What has ended before that is recorded is in the journal as if it
  /// went on: who resumes the run finds its result.
  func kept() {
    if endedNumbers.isEmpty { return }
    let numbers = endedNumbers
    endedNumbers = []
    var earlier: Set<EndedHome> = []
    for number in numbers {
      keep { journal throws(SystemError) in try journal.noteEnd(of: number) }
      home?.files.remove(.tasks, String(number))
      guard let origin = origins.removeValue(forKey: number) else { continue }
      noteEnd(at: origin)
      earlier.insert(EndedHome(folder: origin.folder, run: origin.run))
    }
    if hasGivenUp { return }
    for home in earlier where !origins.values.contains(where: { $0.folder == home.folder }) {
      EarlierJobs(runID: home.run, folder: home.folder).removeFilesIfDone()
    }
  }

  /// A home that is gone needs no note.
  private func noteEnd(at origin: JournalEntry.Origin) {
    guard let files = try? NodeFiles.find(in: origin.folder) else { return }
    try? SlurmJournal(in: files.path).noteEnd(of: origin.number)
    files.remove(.tasks, String(origin.number))
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
