// Handles the removal of the run's directory during the run, by a step that cleans too much. What
// is written still reaches the open directory, but statements about logs would not be true.

import Diagnostics
import Plans
import RunFiles
import Scheduling

extension RunLoop {
  var isFolderGone: Bool { outputFiles.isFolderGone }

  /// Why the run cannot continue; nil if nothing is known to be wrong, as of the last check for
  /// outputs.
  var stateFailure: String? { isFolderGone ? lostFolder : nil }

  /// How the run ended, after a last check of its directory.
  func confirmed(_ end: RunEnd) -> RunEnd {
    options.directory.isInPlace ? end : end.failing(lostFolder) ?? end
  }

  private var lostFolder: String {
    "the directory of the run, \(quoted(options.directory.path)), was removed or replaced: "
      + "its logs are lost"
  }
}
