// The inputs that a confined command may read: the files that are in the key of its step.

import Diagnostics
import Plans

extension StepCache {
  /// The inputs of a step as they were found for its key: absolute paths of files, and of directories with everything in
  /// them. Nil if nobody has looked for them, or if they are not what they were; those that were compared at `moment`
  /// are.
  package func readable(_ lookup: CacheLookup, at moment: Int) -> [String]? {
    guard let inputs = lookup.inputs else { return nil }
    if lookup.comparedAt != moment, !hasSameInputs(lookup) { return nil }
    var search = ReadableInputs(lookup, folder.state, below: options.workspace)
    for entry in inputs { search.take(entry) }
    return search.paths
  }
}

/// Goes through entries in the order of their paths: a directory comes before what is in it.
private struct ReadableInputs {
  private(set) var paths: [String] = []
  private let directory: String
  private let hidden: HiddenFolder?
  private let excluded: [FilePattern]
  /// The patterns that the step itself declares; nil if it has no others. Files that the others find behind links stay
  /// closed: steps before it have made them.
  private let own: [FilePattern]?
  private var around: [PathName: Around] = [:]
  /// The directory that was asked about last: what is in it comes one after the other.
  private var last: (folder: Substring, around: Around?) = ("", nil)

  /// The place of an entry, if that matters.
  private enum Around {
    /// A directory that is open with everything in it.
    case openFolder
    case link
  }

  init(_ lookup: CacheLookup, _ hidden: HiddenFolder?, below workspace: String) {
    directory = lookup.directory.isEmpty ? workspace : joined(workspace, lookup.directory)
    self.hidden = hidden
    let patterns = lookup.settings.inputs
    excluded = patterns.filter { $0.hasPrefix("!") }.map { FilePattern(String($0.dropFirst())) }
    let count = lookup.ownInputCount
    own =
      count == patterns.count
      ? nil
      : patterns.prefix(count).filter { !$0.hasPrefix("!") }.map { FilePattern($0) }
  }

  mutating func take(_ entry: FileEntry) {
    if entry.isOnlyListed { return }
    switch entry.kind {
    case .link: around[PathName(entry.path)] = .link
    case .directory:
      if entry.isBehindLink || !needsRule(entry) || isOpenInPart(entry.path) { return }
      around[PathName(entry.path)] = .openFolder
      paths.append(absolute(entry.path))
    case .absent where entry.isBehindLink: break
    case .file, .special, .absent: if needsRule(entry) { paths.append(absolute(entry.path)) }
    }
  }

  private mutating func needsRule(_ entry: FileEntry) -> Bool {
    switch entry.isBehindLink ? .link : nearest(around: entry.path) {
    case .openFolder: false
    case .link: own?.contains { $0.covers(entry.path) } ?? true
    case nil: true
    }
  }

  /// Whether something in a directory is no input, or may come that is none.
  private func isOpenInPart(_ path: String) -> Bool {
    if !excluded.isEmpty, path == "." || excluded.contains(where: { $0.reaches(into: path) }) {
      return true
    }
    return hidden?.isWithin(absolute(path)) == true
  }

  private func absolute(_ path: String) -> String {
    path == "." ? directory : joined(directory, path)
  }

  /// The nearest open directory or link that a path is in.
  private mutating func nearest(around path: String) -> Around? {
    guard !around.isEmpty, path != "." else { return nil }
    let folder = Self.folder(around: path[...])
    if !folder.isEmpty, folder.utf8.elementsEqual(last.folder.utf8) { return last.around }
    var rest = folder
    var found: Around?
    while found == nil, !rest.isEmpty {
      found = around[PathName(rest)]
      rest = Self.folder(around: rest)
    }
    if found == nil, !path.hasPrefix("/") { found = around[PathName(".")] }
    last = (folder, found)
    return found
  }

  private static func folder(around path: Substring) -> Substring {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[..<$0] } ?? ""
  }
}
