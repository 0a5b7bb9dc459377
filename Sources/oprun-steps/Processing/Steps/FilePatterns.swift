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

  /// The files and links that match, sorted by bytes; no directories.
  private static func matches(_ pattern: String) -> [String] {
    var paths = [pattern.hasPrefix("/") ? "/" : ""]
    let parts = pattern.split(separator: "/").map(String.init)
    for (number, part) in parts.enumerated() {
      let end = number + 1 < parts.count ? "/" : ""
      if NamePattern.hasSigns(part) {
        let name = NamePattern(part)
        paths = paths.flatMap { folder in
          names(in: folder).filter { name.matches($0) }.map { folder + $0 + end }
        }
      } else {
        paths = paths.map { $0 + part + end }
      }
    }
    return paths.filter(isThereAndNoFolder).sorted { left, right in
      ByteText.withBytes(left) { left in ByteText.withBytes(right) { strcmp(left, $0) < 0 } }
    }
  }

  /// The names in a directory, of which the path ends in a slash or is empty.
  private static func names(in folder: String) -> [String] {
    guard let stream = ByteText.withBytes(folder.isEmpty ? "." : folder, { opendir($0) }) else {
      return []
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { ByteText.text(of: $0) }
      }
      names.append(name)
    }
    return names
  }

  private static func isThereAndNoFolder(_ path: String) -> Bool {
    var status = stat()
    guard ByteText.withBytes(path, { lstat($0, &status) }) == 0 else { return false }
    return ByteText.withBytes(path, { stat($0, &status) }) != 0
      || status.st_mode & S_IFMT != S_IFDIR
  }
}
