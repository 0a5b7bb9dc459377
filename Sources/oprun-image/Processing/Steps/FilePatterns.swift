// Files by name and by shell patterns.

import BuiltinSteps
import Glibc

enum FilePatterns {
  /// In the order of the words, each pattern's files sorted by bytes. A word without `*`, `?` and `[`
  /// is a name, whether there is such a file or not. A file that is there by its name is one, too,
  /// whatever its name looks like.
  static func files(
    _ words: [String], of key: String, _ step: BuiltinStep
  ) throws(UsageError) -> [String] {
    var files: [String] = []
    for word in words {
      if word.contains(where: { "*?[".contains($0) }), access(word, F_OK) != 0 {
        let found = matches(word)
        if found.isEmpty { throw .noImages([word], key: key, step) }
        files += found
      } else {
        files.append(word)
      }
    }
    return files
  }

  private static func matches(_ pattern: String) -> [String] {
    var found = glob_t()
    defer { globfree(&found) }
    guard glob(pattern, GLOB_NOSORT, nil, &found) == 0, let paths = found.gl_pathv else {
      return []
    }
    let names = (0..<Int(found.gl_pathc)).compactMap { index in
      paths[index].map { String(cString: $0) }
    }
    return names.filter { !Files.isFolder($0) }.sorted {
      $0.utf8.lexicographicallyPrecedes($1.utf8)
    }
  }
}
