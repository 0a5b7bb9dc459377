// Finds files by name and by shell patterns.

import BuiltinSteps
import Diagnostics
import Glibc

enum FilePatterns {
  /// The files in the order of the words, those of each pattern sorted by bytes. A word without
  /// `*`, `?` and `[` is a name, whether there is such a file or not. A file whose name is exactly
  /// the pattern is included: `photo[1].jpg`.
  static func files(
    _ words: [String], of key: String, _ step: BuiltinStep
  ) throws(UsageFailure) -> [String] {
    var files: [String] = []
    for word in words {
      guard word.contains(where: { "*?[".contains($0) }) else {
        files.append(word)
        continue
      }
      var found = matches(word)
      if !found.contains(word), ByteText.withBytes(word, { access($0, F_OK) }) == 0 {
        found.append(word)
      }
      if found.isEmpty { throw .noImages([word], key: key, step) }
      files += found
    }
    return files
  }

  private static func matches(_ pattern: String) -> [String] {
    var found = glob_t()
    defer { globfree(&found) }
    guard ByteText.withBytes(pattern, { glob($0, GLOB_NOSORT, nil, &found) }) == 0,
      let paths = found.gl_pathv
    else { return [] }
    let names = (0..<Int(found.gl_pathc)).compactMap { paths[$0] }
    return names.filter { !isFolder($0) }.sorted { strcmp($0, $1) < 0 }.map {
      ByteText.text(of: $0)
    }
  }

  private static func isFolder(_ name: UnsafePointer<CChar>) -> Bool {
    var status = stat()
    return stat(name, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
