// The folder of the run goes away while the run goes on: a step that cleans too much. What is written
// reaches the open folder as long as it exists; what is told of logs would not be true.

import Diagnostics
import Plans
import RunFiles
import Scheduling

extension RunLoop {
  /// Why the run cannot go on; nil if nothing is known to be wrong. As of the last look for outputs.
  var stateFailure: String? { isFolderGone ? lostFolder : nil }

  /// How the run ended, now that its folder was looked at for the last time.
  func confirmed(_ end: RunEnd) -> RunEnd {
    options.directory.isInPlace ? end : end.failing(lostFolder) ?? end
  }

  private var lostFolder: String {
    "the folder of the run, \(quoted(options.directory.path)), was removed or replaced: "
      + "its logs are lost"
  }
}
