// Whether this machine can confine the commands of cached steps: what unconfined ones make is known by other keys.

import CLinux

/// Whether commands can be confined to what their steps declare. `workspace` is where oprun was started.
package func canConfine(from workspace: String) -> Bool {
  clinux_landlock_version() >= Confiner.neededVersion && workspace != "/"
}
