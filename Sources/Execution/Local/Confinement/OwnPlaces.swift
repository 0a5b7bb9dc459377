// What a confined command may use although no pattern names it, and what must exist before it starts: the
// file for its outputs, and the directory for its temporary files. docs/confined-steps.md

import Diagnostics
import Glibc
import RunFiles
import Running

/// The places that the commands of a run have had and not used. The next command gets them under its own
/// names: most commands use neither, and making and removing both is most of what confining a
/// command costs. (ext4 without a journal also passes over what was removed in the last minutes, inode by
/// inode, whenever something is made.)
final class OwnPlaces {
  private let directory: RunDirectory
  /// The absolute path of the run's directory.
  private let path: String
  private var spareFiles: [String] = []
  private var spareFolders: [String] = []

  init(in directory: RunDirectory, path: String) {
    self.directory = directory
    self.path = path
  }

  deinit {
    for name in spareFiles { directory.remove(name) }
    for name in spareFolders { directory.removeFolder(name) }
  }

  /// Makes an empty file, unless there is something already or none can be made, and returns its path.
  func makeFile(_ name: String) -> String {
    let file = path(of: name)
    if let spare = spareFiles.popLast() {
      if rename(path(of: spare), file) == 0 { return file }
      directory.remove(spare)
    }
    var made = Placeholders()
    made.addFile(file)
    made.mark()
    return file
  }

  /// Makes an empty directory, and returns its path.
  func makeFolder(_ name: String) throws(SystemError) -> String {
    let folder = path(of: name)
    if let spare = spareFolders.popLast() {
      if rename(path(of: spare), folder) == 0 { return folder }
      directory.removeFolder(spare)
    }
    try directory.makeFolder(name)
    return folder
  }

  /// Keeps a file that its command has not written to for the next one, or removes it. One that it has written
  /// to stays where it is.
  func takeBackFile(_ name: String, isReused: Bool) {
    guard Placeholders.isUntouched((path(of: name), isFolder: false)) else { return }
    if isReused { spareFiles.append(name) } else { directory.remove(name) }
  }

  /// Keeps a directory that is as it was made for the next command, and removes any other.
  func takeBackFolder(_ name: String, isReused: Bool) {
    if isReused, isAsMade(path(of: name)) {
      spareFolders.append(name)
    } else {
      directory.removeFolder(name)
    }
  }

  private func isAsMade(_ folder: String) -> Bool {
    var status = stat()
    guard lstat(folder, &status) == 0, status.st_mode == S_IFDIR | 0o700,
      status.st_uid == geteuid()
    else { return false }
    let list = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    var isEmpty = true
    return list >= 0 && forEachName(owning: list) { _ in isEmpty = false } && isEmpty
  }

  func path(of name: String) -> String { "\(path)/\(name)" }
}
