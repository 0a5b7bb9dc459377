// Finds out in its output why a confined command was refused a file: the kernel tells only the
// command.

import CLinux
import Caching
import Diagnostics
import Glibc
import Running

/// A path that a confined command could not use.
struct Refusal: Hashable {
  enum Kind: Hashable {
    /// A file that no pattern covers, and a pattern that would, besides the path itself.
    case undeclaredFile(pattern: String?)
    /// A path at which nothing may be made, and a pattern that would open its directory, unless
    /// that is the step's own.
    case undeclaredPlace(pattern: String?)
    /// An input, which the command tried to change.
    case readOnly
    /// An input that somebody has replaced since, so that it is not the file that the command may
    /// read. It may also have been changed in another way.
    case replaced
    /// An output or input that is gone: a new file with its name is another one, which is not opened.
    case removed
    /// A directory that can be filled, but not removed.
    case directory
    /// An output that can be written, in a directory in which nothing else can be done.
    case fixed(FixedPlace)
    /// The repository of Git, which the command did not see.
    case repository
    /// A place outside the workspace, in a directory that leads to it.
    case beside(folder: String)
  }

  /// The place of an output that can only be written.
  struct FixedPlace: Hashable {
    let folder: String
    /// A pattern that would open the directory and match little else; nil if it would open the whole workspace.
    let pattern: String?
    /// True if the command may have wanted to make a directory.
    var mayBeFolder = false
  }

  /// The path as the command would write it.
  let path: String
  let kind: Kind

  /// The refusal of a command that may have wanted to make a directory, if something was in its way.
  fileprivate func mayBeFolder(_ isTaken: Bool) -> Refusal {
    guard isTaken, case .fixed(var place) = kind else { return self }
    place.mayBeFolder = true
    return Refusal(path: path, kind: .fixed(place))
  }
}

/// Finds refusals in the output of a command: only paths to which the confinement applies, and that
/// could be used without it. A class, because most commands succeed: what the search needs is made
/// when it begins.
final class RefusalSearch {
  let workspace: String
  /// The directory that the command ran in; absolute.
  let directory: String
  private let rules: [(path: String, access: RuleList.Access)]
  /// When the command was given its rules, in nanoseconds since 1970.
  let start: Int64
  /// The access to each path, without `..`.
  private lazy var accesses = Dictionary(
    rules.compactMap { rule in normal(rule.path).map { (PathName($0), rule.access) } },
    uniquingKeysWith: max)

  /// The limits for the text that is searched, because the files that it may mean are looked up in
  /// the loop: the last lines that look like a refusal, and in each the first words and quoted
  /// parts.
  private static let mostLines = 200
  private static let mostWords = 64

  init(
    workspace: String, directory: String, rules: [(path: String, access: RuleList.Access)],
    start: Int64 = .max
  ) {
    self.workspace = workspace
    self.directory = directory
    self.rules = rules
    self.start = start
  }

  /// The refused paths, each once, in the order in which they were printed.
  func refusals(in text: String) -> [Refusal] {
    var found: [Refusal] = []
    let all = text.split(whereSeparator: \.isNewline)
    let lines = all.enumerated().compactMap { index, line in
      RefusalSign(of: line).map { (index: index, line: line, sign: $0) }
    }
    for (index, line, sign) in lines.suffix(Self.mostLines) {
      let refusal =
        switch sign {
        case .refused: refusal(in: line) ?? refusal(above: line, at: index, in: all)
        case .blocked: folderMadeAsFile(in: line)
        case .taken: placeholder(in: line)
        case .vague: undeclaredFile(in: line)
        case .noRepository: hiddenRepository()
        }
      if let refusal, !found.contains(refusal) { found.append(refusal) }
    }
    return found
  }

  /// The refusal of a path that a line above names, where the error has a line of its own, as in
  /// Rust: `failed to open: /x/Cargo.lock`, `Caused by:`, `Permission denied (os error 13)`.
  private func refusal(above line: Substring, at index: Int, in lines: [Substring]) -> Refusal? {
    let words = line.drop { $0 == " " || $0 == "\t" || $0.isNumber || $0 == ":" }
    guard words.hasPrefix("Permission denied") || words.hasPrefix("permission denied") else {
      return nil
    }
    return lines[max(0, index - 2)..<index].reversed().lazy.compactMap { self.refusal(in: $0) }
      .first
  }

  /// The nearest `.git`, if that is in the workspace and not declared.
  private func hiddenRepository() -> Refusal? {
    var (folder, written) = (directory, ".git")
    while access("\(folder)/.git", F_OK) != 0 {
      guard !folder.hasSameBytes(as: workspace), let slash = folder.lastIndex(of: "/")
      else { return nil }
      (folder, written) = (String(folder[..<slash]), "../" + written)
    }
    guard case .undeclaredFile = refusal(of: written, mustExist: true)?.kind else { return nil }
    return Refusal(path: written, kind: .repository)
  }

  /// The output named in a line, if the empty file that was made before the command ran is in its place.
  private func placeholder(in line: Substring) -> Refusal? {
    guard let refusal = refusal(in: line), case .fixed = refusal.kind else { return nil }
    let path = refusal.path
    return isPlaceholder(path.hasPrefix("/") ? path : "\(directory)/\(path)") ? refusal : nil
  }

  private func isPlaceholder(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      && Placeholders.isLeft(status)
  }

  /// The output named in a line that is declared as a file, and so was made as one, but is used as a directory.
  private func folderMadeAsFile(in line: Substring) -> Refusal? {
    for word in words(of: line) + quotedParts(of: line) {
      guard let path = normal(word.hasPrefix("/") ? word : "\(directory)/\(word)"),
        let file = folder(around: path, where: { $0 == .wholeFile }), isPlaceholder(file),
        let slash = file.lastIndex(of: "/")
      else { continue }
      let name = String(file[file.index(after: slash)...])
      return fixed(String(shown(file).dropLast()), in: String(file[..<slash]), name)
        .mayBeFolder(true)
    }
    return nil
  }

  /// An output that can be written, in a directory in which nothing else can be done.
  private func fixed(_ written: String, in parent: String, _ name: String) -> Refusal {
    let prefix = shown(parent)
    let folder = prefix.isEmpty ? "." : String(prefix.dropLast())
    let opensAll = workspace.hasSameBytes(as: parent) || workspace.isBelow(parent)
    let pattern = opensAll ? nil : prefix + FilePattern.escaped(name) + "*"
    return Refusal(path: written, kind: .fixed(.init(folder: folder, pattern: pattern)))
  }

  /// The file that a line says cannot be opened, if it is there and not declared.
  private func undeclaredFile(in line: Substring) -> Refusal? {
    for word in words(of: line) {
      var word = word
      while word.hasSuffix("!") || word.hasSuffix(".") { word.removeLast() }
      guard !word.isEmpty, let refusal = refusal(of: word, mustExist: true),
        case .undeclaredFile = refusal.kind, isFile(word)
      else { continue }
      return refusal
    }
    return nil
  }

  private func isFile(_ written: String) -> Bool {
    var status = stat()
    return stat(written.hasPrefix("/") ? written : "\(directory)/\(written)", &status) == 0
      && status.st_mode & S_IFMT == S_IFREG
  }

  private func words(of line: Substring) -> [String] {
    line.split(maxSplits: Self.mostWords) { " '\"`:,;()[]‘’“”".contains($0) }
      .prefix(Self.mostWords).map(String.init)
  }

  /// Words for making something that is not there.
  private static let makers = [
    "creat", "open", "writ", "touch", "mk", "mak", "mov", "renam", "cop", "link", "Errno 13",
  ]

  /// The refusal in a line: of the path that the line is about, or else of one that it mentions.
  private func refusal(in line: Substring) -> Refusal? {
    let words = words(of: line)
    let topics = subjects(of: line) + quotedParts(of: line)
    for path in topics + inFolder(of: words, topics) {
      if let refusal = refusal(of: path, mustExist: true) {
        return refusal.mayBeFolder(line.containsText("exists"))
      }
    }
    let mentioned = words.compactMap { refusal(of: $0, mustExist: true) }
    if let refusal = mentioned.first(where: { $0.kind != .readOnly }) {
      return refusal.mayBeFolder(line.containsText("exists"))
    }
    let isMade = Self.makers.contains { line.containsText($0) }
    for path in topics where isMade || isLikelyPath(path) {
      if let refusal = refusal(of: path, mustExist: false) { return refusal }
    }
    return mentioned.first
  }

  /// The topics below the directory of the first path: a compiler names a header as it is included,
  /// after the file that includes it.
  private func inFolder(of words: [String], _ topics: [String]) -> [String] {
    guard let word = words.first(where: { $0.contains("/") }), let slash = word.lastIndex(of: "/")
    else { return [] }
    return topics.filter { !$0.hasPrefix("/") }.map { word[...slash] + $0 }
  }

  private func quotedParts(of line: Substring) -> [String] {
    var parts: [String] = []
    var rest = line
    while parts.count < Self.mostWords, let open = rest.firstIndex(where: { "'\"`‘“".contains($0) })
    {
      let inner = rest[rest.index(after: open)...]
      guard let close = inner.firstIndex(where: { "'\"`’”".contains($0) }) else { break }
      if close > inner.startIndex { parts.append(String(inner[..<close])) }
      rest = inner[inner.index(after: close)...]
    }
    return parts
  }

  /// The last parts before the error, divided by a colon and a space: `sh: 1: cannot create out/x:
  /// Permission denied`, `tar: x.tar: Cannot open: Permission denied`. Names may have spaces.
  private func subjects(of line: Substring) -> [String] {
    guard let sign = line.firstRange(ofText: ": Permission denied") else { return [] }
    var parts: [Substring] = []
    var rest = line[..<sign.lowerBound]
    while let end = rest.firstRange(ofText: ": ") {
      parts.append(rest[..<end.lowerBound])
      rest = rest[end.upperBound...]
    }
    parts.append(rest)
    for part in parts.suffix(2).reversed() {
      let subject = withoutPhrase(part)
      if subject.contains(where: { "'\"`‘’“”".contains($0) }) { return [] }
      let word = subject.split(separator: " ").last.map(String.init)
      if let word { return word == subject ? [word] : [String(subject), word] }
    }
    return []
  }

  /// The rest after `cannot create`, `could not open file` and the like.
  private func withoutPhrase(_ part: Substring) -> Substring {
    let phrases = ["cannot", "can't", "could not", "couldn't", "unable to", "failed to"]
    let lowercased = part.lowercased()
    guard let phrase = phrases.first(where: { lowercased.hasPrefix($0 + " ") }) else { return part }
    // Skips the verb, and the kind of file.
    var rest = part.dropFirst(phrase.count + 1).drop { $0 != " " }.dropFirst()
    while let word = rest.split(separator: " ").first,
      ["regular", "output", "input", "temporary", "file", "directory", "for"].contains(word)
    {
      rest = rest.dropFirst(word).drop { $0 == " " }
    }
    return rest
  }

  /// True if the text looks like a path: machines and accounts are refused, too.
  private func isLikelyPath(_ text: String) -> Bool {
    guard !text.contains("@"), !text.containsText("://") else { return false }
    if text.contains("/") { return true }
    guard let dot = text.lastIndex(of: "."), dot > text.startIndex else { return false }
    return access("\(directory)/\(text[..<dot])", F_OK) == 0
  }

  private func refusal(of written: String, mustExist: Bool) -> Refusal? {
    // A name in the output may have any bytes; no file name has a NUL.
    if written.utf8.contains(0) { return nil }
    let whole = written.hasPrefix("/") ? written : "\(directory)/\(written)"
    guard let path = normal(whole), !path.hasSameBytes(as: workspace),
      let slash = path.lastIndex(of: "/"), slash > path.startIndex
    else {
      return nil
    }
    let parent = String(path[..<slash])
    let exists = access(path, F_OK) == 0
    if mustExist != exists { return nil }
    guard path.isBelow(workspace) else {
      guard !exists, leadsToWorkspace(parent), access(parent, W_OK) == 0 else { return nil }
      let folder = written.lastIndex(of: "/").map { String(written[..<$0]) } ?? "."
      return Refusal(path: written, kind: .beside(folder: folder))
    }
    let name = String(path[path.index(after: slash)...])
    let isDetour = !written.hasPrefix("/") && ("/" + written).containsText("/.")
    let written = isDetour ? shown(parent) + name : written
    if exists { return refusal(ofFile: path, written, parent: parent, name) }
    guard access(parent, W_OK) == 0, !isOpen(parent) else { return nil }
    if accesses[PathName(path)] != nil { return Refusal(path: written, kind: .removed) }
    let folder = shown(parent)
    return Refusal(
      path: written, kind: .undeclaredPlace(pattern: folder.isEmpty ? nil : folder + "*"))
  }

  private func refusal(
    ofFile path: String, _ written: String, parent: String, _ name: String
  ) -> Refusal? {
    guard access(path, R_OK) == 0 else { return nil }
    if let access = accesses[PathName(path)] {
      switch access {
      case .everything: return Refusal(path: written, kind: .directory)
      case .reading:
        return Refusal(path: written, kind: hasChanged(path) ? .replaced : .readOnly)
      case .wholeFile: return fixed(written, in: parent, name)
      }
    }
    if let target = targetInWorkspace(of: path) {
      return refusal(of: target, mustExist: true)
    }
    if isOpen(path) { return nil }
    if hasRule(around: path) {
      return Refusal(path: written, kind: .readOnly)
    }
    let ending = name.lastIndex(of: ".").flatMap { $0 > name.startIndex ? name[$0...] : nil }
    return Refusal(
      path: written, kind: .undeclaredFile(pattern: ending.map { "\(shown(parent))*\($0)" }))
  }

  private func hasChanged(_ path: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    return Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec) > start
  }

  /// The target of a link, as the step's patterns write it; nil if it is not a link, or leads out of the workspace.
  private func targetInWorkspace(of path: String) -> String? {
    guard let target = realPath(path), !target.hasSameBytes(as: path), target.isBelow(workspace)
    else { return nil }
    return String(shown(target).dropLast())
  }

  /// True if everything can be done at the path.
  private func isOpen(_ path: String) -> Bool {
    accesses[PathName(path)] == .everything || hasRule(around: path) { $0 == .everything }
  }

  /// True if there is a rule for one of the directories around a path.
  private func hasRule(
    around path: String, where isMeant: (RuleList.Access) -> Bool = { _ in true }
  ) -> Bool {
    folder(around: path, where: isMeant) != nil
  }

  /// The nearest directory around a path that has such a rule.
  private func folder(
    around path: String, where isMeant: (RuleList.Access) -> Bool
  ) -> String? {
    var rest = path[...]
    while let slash = rest.utf8.lastIndex(of: UInt8(ascii: "/")) {
      rest = rest[..<slash]
      let folder = String(rest)
      if let access = accesses[PathName(folder)], isMeant(access) { return folder }
    }
    return nil
  }

  private func leadsToWorkspace(_ folder: String) -> Bool { workspace.isBelow(folder) }

  /// A path as the step's patterns write it, ending in a slash; empty for its own directory.
  private func shown(_ path: String) -> String {
    var base = directory
    var prefix = ""
    while !path.hasSameBytes(as: base), !path.hasPrefix(base + "/"),
      !base.hasSameBytes(as: workspace), let slash = base.lastIndex(of: "/")
    {
      base = String(base[..<slash])
      prefix += "../"
    }
    if path.hasSameBytes(as: base) { return prefix }
    guard path.hasPrefix(base + "/") else { return path + "/" }
    return prefix + path.dropFirst(base + "/") + "/"
  }

  /// The path without `.`, `..` and doubled slashes; nil if it is too long to name anything. The
  /// search takes time with the square of its length.
  private func normal(_ path: String) -> String? {
    if path.utf8.count >= Int(PATH_MAX) { return nil }
    var names: [Substring] = []
    for name in path.split(separator: "/") where name != "." {
      if name == ".." { _ = names.popLast() } else { names.append(name) }
    }
    return "/" + names.joined(separator: "/")
  }
}
