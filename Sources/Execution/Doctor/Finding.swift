// The findings of an examination of a machine, or of a cluster: `oprun doctor`.

import Diagnostics
import Glibc

/// One thing that was examined.
package struct Finding: Hashable, Sendable {
  package enum Verdict: String, Sendable {
    case ok
    /// Runs work, but some features of oprun do not.
    case warning
    case failed
  }

  package let subject: String
  package let verdict: Verdict
  package let words: String
  /// How to fix it.
  package let help: String?

  init(_ subject: String, _ verdict: Verdict, _ words: String, help: String? = nil) {
    self.subject = subject
    self.verdict = verdict
    self.words = words
    self.help = help
  }
}

/// True if there is a program of this name on `PATH`.
func isOnPath(_ name: String) -> Bool {
  let path = environmentValue("PATH") ?? "/usr/bin:/bin"
  return path.split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
}
