// The temporary directories of the commands of cached steps. They are removed beside the loop, with
// what a command has left in them: nobody knows how much that is.

import Diagnostics
import Glibc
import Processes
import RunFiles

/// The temporary directory of one command.
struct TemporaryPlace {
  let path: String
  private let name: String
  private let folders: TemporaryFolders

  init(_ name: String, in directory: String, of folders: TemporaryFolders) {
    self.name = name
    self.folders = folders
    path = "\(directory)/\(name)"
  }

  func remove() { folders.remove(name) }
}

final class TemporaryFolders {
  private let directory: RunDirectory
  private let own: OwnProcesses
  private var lastNumber = 0
  /// The names of the directories that are to be removed.
  private var filled: [String] = []
  /// The process that removes some of the directories.
  private var remover: Int32?

  init(in directory: RunDirectory, own: OwnProcesses) {
    self.directory = directory
    self.own = own
  }

  /// Makes an empty directory and returns its name. The name is short, because the path of a socket
  /// has at most 107 bytes, and has no characters that a shell knows: scripts write `$TMPDIR`
  /// without quotes.
  func make() throws(SystemError) -> String {
    while true {
      lastNumber += 1
      let name = "tmp.\(lastNumber)"
      do throws(SystemError) {
        try directory.makeFolder(name)
        return name
      } catch {
        // Other processes of oprun may use the directory of the run, too.
        if error.errno != EEXIST { throw error }
      }
    }
  }

  /// Removes a directory with everything in it. Files that cannot be removed stay.
  func remove(_ name: String) {
    if unlinkat(directory.descriptor, name, AT_REMOVEDIR) == 0 || errno == ENOENT { return }
    filled.append(name)
    goOn()
  }

  /// Removes the rest when no command fills a directory any more: the news that the remover has
  /// ended may have been dropped by an earlier wait.
  func collect() {
    var status: Int32 = 0
    if let remover, own.processIDs.contains(remover), waitpid(remover, &status, WNOHANG) > 0 {
      own.reaped(remover)
    }
    goOn()
  }

  /// Starts to remove the directories that are left, unless a process does. Called when a process of oprun has ended.
  func goOn() {
    if let remover, own.processIDs.contains(remover) { return }
    remover = nil
    if filled.isEmpty { return }
    let process = try? OwnProcess.start(
      "remove files", named: "oprun-remove", keeping: [directory.descriptor]
    ) { for name in filled { directory.removeFolder(name) } }
    // The next removal tries again.
    guard let process else { return }
    filled = []
    remover = process
    own.insert(process, isAwaited: true)
  }
}
