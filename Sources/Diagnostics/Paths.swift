// What all modules need of paths in the file system.

import Glibc

/// The absolute path of a file without links; nil, with `errno`, if it leads nowhere.
package func realPath(_ path: String) -> String? {
  guard let resolved = realpath(path, nil) else { return nil }
  defer { free(resolved) }
  return String(cString: resolved)
}

/// `O_PATH`, which <fcntl.h> defines only with _GNU_SOURCE: the descriptor identifies a file without opening it for
/// reading, and a directory can be entered that cannot be listed.
package let onlyAPlace: Int32 = 0o10_000_000
