// The knowledge of git: which files have changed since a commit, and their earlier contents. git
// itself is asked; nothing of a repository is read here.

import Caching
import Diagnostics
import Expressions
import Glibc

/// The reason why git cannot tell the changes.
struct GitFailure: Error {
  let reason: String
  var help: String?
}

struct GitRepository {
  /// The absolute path of its work tree.
  let root: String
  private let isShallow: Bool

  private static let forShallow =
    "the clone is shallow: 'git fetch --unshallow' gets the rest; for actions/checkout, set 'fetch-depth: 0'"

  /// Finds the repository around a directory.
  init(around directory: String) throws(GitFailure) {
    let end = try Self.run(
      ["rev-parse", "--show-toplevel", "--is-shallow-repository"], in: directory)
    guard end.status == 0 else {
      throw GitFailure(reason: end.complaint, help: Self.help(for: end.complaint, in: directory))
    }
    // The path may contain line breaks.
    let text = String(decoding: end.output, as: UTF8.self)
    let answers = [true, false].first { text.hasSuffix("\n\($0)\n") }
    guard let answers, text.utf8.count > "\n\(answers)\n".utf8.count else {
      throw GitFailure(reason: "git names no work tree", help: Self.forNoWorkTree)
    }
    root = String(text.dropLast("\n\(answers)\n".count))
    isShallow = answers
  }

  private static let forNoWorkTree = "run it where the files are"

  /// The help for a complaint of git.
  private static func help(for complaint: String, in directory: String) -> String? {
    if complaint.containsText("dubious ownership") {
      return "if you trust it: git config --global --add safe.directory \(shellQuoted(directory))"
    }
    if complaint.containsText("not a git repository") {
      return "run it in a clone of the repository, or leave '--affected' out"
    }
    return complaint.containsText("in a work tree") ? forNoWorkTree : nil
  }

  private static func run(
    _ words: [String], in directory: String, input: [UInt8] = []
  ) throws(GitFailure) -> GitCommand.End {
    do throws(SystemError) {
      return try GitCommand(directory: directory).run(words, input: input)
    } catch {
      guard error.errno == ENOENT else { throw GitFailure(reason: error.message) }
      throw GitFailure(reason: "'git' is not installed", help: "install git")
    }
  }

  private func run(_ words: [String]) throws(GitFailure) -> GitCommand.End {
    try Self.run(words, in: root)
  }

  /// The commit to compare with: the point at which the work here has left the named one.
  func base(of name: String) throws(GitFailure) -> String {
    let named = try run([
      "rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}",
    ])
    let commit = Self.line(named)
    // A word that begins with `^` stands for all commits except those of the rest.
    guard named.status == 0, !commit.hasPrefix("^") else { throw try unknown(name) }
    let head = try run(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
    guard head.status == 0, Self.line(head) != commit else { return commit }
    let common = try run(["merge-base", commit, "HEAD"])
    if common.status == 0 { return Self.line(common) }
    if isShallow {
      throw GitFailure(
        reason: "the clone contains no commit that it shares with 'HEAD'", help: Self.forShallow)
    }
    return commit
  }

  private func unknown(_ name: String) throws(GitFailure) -> GitFailure {
    if isShallow {
      return GitFailure(reason: "git does not know this commit", help: Self.forShallow)
    }
    let hasCommits = try run(["rev-parse", "--verify", "--quiet", "HEAD"]).status == 0
    return GitFailure(
      reason: hasCommits ? "git does not know this commit" : "the repository has no commits",
      help: hasCommits
        ? "name a branch, a tag or a commit, as in --affected=main"
        : "commit something first, or leave '--affected' out")
  }

  private static func line(_ end: GitCommand.End) -> String {
    String(decoding: end.output.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }

  /// The changed paths, all absolute.
  struct Changes {
    /// Files that git tracks.
    var tracked: [String] = []
    /// Other files, except ignored ones.
    var untracked: [String] = []
    /// Directories that are repositories themselves.
    var folders: [String] = []
  }

  /// The files that differ from those of a commit.
  func changes(since commit: String) throws(GitFailure) -> Changes {
    let tracked = try list([
      "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-relative",
      "--ignore-submodules=none", commit, "--",
    ])
    let untracked = try list(["ls-files", "--others", "--exclude-standard", "-z"])
    var changes = Changes()
    for (names, isTracked) in [(tracked, true), (untracked, false)] {
      for name in names {
        let path = path(of: name)
        if name.hasSuffix("/") {
          changes.folders.append(String(path.dropLast()))
        } else if Self.isFolder(path) {
          changes.folders.append(path)
        } else if isTracked {
          changes.tracked.append(path)
        } else {
          changes.untracked.append(path)
        }
      }
    }
    try addLinks(to: &changes)
    return changes
  }

  /// True for a directory, which a link is only for the kernel.
  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return ByteText.withBytes(path) { lstat($0, &status) } == 0
      && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Adds the links of the repository that lead through a changed path, or to it, and the paths of
  /// changed files through them.
  private func addLinks(to changes: inout Changes) throws(GitFailure) {
    let files = ChangedPaths(changes.tracked + changes.untracked)
    let folders = changes.folders
    if files.isEmpty, folders.isEmpty { return }
    for entry in try list(["ls-files", "--stage", "-z"]) where entry.hasPrefix("120000 ") {
      guard let tab = entry.firstIndex(of: "\t") else { continue }
      let link = path(of: String(entry[entry.index(after: tab)...]))
      let trail = LinkTrail(link)
      if trail.places.contains(where: files.contains) { changes.tracked.append(link) }
      changes.tracked += files.below(trail.end).compactMap {
        $0.path(below: trail.end).map { "\(link)/\($0)" }
      }
      for folder in folders {
        if folder.hasSameBytes(as: trail.end) || trail.end.isBelow(folder) {
          changes.folders.append(link)
        } else if let rest = folder.path(below: trail.end) {
          changes.folders.append("\(link)/\(rest)")
        }
      }
    }
  }

  private func path(of name: String) -> String { root == "/" ? "/" + name : "\(root)/\(name)" }

  private func list(_ words: [String]) throws(GitFailure) -> [String] {
    let end = try run(words)
    guard end.status == 0 else { throw GitFailure(reason: end.complaint) }
    return end.output.split(separator: 0).map { ByteText.text(of: Array($0)) }
  }

  /// The contents of a file in a commit, through the links that the commit has; nil if it did not
  /// exist, or was not a file. The path is absolute.
  func contents(of path: String, in commit: String) -> [UInt8]? {
    let path = path.isBelow(root) ? path : LinkTrail(path).end
    var open = path.split(separator: "/").map(String.init)[...]
    var place = ""
    var links = 0
    while let name = open.popFirst() {
      if name == "." { continue }
      if name == ".." {
        place = place.lastIndex(of: "/").map { String(place[..<$0]) } ?? ""
        continue
      }
      let next = "\(place)/\(name)"
      guard let target = linkTarget(of: next, in: commit), links < Self.mostLinks else {
        place = next
        continue
      }
      links += 1
      if target.hasPrefix("/") { place = "" }
      open = target.split(separator: "/").map(String.init)[...] + open
    }
    return place.path(below: root).flatMap { blob($0, in: commit) }
  }

  /// The number of links that Linux follows.
  private static let mostLinks = 40

  /// The target of a link in a commit; nil if it is not a link, or not in the repository.
  private func linkTarget(of path: String, in commit: String) -> String? {
    guard let name = path.path(below: root) else { return nil }
    let entry = try? list(["ls-tree", "-z", commit, "--", ":(literal)\(name)"]).first
    guard entry?.hasPrefix("120000 ") == true else { return nil }
    return blob(name, in: commit).map { String(decoding: $0, as: UTF8.self) }
  }

  private func blob(_ name: String, in commit: String) -> [UInt8]? {
    guard let end = try? run(["cat-file", "blob", "\(commit):\(name)"]), end.status == 0 else {
      return nil
    }
    return end.output
  }
}
