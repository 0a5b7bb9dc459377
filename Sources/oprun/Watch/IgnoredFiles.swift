// The files that git ignores; none without git, or outside of a repository.

import Caching
import Diagnostics
import Glibc

struct IgnoredFiles {
  private let workspace: String
  /// Ignored directories, with everything in them, and single files; absolute.
  private let known: Set<PathName>
  /// The repository of the directory, and those of its submodules, the innermost first.
  private let repositories: [String]
  /// Files outside of the work tree that list ignored files: that of the repository, and that of
  /// the user. They need not exist.
  let rules: [String]

  /// Asks git about everything below a directory.
  init(below workspace: String) {
    self.workspace = workspace
    rules = Self.rules(of: workspace)
    let words = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"]
    repositories = Self.repositories(below: workspace).sorted { $0.utf8.count > $1.utf8.count }
    var known: Set<PathName> = []
    for repository in repositories
    where repository == workspace || Self.isRepository(repository) {
      for path in Self.list(words, in: repository) {
        known.insert(
          PathName("\(repository)/\(path.hasSuffix("/") ? String(path.dropLast()) : path)"))
      }
    }
    self.known = known
  }

  /// The repositories in a directory of a work tree: itself, and the submodules below it.
  private static func repositories(below directory: String) -> [String] {
    let entries = list(["ls-files", "--stage", "-z"], in: directory)
    let submodules = entries.filter { $0.hasPrefix("160000 ") }.compactMap { entry in
      entry.firstIndex(of: "\t").map { "\(directory)/\(entry[entry.index(after: $0)...])" }
    }
    return [directory]
      + submodules.flatMap { isRepository($0) ? repositories(below: $0) : [$0] }
  }

  /// True if a submodule was cloned: otherwise git would take its directory for a part of the repository around it.
  private static func isRepository(_ submodule: String) -> Bool {
    access("\(submodule)/.git", F_OK) == 0
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
    environmentValue(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  func contains(_ path: String) -> Bool { known.contains(PathName(path)) }

  /// The paths that were not ignored before and are now, or the other way round.
  func changes(since before: IgnoredFiles) -> [String] {
    known.symmetricDifference(before.known).map(\.text)
  }

  /// The absolute paths among these that are ignored, whether they existed before or not.
  func among(_ paths: [String]) -> Set<PathName> {
    // Git refuses to judge files of a submodule, and ends.
    let groups = Dictionary(grouping: paths) { path in
      repositories.first { path.isBelow($0) } ?? ""
    }
    var ignored: Set<PathName> = []
    for (repository, paths) in groups
    where repository == workspace || Self.isRepository(repository) {
      var links = KnownLinks(below: repository)
      let input = paths.filter { !links.lead(to: $0) }
        .flatMap { (path: String) -> [UInt8] in Array(path.utf8) + [0] }
      if input.isEmpty { continue }
      let found = Self.list(["check-ignore", "-z", "--stdin"], in: repository, input: input)
      ignored.formUnion(found.map { PathName($0) })
    }
    return ignored
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

/// The links among the directories of a repository. Git does not judge files behind a link, which
/// may exist since the link has taken the place of a directory.
private struct KnownLinks {
  private let root: String
  private var known: [PathName: Bool] = [:]

  init(below root: String) { self.root = root }

  /// True if a directory that the path leads through is a link.
  mutating func lead(to path: String) -> Bool {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return false }
    let folder = String(path[..<slash])
    if folder.utf8.count <= root.utf8.count { return false }
    if let known = known[PathName(folder)] { return known }
    var status = stat()
    let isLink = lstat(folder, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    let leads = isLink || lead(to: folder)
    known[PathName(folder)] = leads
    return leads
  }
}
