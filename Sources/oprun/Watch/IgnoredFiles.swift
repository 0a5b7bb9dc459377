// Which files git ignores. Without git, or outside of a repository, none.

import Diagnostics

struct IgnoredFiles {
  private let workspace: String
  /// Directories of which everything is ignored, and single files; absolute.
  private let known: Set<String>

  /// Asks about everything that is below a directory now.
  init(below workspace: String) {
    self.workspace = workspace
    let words = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"]
    let paths = Self.list(words, in: workspace)
    known = Set(paths.map { "\(workspace)/\($0.hasSuffix("/") ? String($0.dropLast()) : $0)" })
  }

  func contains(_ path: String) -> Bool { known.contains(path) }

  /// Those of some absolute paths that are ignored, whether they were there before or not.
  func among(_ paths: [String]) -> Set<String> {
    let inside = paths.filter { $0.hasPrefix(workspace + "/") }
    if inside.isEmpty { return [] }
    let input = inside.flatMap { (path: String) -> [UInt8] in Array(path.utf8) + [0] }
    return Set(Self.list(["check-ignore", "-z", "--stdin"], in: workspace, input: input))
  }

  private static func list(
    _ words: [String], in directory: String, input: [UInt8] = []
  ) -> [String] {
    do throws(SystemError) {
      let end = try GitCommand(directory: directory).run(words, input: input)
      guard end.status == 0 else { return [] }
      return end.output.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    } catch {
      return []
    }
  }
}
