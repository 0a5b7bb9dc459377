// The directory of a run that does not exist, for tests of what is kept there.

import Foundation
import RunFiles

final class TemporaryRun {
  let directory: RunDirectory

  init() {
    let folder = FileManager.default.temporaryDirectory.appending(path: "run-\(UUID().uuidString)")
    mkdir(folder.path, 0o700)
    directory = RunDirectory(
      owning: open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: folder.path)
  }

  deinit { try? FileManager.default.removeItem(atPath: directory.path) }

  /// What the directory is called, beside those of other runs.
  var name: String { String(directory.path.split(separator: "/").last ?? "") }

  func path(of name: String) -> String { directory.path(of: name) }
}
