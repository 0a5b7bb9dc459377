// Functions for paths in the file system that all modules need.

import Glibc

/// The absolute path of a file without links; nil, with `errno`, if it leads nowhere.
package func realPath(_ path: String) -> String? {
  guard let resolved = realpath(path, nil) else { return nil }
  defer { free(resolved) }
  return String(cString: resolved)
}

/// The path of a file that a command names which runs in `directory`, both as the user wrote them.
package func path(of name: String, in directory: String?) -> String {
  let isHere = name.hasPrefix("./") && !name.hasPrefix("./-")
  let tail = isHere ? String(name.dropFirst(2)) : name
  return name.hasPrefix("/") ? name : directory.map { "\($0)/\(tail)" } ?? tail
}

/// `O_PATH`, which <fcntl.h> defines only with _GNU_SOURCE. Such a descriptor identifies a file
/// without opening it for reading, and enters a directory that cannot be listed.
package let onlyAPlace: Int32 = 0o10_000_000

/// The completions of an unfinished path, sorted: the directories, with a slash at the end, and the
/// files that `takesFile` accepts; hidden ones only if the last component begins with a dot, or if
/// `showsHidden` is true.
package func entries(
  at path: String, showsHidden: Bool = false, takesFile: (String) -> Bool
) -> [String] {
  let directory = path.lastIndex(of: "/").map { path[...$0] } ?? ""
  let showsHidden = showsHidden || path.dropFirst(directory).hasPrefix(".")
  guard let stream = opendir(directory.isEmpty ? "." : String(directory)) else { return [] }
  defer { closedir(stream) }
  var paths: [String] = []
  while let next = readdir(stream) {
    let text = withUnsafeBytes(of: next.pointee.d_name) {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
    if text == "." || text == ".." || text.hasPrefix(".") && !showsHidden { continue }
    if let path = entry(at: directory + text), path.last == "/" || takesFile(text) {
      paths.append(path)
    }
  }
  return paths.sorted()
}

/// The path, with a slash at its end if a directory is there; nil if nothing is.
func entry(at path: String) -> String? {
  var status = stat()
  guard stat(path, &status) == 0 else { return nil }
  let isDirectory = status.st_mode & S_IFMT == S_IFDIR
  return isDirectory && path.last != "/" ? path + "/" : path
}

package func isPipelineName(_ name: String) -> Bool {
  name.hasSuffix(".yml") || name.hasSuffix(".yaml")
}
