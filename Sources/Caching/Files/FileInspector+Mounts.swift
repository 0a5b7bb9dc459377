// A file system that somebody has mounted in an output directory is no output of the step.

import CLinux
import Diagnostics

extension FileInspector {
  /// Throws if an output is looked for in another mount than the one in which its pattern begins: what is there is neither
  /// kept nor removed. A bind mount has the device of what it shows, so the number of the mount decides.
  mutating func checkMount(of path: String) throws(CacheFailure) {
    if followsLinks { return }
    if beginning.mount == 0 {
      beginning.mount = clinux_mount_id_at(root, beginning.path.isEmpty ? "." : beginning.path)
    }
    let here = clinux_mount_id_at(root, path)
    if here == 0 || beginning.mount == 0 || here == beginning.mount { return }
    throw CacheFailure("something is mounted on \(quoted(path)), in an output")
  }
}
