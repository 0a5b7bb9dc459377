// The files of a run that is over, by which its jobs are found. `OpenWork` knows which of them are
// open.

import Diagnostics
import Glibc

/// A run that is over, whose jobs may go on.
package struct EarlierJobs: Hashable, Sendable {
  package let runID: String
  /// The directory of the run.
  package let folder: String

  package init(runID: String, folder: String) {
    self.runID = runID
    self.folder = folder
  }

  /// Removes the run's files for nodes, which hold secrets, if no work of the run is open.
  package func removeFilesIfDone() {
    guard access("\(folder)/\(NodeFiles.folderName)", F_OK) == 0,
      (try? OpenWork(of: self))?.isEmpty == true
    else { return }
    settle()
  }

  /// Notes that no work of the run is open, and removes its files for nodes. Without the note,
  /// nobody could tell later whether the files were removed or lost.
  package func settle() {
    let file = open(
      "\(folder)/\(Self.settledName)", O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    if file >= 0 { close(file) }
    NodeFiles.remove(in: folder)
  }

  /// The name of an empty file in the directory of a run; no step can have it.
  private static let settledName = "@settled"

  /// True if the run in this directory was noted to have no open work.
  static func isSettled(_ folder: String) -> Bool {
    access("\(folder)/\(settledName)", F_OK) == 0
  }

  /// The same with an absolute path.
  func absolute(in workspace: String) -> EarlierJobs {
    folder.hasPrefix("/") ? self : EarlierJobs(runID: runID, folder: "\(workspace)/\(folder)")
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

  /// The tasks whose last start was ended from outside, and of which nothing is left.
  func stoppedTasks() throws(SystemError) -> Set<Int> {
    // Listed before the starts: another one could begin in between.
    let stops = try stops()
    return stops.isEmpty ? [] : Set(TaskStart.accepted(results: stops, starts: try starts()).keys)
  }
}
