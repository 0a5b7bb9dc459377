// Removes directories that commands have filled: small ones at once, others beside the loop.

import Glibc
import Processes
import RunFiles

final class FolderRemovals {
  private let own: OwnProcesses
  private var removing: [Int32] = []
  private var count = 0

  /// How many files are removed at once: some milliseconds.
  private static let mostAtOnce = 500

  init(own: OwnProcesses) { self.own = own }

  /// Removes a directory with everything in it. What cannot be removed stays.
  func remove(_ name: String, in directory: RunDirectory) {
    if directory.removeFolder(name, atMost: FolderRemovals.mostAtOnce) { return }
    // The next attempt of the step makes a directory of this name.
    count += 1
    let doomed = "@removed.\(count)"
    guard renameat(directory.descriptor, name, directory.descriptor, doomed) == 0 else {
      directory.removeFolder(name)
      return
    }
    let process = try? OwnProcess.start(
      "remove files", named: "oprun-remove", keeping: [directory.descriptor]
    ) { directory.removeFolder(doomed) }
    guard let process else { return }
    own.insert(process)
    removing.removeAll { !own.processIDs.contains($0) }
    removing.append(process)
  }

  /// Waits until everything is removed.
  func finish() {
    for process in removing where own.processIDs.contains(process) {
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0, errno == EINTR {}
      own.reaped(process)
    }
    removing = []
  }
}
