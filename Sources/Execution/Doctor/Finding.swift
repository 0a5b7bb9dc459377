// What an examination of a machine, or of a cluster, has found: `oprun doctor`.

import Diagnostics
import Glibc

/// One thing that was looked at.
package struct Finding: Hashable, Sendable {
  package enum Verdict: String, Sendable {
    case ok
    /// Runs work, but not all that oprun can do.
    case warning
    case failed
  }

  package let subject: String
  package let verdict: Verdict
  package let words: String
  /// How to mend it.
  package let help: String?

  init(_ subject: String, _ verdict: Verdict, _ words: String, help: String? = nil) {
    self.subject = subject
    self.verdict = verdict
    self.words = words
    self.help = help
  }
}

/// Whether there is a program of this name on `PATH`.
func isOnPath(_ name: String) -> Bool {
  let path = environmentValue("PATH") ?? "/usr/bin:/bin"
  return path.split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
}
