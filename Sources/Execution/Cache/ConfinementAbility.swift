// Whether this machine can confine the commands of cached steps: results of unconfined commands
// have other keys.

import CLinux
import Diagnostics
import Glibc

/// True if commands can be confined to what their steps declare. `workspace` is where oprun was
/// started; every directory around it must be one that can be listed.
package func canConfine(from workspace: String) -> Bool {
  guard clinux_landlock_version() >= Confiner.neededVersion, workspace != "/" else { return false }
  var path = workspace[...]
  while let slash = path.lastIndex(of: "/") {
    path = path[..<slash]
    let folder = open(path.isEmpty ? "/" : String(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return false }
    close(folder)
  }
  return true
}
