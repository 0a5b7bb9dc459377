// What all modules need of paths in the file system.

import Glibc

/// The absolute path of a file without links; nil, with `errno`, if it leads nowhere.
package func realPath(_ path: String) -> String? {
  guard let resolved = realpath(path, nil) else { return nil }
  defer { free(resolved) }
  return String(cString: resolved)
}

/// The path of a file that a command names, which runs in a directory: both as the user wrote them.
package func path(of name: String, in directory: String?) -> String {
  let isHere = name.hasPrefix("./") && !name.hasPrefix("./-")
  let tail = isHere ? String(name.dropFirst(2)) : name
  return name.hasPrefix("/") ? name : directory.map { "\($0)/\(tail)" } ?? tail
}

/// `O_PATH`, which <fcntl.h> defines only with _GNU_SOURCE: the descriptor identifies a file without opening it for
/// reading, and a directory can be entered that cannot be listed.
package let onlyAPlace: Int32 = 0o10_000_000

/// The directories, which end with a slash, and some files in the directory of an unfinished path, sorted; hidden ones
/// only if its name begins with a dot.
package func entries(at path: String, takesFile: (String) -> Bool) -> [String] {
  let directory = path.lastIndex(of: "/").map { path[...$0] } ?? ""
  let name = path.dropFirst(directory)
  guard let stream = opendir(directory.isEmpty ? "." : String(directory)) else { return [] }
  defer { closedir(stream) }
  var paths: [String] = []
  while let entry = readdir(stream) {
    let text = withUnsafeBytes(of: entry.pointee.d_name) {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
    if text == "." || text == ".." || text.hasPrefix(".") && !name.hasPrefix(".") { continue }
    var status = stat()
    guard stat(directory + text, &status) == 0 else { continue }
    if status.st_mode & S_IFMT == S_IFDIR {
      paths.append(directory + text + "/")
    } else if takesFile(text) {
      paths.append(directory + text)
    }
  }
  return paths.sorted()
}

package func isPipelineName(_ name: String) -> Bool {
  name.hasSuffix(".yml") || name.hasSuffix(".yaml")
}
