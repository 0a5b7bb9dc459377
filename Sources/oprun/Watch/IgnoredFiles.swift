// Which files git ignores. Without git, or outside of a repository, none.

import Caching
import Diagnostics
import Glibc

struct IgnoredFiles {
  private let workspace: String
  /// Directories of which everything is ignored, and single files; absolute.
  private let known: Set<PathName>
  /// Files outside of the work tree that say what is ignored: that of the repository, and that of the user. They need not
  /// exist.
  let rules: [String]

  /// Asks about everything that is below a directory now.
  init(below workspace: String) {
    self.workspace = workspace
    rules = Self.rules(of: workspace)
    let words = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"]
    let paths = Self.list(words, in: workspace)
    known = Set(
      paths.map { path in
        PathName("\(workspace)/\(path.hasSuffix("/") ? String(path.dropLast()) : path)")
      })
  }

  private static func rules(of workspace: String) -> [String] {
    let words = ["rev-parse", "--path-format=absolute", "--git-path", "info/exclude"]
    guard let own = line(words, in: workspace) else { return [] }
    let named = line(["config", "--path", "core.excludesFile"], in: workspace)
    let folder =
      environmentFolder("XDG_CONFIG_HOME") ?? environmentFolder("HOME").map { $0 + "/.config" }
    return [own] + [named ?? folder.map { $0 + "/git/ignore" }].compactMap(\.self)
  }

  private static func line(_ words: [String], in directory: String) -> String? {
    guard let end = try? GitCommand(directory: directory).run(words), end.status == 0 else {
      return nil
    }
    let line = String(decoding: end.output.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    return line.hasPrefix("/") ? line : nil
  }

  private static func environmentFolder(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  func contains(_ path: String) -> Bool { known.contains(PathName(path)) }

  /// What is ignored now and was not, or the other way round.
  func changes(since before: IgnoredFiles) -> [String] {
    known.symmetricDifference(before.known).map(\.text)
  }

  /// Those of some absolute paths that are ignored, whether they were there before or not.
  func among(_ paths: [String]) -> Set<PathName> {
    let inside = paths.filter { $0.isBelow(workspace) }
    if inside.isEmpty { return [] }
    let input = inside.flatMap { (path: String) -> [UInt8] in Array(path.utf8) + [0] }
    let ignored = Self.list(["check-ignore", "-z", "--stdin"], in: workspace, input: input)
    return Set(ignored.map { PathName($0) })
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
