// What a run has given to Slurm and has not seen the end of, as its files say: for those who resume the run, cancel it or
// want to remove it. It asks Slurm nothing.

package import Diagnostics
import Glibc

/// A run that is over, whose jobs may go on.
package struct EarlierJobs: Sendable {
  package let runID: String
  /// Its directory.
  package let folder: String

  package init(runID: String, folder: String) {
    self.runID = runID
    self.folder = folder
  }

  /// Whether it has given something to Slurm whose end nobody has recorded.
  package func isOpen() throws(SystemError) -> Bool { !(try openEntries().isEmpty) }

  /// The steps of these things, and for each one the runs that have given them to Slurm: that one, or others before.
  package func openSteps() throws(SystemError) -> [String: Set<String>] {
    var steps: [String: Set<String>] = [:]
    for entry in try openEntries().values {
      steps[entry.step, default: []].insert(entry.origin?.run ?? runID)
    }
    return steps
  }

  /// Whether jobs of it may be there: something that is open has left no result. True if that is unknown.
  package var mayHaveJobs: Bool {
    do throws(SystemError) {
      var tasks: [String: Set<Int>] = [:]
      for origin in try openEntries().values.compactMap(\.origin) {
        if tasks[origin.folder] == nil {
          let files = try NodeFiles.find(in: origin.folder)
          tasks[origin.folder] = Set(try files?.openTasks() ?? [])
        }
        if tasks[origin.folder]?.contains(origin.number) == true { return true }
      }
      return false
    } catch {
      return true
    }
  }

  /// The entries of its journal that are open, each with its origin.
  func openEntries() throws(SystemError) -> [Int: JournalEntry] {
    var homes: [String: [Int: JournalEntry]] = [:]
    var open: [Int: JournalEntry] = [:]
    for (number, known) in try SlurmJournal.entries(in: "\(folder)/\(NodeFiles.folderName)")
    where !known.hasEnded {
      var entry = known
      if let origin = known.origin?.found(beside: folder) {
        // Of runs that have taken a task over one after another, the last one notes its end there, too.
        if homes[origin.folder] == nil {
          homes[origin.folder] = try SlurmJournal.entries(
            in: "\(origin.folder)/\(NodeFiles.folderName)")
        }
        guard let entries = homes[origin.folder], !entries.isEmpty,
          entries[origin.number]?.hasEnded != true
        else { continue }
        entry.origin = origin
      } else {
        entry.origin = JournalEntry.Origin(folder: folder, run: runID, number: number)
      }
      open[number] = entry
    }
    return open
  }

  /// Removes its files for nodes, which hold secrets, if nothing of it is open.
  package func removeFilesIfDone() {
    if (try? isOpen()) == false { NodeFiles.remove(in: folder) }
  }

  /// The same with an absolute path.
  func absolute(in workspace: String) -> EarlierJobs {
    folder.hasPrefix("/") ? self : EarlierJobs(runID: runID, folder: "\(workspace)/\(folder)")
  }
}

extension JournalEntry.Origin {
  /// The same, where it is now: the directories of runs are side by side, whatever path led there when it was written.
  fileprivate func found(beside other: String) -> JournalEntry.Origin {
    guard let slash = other.lastIndex(of: "/") else { return self }
    let place = "\(other[..<slash])/\(run)"
    return access("\(place)/\(NodeFiles.folderName)", F_OK) == 0
      ? JournalEntry.Origin(folder: place, run: run, number: number) : self
  }
}

extension NodeFiles {
  /// The tasks that have no result.
  func openTasks() throws(SystemError) -> [Int] {
    let tasks = try names(in: .tasks).compactMap { plainNumber($0) }
    let results = try results()
    let done = TaskStart.accepted(results: results, starts: try starts())
    return tasks.filter { done[$0] == nil }.sorted()
  }
}
