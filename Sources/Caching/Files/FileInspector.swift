// Finds the files that patterns name, and hashes those that are not known by their stamps.

import Diagnostics
import Glibc
import RunFiles

/// Why it cannot be known what a step depends on, or what it made.
package struct CacheFailure: Error, Hashable {
  package let message: String

  package init(_ message: String) { self.message = message }

  static func unreadable(_ path: String, _ number: Int32) -> CacheFailure {
    CacheFailure("cannot read \(quoted(path)): \(SystemError.reason(number))")
  }

  /// Why the result of a command is not kept that was to be confined.
  package static var unconfined: CacheFailure {
    CacheFailure(
      "its command could not be confined, so what it made may depend on files that it does not declare; "
        + "with 'enforce: false' it is kept all the same")
  }
}

/// One look at files, below an open directory.
struct FileInspector {
  let root: Int32
  /// The content of files by their stamps.
  typealias Known = [PathName: (stamp: FileStamp, digest: CacheDigest)]
  private(set) var known: Known
  /// The content of files that were written a moment ago, so that their stamps are not settled.
  var copies: Known = [:]
  /// Never looked into: the state directory.
  private let hidden: HiddenFolder?
  /// Whether files are removed that a killed run was putting back.
  var removesParts = false
  /// Whether there were any.
  private(set) var hasFoundParts = false
  let followsLinks: Bool
  /// A tree that was named by mistake must not fill the memory: what is found is kept by two processes, with about 1 kB for each
  /// file in either.
  var most = 500_000
  private var excluded: [FilePattern] = []
  private var entries: [FileEntry] = []
  /// Where the pattern at hand was looked for: how much of it was left, and the directory.
  private var visited: Set<PathName> = []
  /// Whether it has `**`.
  private var isDeep = false
  /// The directories around the one that is being read, behind links.
  private var around: [FoundFolder] = []
  /// The directories that were read with everything in them.
  private var whole: Set<FoundFolder> = []
  /// The directories behind links that patterns were looked for in, with how much of the pattern was left.
  private var linked: Set<LinkedFolder> = []
  private let moment = FileStamp.now
  /// Where the pattern at hand begins, and the mount that this is in; 0 until somebody asks.
  var beginning = (path: ".", mount: UInt64(0))

  /// Links are followed where the content behind them matters, which it does for what is read.
  init(_ root: Int32, knowing known: Known?, hidden: HiddenFolder?, followsLinks: Bool) {
    self.root = root
    self.hidden = hidden
    self.followsLinks = followsLinks
    self.known = known ?? [:]
  }

  /// Takes the digests of files that have the same stamps still.
  mutating func learn(_ entries: [FileEntry]) {
    for entry in entries where entry.kind == .file {
      known[PathName(entry.path)] = (entry.stamp, entry.digest)
    }
  }

  /// The files that the patterns name, each once, sorted by path. Directories that were only looked
  /// through are among them, because their stamps show if there are new files.
  mutating func inspect(_ patterns: [String]) throws(CacheFailure) -> [FileEntry] {
    excluded = patterns.filter { $0.hasPrefix("!") }.map { FilePattern(String($0.dropFirst())) }
    (entries, whole) = ([], [])
    for text in patterns where !text.hasPrefix("!") {
      let pattern = FilePattern(text)
      (visited, linked) = ([], [])
      isDeep = pattern.names.contains(where: \.isDeep)
      beginning = (pattern.fixedPath, 0)
      if pattern.isPlain {
        try addPlain(pattern.fixedPath)
      } else {
        try search(pattern.isAbsolute ? "/" : "", pattern.names[...])
      }
    }
    return sortedEntries
  }

  private var sortedEntries: [FileEntry] {
    var unique: Set<PathName> = []
    let sorted = entries.sorted { left, right in
      if left.path.hasSameBytes(as: right.path) { return left.rank < right.rank }
      return left.path.precedesByBytes(right.path)
    }
    // A directory of which everything counts hides that it was looked through.
    return sorted.filter {
      unique.insert(PathName("\($0.isBehindLink ? 1 : 0)\($0.path)")).inserted
    }
  }

  private func isExcluded(_ path: String) -> Bool {
    !excluded.isEmpty && excluded.contains { $0.covers(path) }
  }

  private func status(
    _ path: String, followsLinks: Bool = false
  ) throws(CacheFailure) -> stat? {
    switch FileEntry.status(of: path, in: root, followsLinks: followsLinks) {
    case .success(let status): return status
    case .failure(let error):
      if error.meansAbsent { return nil }
      throw .unreadable(path, error.number)
    }
  }

  // MARK: Paths

  private mutating func addPlain(_ path: String) throws(CacheFailure) {
    guard !isExcluded(path) else { return }
    guard let status = try status(path) else {
      return entries.append(FileEntry(path, .absent))
    }
    if FileEntry.Kind(status.st_mode) == .directory { return try addTree(path, status) }
    try addAny(path, status)
  }

  /// Anything but a directory; of a link to one, everything in that.
  private mutating func addAny(_ path: String, _ status: stat) throws(CacheFailure) {
    try add(path, status)
    guard let target = try folder(behind: path, status) else { return }
    // A directory that was found by another path counts already.
    if !whole.contains(found(path, target)) { try addTree(path, target) }
  }

  private func found(_ path: String, _ status: stat) -> FoundFolder {
    FoundFolder(
      identity: FileIdentity(status), exclusions: excluded.map { $0.places(after: path) })
  }

  /// The directory that a link leads to, if that matters.
  private func folder(behind path: String, _ status: stat) throws(CacheFailure) -> stat? {
    guard FileEntry.Kind(status.st_mode) == .link, followsLinks,
      let target = try self.status(path, followsLinks: true),
      FileEntry.Kind(target.st_mode) == .directory, hidden?.holds(path, in: root) != true
    else { return nil }
    return target
  }

  /// A file or a link, with what is behind it.
  private mutating func add(_ path: String, _ status: stat) throws(CacheFailure) {
    var entry = FileEntry(path, FileEntry.Kind(status.st_mode))
    entry.stamp = stamp(status)
    switch entry.kind {
    case .file: try hash(&entry, status)
    case .link:
      entry.target = try Self.exactTarget(of: path, in: root)
      if followsLinks { try addBehind(path) }
    case .special: try checkSpecial(path, status)
    case .absent, .directory: break
    }
    entries.append(entry)
  }

  private mutating func addBehind(_ path: String) throws(CacheFailure) {
    if hidden?.holds(path, in: root) == true { return }
    guard let status = try status(path, followsLinks: true) else {
      var entry = FileEntry(path, .absent)
      entry.isBehindLink = true
      return entries.append(entry)
    }
    var entry = FileEntry(path, FileEntry.Kind(status.st_mode))
    entry.isBehindLink = true
    entry.stamp = stamp(status)
    if entry.kind == .file { try hash(&entry, status) }
    if entry.kind == .special { try checkSpecial(path, status) }
    entries.append(entry)
  }

  /// A directory with everything in it.
  private mutating func addTree(_ path: String, _ status: stat) throws(CacheFailure) {
    let folder = found(path, status)
    guard folder.identity != hidden?.identity, !around.contains(folder) else { return }
    around.append(folder)
    whole.insert(folder)
    defer { around.removeLast() }
    var entry = FileEntry(path, .directory)
    entry.stamp = stamp(status)
    entries.append(entry)
    let place = entries.count - 1
    let listing = try listing(of: path)
    // If files that a killed run had left there were removed, the directory has a new stamp.
    if removesParts, let status = try self.status(path) { entries[place].stamp = stamp(status) }
    for name in listing.odd {
      let inner = path == "." ? name.lossy : "\(path)/\(name.lossy)"
      if !isExcluded(inner) { throw name.fault(in: path) }
    }
    for name in listing.names {
      let inner = path == "." ? name : "\(path)/\(name)"
      guard !isExcluded(inner), let status = try self.status(inner) else { continue }
      if FileEntry.Kind(status.st_mode) == .directory {
        try checkMount(of: inner)
        try addTree(inner, status)
      } else {
        try addAny(inner, status)
      }
    }
  }

  // MARK: Patterns

  /// `path` ends in a slash or is empty. The recursion is as deep as directories are nested, which the
  /// length of paths limits.
  private mutating func search(
    _ path: String, _ pattern: ArraySlice<PatternName>
  ) throws(CacheFailure) {
    guard let name = pattern.first, visited.insert(PathName("\(pattern.count) \(path)")).inserted
    else {
      return
    }
    let rest = pattern.dropFirst()
    if name.isLiteral {
      if rest.isEmpty { return try addNamed(path + name.text) }
      return try searchFolder(path + name.text, rest)
    }
    if name.isDeep, !rest.isEmpty { try search(path, rest) }
    let listing = try listed(path)
    for odd in listing.odd where name.matches(odd) && !isExcluded(path + odd.lossy) {
      throw odd.fault(in: path.isEmpty ? "." : path)
    }
    for entry in listing.names {
      if name.isDeep {
        guard !entry.hasPrefix("."), !isExcluded(path + entry) else { continue }
        if try isFolder(path + entry, for: pattern) {
          try searchFolder(path + entry, pattern)
        } else if rest.isEmpty {
          try addFile(path + entry)
        }
      } else if name.matches(entry), !isExcluded(path + entry) {
        if rest.isEmpty {
          try addFile(path + entry)
        } else if try isFolder(path + entry, for: rest) {
          try searchFolder(path + entry, rest)
        }
      }
    }
  }

  /// The names in a directory, which is noted; empty if there is none.
  private mutating func listed(_ path: String) throws(CacheFailure) -> FolderListing {
    let folder = path.isEmpty ? "." : path == "/" ? path : String(path.dropLast())
    guard let status = try note(folder), FileEntry.Kind(status.st_mode) == .directory else {
      return FolderListing()
    }
    return try listing(of: folder)
  }

  /// Notes what is in the place of a directory, by its stamp: something else may become one. Nil if there is nothing that
  /// counts.
  private mutating func note(_ path: String) throws(CacheFailure) -> stat? {
    let own = try self.status(path)
    let isLink = own.map { FileEntry.Kind($0.st_mode) } == .link
    let status = try isLink ? self.status(path, followsLinks: true) : own
    // The state directory changes in every run.
    if let hidden, status.map(hidden.isIt) == true || isLink && hidden.holds(path, in: root) {
      return nil
    }
    var entry = FileEntry(path, status.map { FileEntry.Kind($0.st_mode) } ?? .absent)
    entry.isOnlyListed = true
    entry.isBehindLink = isLink
    if let status { entry.stamp = stamp(status) }
    entries.append(entry)
    return status
  }

  private mutating func addFile(_ path: String) throws(CacheFailure) {
    guard !isExcluded(path), let status = try status(path),
      FileEntry.Kind(status.st_mode) != .directory
    else { return }
    try addAny(path, status)
  }

  /// A file of a name without wildcards, which may come to a directory that was not listed.
  private mutating func addNamed(_ path: String) throws(CacheFailure) {
    let count = entries.count
    try addFile(path)
    if entries.count == count, !isExcluded(path) { _ = try listed(path + "/") }
  }

  /// Whether the rest of a pattern is looked for in there. Each directory behind links is once: they may lead in
  /// a cycle. Another link to it counts itself.
  private mutating func isFolder(
    _ path: String, for rest: ArraySlice<PatternName>
  ) throws(CacheFailure) -> Bool {
    guard let status = try status(path) else { return false }
    if FileEntry.Kind(status.st_mode) == .directory { return true }
    guard let target = try folder(behind: path, status) else {
      if followsLinks, FileEntry.Kind(status.st_mode) == .link { _ = try note(path) }
      return false
    }
    let linked = LinkedFolder(folder: found(path, target), nameCount: rest.count)
    if self.linked.insert(linked).inserted { return true }
    try add(path, status)
    return false
  }

  /// Looks for the rest of a pattern in there. If the pattern has `**`, a link counts itself if something is found
  /// behind it, or the pattern finds the link, too: programs that go through directories may follow links or not.
  private mutating func searchFolder(
    _ path: String, _ rest: ArraySlice<PatternName>
  ) throws(CacheFailure) {
    let count = entries.count
    try checkMount(of: path)
    try search(path + "/", rest)
    guard followsLinks, isDeep,
      rest.count == 1 && rest.first?.isDeep == true
        || entries[count...].contains(where: { !$0.isOnlyListed }),
      let status = try status(path), FileEntry.Kind(status.st_mode) == .link
    else { return }
    try add(path, status)
  }

  // MARK: Files

  private func stamp(_ status: stat) -> FileStamp {
    var stamp = FileStamp(status)
    if !stamp.isSettled(at: moment) { stamp.distrust() }
    return stamp
  }

  private mutating func listing(of path: String) throws(CacheFailure) -> FolderListing {
    let folder = openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else {
      if FileStatusFailure(errno).meansAbsent { return FolderListing() }
      throw .unreadable(path, errno)
    }
    guard let listing = FolderListing(owning: folder) else { throw .unreadable(path, errno) }
    if !listing.parts.isEmpty { hasFoundParts = true }
    for part in listing.parts where removesParts {
      PartFile.removeLeftover("\(path)/\(part)", in: root)
    }
    return listing
  }

  private mutating func hash(_ entry: inout FileEntry, _ status: stat) throws(CacheFailure) {
    guard entries.count < most else {
      throw CacheFailure("its \(followsLinks ? "inputs" : "outputs") are more than 500,000 files")
    }
    if let copy = copies[PathName(entry.path)], copy.stamp == FileStamp(status) {
      entry.digest = copy.digest
      return
    }
    if let known = known[PathName(entry.path)], known.stamp.isTrusted, known.stamp == entry.stamp {
      entry.digest = known.digest
      return
    }
    let file = openat(
      root, entry.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else { throw .unreadable(entry.path, errno) }
    defer { close(file) }
    var before = stat()
    var after = stat()
    guard fstat(file, &before) == 0 else { throw .unreadable(entry.path, errno) }
    let size: Int
    (entry.digest, size) = try FileCopy.measuredDigest(of: file, entry.path)
    guard fstat(file, &after) == 0 else { throw .unreadable(entry.path, errno) }
    entry.stamp = stamp(after)
    // Files of /proc and /sys change without a trace, and have other sizes than contents.
    if FileStamp(before) != FileStamp(after) || size != Int(after.st_size) {
      entry.stamp.distrust()
    }
    known[PathName(entry.path)] = (entry.stamp, entry.digest)
  }
}
