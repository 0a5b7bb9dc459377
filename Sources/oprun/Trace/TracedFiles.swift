// The files that a command used, from the records of its calls, in their order.

import Caching
import Diagnostics

/// One record of `clinux_trace`.
struct TraceRecord: Hashable {
  let kind: Character
  let path: String
  /// The new name; of a file that is read, executed, opened or looked for, the path as the command
  /// wrote it; of a directory that is listed, the program; of a link, the directory that it leads
  /// to. Empty if there is none.
  let newPath: String
}

/// The records of one command.
struct TracedCommand {
  private(set) var records: [TraceRecord] = []
  /// The directory that the command began in; nil if nothing was noted.
  private(set) var directory: String?
  /// False if the end is missing: it could not be written, or the command was killed with the process that watched it.
  private(set) var isComplete = false
  /// True if processes were still there some time after the command had ended.
  private(set) var leavesProcesses = false
  /// Paths that are not UTF-8. No pattern can name them.
  private var unnameable: Set<[UInt8]> = []

  init(_ bytes: [UInt8]) {
    let fields = bytes.split(separator: 0, omittingEmptySubsequences: false)
    for index in stride(from: 0, to: fields.count - 2, by: 3) {
      guard let kind = fields[index].first, fields[index].count == 1 else { continue }
      add(Character(Unicode.Scalar(kind)), fields[index + 1], fields[index + 2])
    }
  }

  /// The paths below a directory that no pattern can name, as they are shown.
  func unnameable(below folder: String) -> [String] {
    let around = Array((folder == "/" ? folder : folder + "/").utf8)
    return unnameable.filter { $0.starts(with: around) }.map {
      "'\(printable(Array($0.dropFirst(around.count))))'"
    }
  }

  private mutating func add(
    _ kind: Character, _ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>
  ) {
    guard let path = String(validating: first, as: UTF8.self),
      let newPath = String(validating: second, as: UTF8.self)
    else {
      for path in [first, second] where String(validating: path, as: UTF8.self) == nil {
        unnameable.insert(Array(path))
      }
      return
    }
    switch kind {
    case "w": directory = path
    case "E": isComplete = true
    case "B": leavesProcesses = true
    default: records.append(TraceRecord(kind: kind, path: path, newPath: newPath))
    }
  }
}

/// The files by their use.
struct TracedFiles {
  /// Files that were read, or executed, and had not been made by the command itself.
  private(set) var read: PathSet = []
  /// Files that were only looked at, such as their times, and had not been made by the command itself.
  private(set) var looked: PathSet = []
  /// Paths that were looked for in the workspace and exist neither now nor because of the command.
  /// If the directory does not exist either, it is named instead. Files that were then found
  /// elsewhere on the machine, as system headers are, are left out, and so are files that compilers
  /// keep of those that they read.
  private(set) var missing: PathSet = []
  /// The paths by which files were read or looked at: other than their own if links were on the way.
  private(set) var names: [PathName: PathSet] = [:]
  /// Files that the command made or changed, and left.
  private(set) var written: PathSet = []
  /// Files that the command made and removed again, or renamed.
  private(set) var temporary: PathSet = []
  /// Files that existed before and are gone.
  private(set) var removed: PathSet = []
  /// Links whose targets matter, with the directories that they lead to.
  private(set) var leads: [PathName: String] = [:]
  /// Files that were written by renaming, after a removal, or in a way that expects nothing at the path.
  private(set) var replaced: PathSet = []
  /// The programs that ran, in order.
  private(set) var programs: [String] = []
  /// Directories that existed before and were listed, with the programs that did.
  private(set) var listed: [PathName: PathSet] = [:]
  /// Directories that the command made and left.
  private(set) var folders: PathSet = []
  /// Directories that the command made and removed again.
  private(set) var temporaryFolders: PathSet = []
  /// Directories that the command gave their names.
  private(set) var renamedFolders: PathSet = []
  /// Unix sockets that others made, and that the command has connected to.
  private(set) var connected: PathSet = []
  /// Unix sockets that the command made, which nothing can restore.
  private var sockets: PathSet = []
  /// Directories that the command removed, if they were there, and made again.
  private(set) var remadeFolders: PathSet = []
  private var made: PathSet = []
  private var changed: PathSet = []
  /// Files that existed before, and lost their contents before the command read them.
  private var emptied: PathSet = []
  /// Paths that the command has removed, or tried to.
  private var unwanted: PathSet = []
  /// Paths, as far as they can be inputs, at which nothing existed, nor a link: the number of looks
  /// that were not followed by a removal, which looks first to be sure.
  private var absent: [PathName: (name: String, count: Int)] = [:]

  /// The endings of the names of files that compilers keep.
  private static let kept = [".gch", ".pch", ".pyc"]

  init(_ records: [TraceRecord], workspace: String, exists: (String) -> Bool) {
    for record in records { add(record) }
    missing.formUnion(absent.values.lazy.filter { $0.count > 0 }.map(\.name))
    for path in made.union(changed) {
      if exists(path), !sockets.contains(path) {
        written.insert(path)
      } else if made.contains(path) {
        temporary.insert(path)
      }
    }
    looked = looked.filter(exists).subtracting(read).subtracting(written)
    let elsewhere = PathSet(read.filter { !$0.isBelow(workspace) }.map(Self.name(of:)))
    missing = missing.filter { path in
      path.isBelow(workspace) && !elsewhere.contains(Self.name(of: path))
        && !Self.kept.contains { path.hasSuffix($0) } && isUntouched(path)
    }
    missing = PathSet(missing.map { Self.firstMissing($0, exists) })
      .filter { !exists($0) && isUntouched($0) }
    temporaryFolders = temporaryFolders.filter { !exists($0) }
    folders = folders.filter(exists)
    remadeFolders = removed.union(unwanted).intersection(folders)
    removed = removed.filter { !exists($0) }
    renamedFolders = renamedFolders.filter(exists)
    listed = listed.filter { !folders.contains($0.key.text) && exists($0.key.text) }
    replaced = replaced.union(unwanted).intersection(written)
    temporary.subtract(written)
  }

  /// True if the command has neither made nor removed the file, or a directory that it is in.
  private func isUntouched(_ path: String) -> Bool {
    if made.contains(path) || temporary.contains(path) { return false }
    var path = path
    while true {
      if removed.contains(path) || folders.contains(path) || temporaryFolders.contains(path)
        || renamedFolders.contains(path)
      {
        return false
      }
      guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return true }
      path = String(path[..<slash])
    }
  }

  private static func name(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  /// The first missing directory on the way to a path, or the path itself.
  private static func firstMissing(_ path: String, _ exists: (String) -> Bool) -> String {
    var path = path
    while let slash = path.lastIndex(of: "/"), slash > path.startIndex,
      !exists(String(path[..<slash]))
    {
      path = String(path[..<slash])
    }
    return path
  }

  private mutating func add(_ record: TraceRecord) {
    let path = record.path
    switch record.kind {
    case "r": noteReading(path, as: record.newPath)
    case "x":
      noteReading(path, as: record.newPath)
      if !programs.contains(path) { programs.append(path) }
    case "s":
      if made.contains(path) || emptied.contains(path) { return }
      looked.insert(path)
      noteName(record.newPath, of: path)
    case "?": missing.insert(Self.plainName(record.newPath) ?? path)
    case "N":
      absent[PathName(path), default: (Self.plainName(record.newPath) ?? path, 0)].count += 1
    case "y": leads[PathName(path)] = record.newPath
    case "n": made.insert(path)
    case "b":
      made.insert(path)
      sockets.insert(path)
    case "c": if !sockets.contains(path) { connected.insert(path) }
    case "e":
      made.insert(path)
      replaced.insert(path)
    case "t":
      noteChange(path)
      emptied.insert(path)
    case "u":
      noteReading(path)
      noteChange(path)
    case "d": noteRemoval(path)
    case "D":
      unwanted.insert(path)
      absent[PathName(path)]?.count -= 1
    case "o": noteName(record.newPath, of: path)
    case "L": listed[PathName(path), default: []].insert(record.newPath)
    case "k": folders.insert(path)
    case "K":
      if folders.remove(path) != nil {
        temporaryFolders.insert(path)
      } else {
        removed.insert(path)
      }
    case "m", "M": noteMove(of: path, to: record.newPath)
    case "X":
      for path in [path, record.newPath] {
        noteReading(path)
        noteChange(path)
      }
    case "l":
      noteReading(path)
      made.insert(record.newPath)
      replaced.insert(record.newPath)
    default: break
    }
  }

  private mutating func noteReading(_ path: String, as name: String = "") {
    if made.contains(path) || emptied.contains(path) { return }
    read.insert(path)
    noteName(name, of: path)
  }

  /// Notes a name of a path. A name through a link that the command itself has made does not count:
  /// without the command it leads nowhere.
  private mutating func noteName(_ name: String, of path: String) {
    let name = Self.plainName(name).flatMap { isUntouched($0) ? $0 : nil }
    names[PathName(path), default: []].insert(name ?? path)
  }

  /// The path as it was written; nil if there is none, or if it contains `..`, whose meaning
  /// depends on the links before it.
  private static func plainName(_ name: String) -> String? {
    let words = name.split(separator: "/").filter { $0 != "." }
    return words.isEmpty || words.contains("..") ? nil : "/" + words.joined(separator: "/")
  }

  private mutating func noteChange(_ path: String) {
    if !made.contains(path) { changed.insert(path) }
  }

  private mutating func noteRemoval(_ path: String) {
    unwanted.insert(path)
    sockets.remove(path)
    if made.remove(path) != nil { temporary.insert(path) } else { removed.insert(path) }
  }

  /// Notes a new name. A directory takes everything in it along.
  private mutating func noteMove(of old: String, to new: String) {
    let isInside = { (path: String) in path.hasSameBytes(as: old) || path.isBelow(old) }
    let inner = made.filter(isInside)
    let innerFolders = folders.filter(isInside)
    let innerSockets = sockets.filter(isInside)
    sockets.subtract(innerSockets)
    sockets.formUnion(innerSockets.map { new + Substring($0.utf8.dropFirst(old.utf8.count)) })
    if innerFolders.isEmpty, !inner.contains(where: { !$0.hasSameBytes(as: old) }) {
      noteRemoval(old)
      made.insert(new)
      replaced.insert(new)
      return
    }
    made.subtract(inner)
    made.formUnion(inner.map { new + Substring($0.utf8.dropFirst(old.utf8.count)) })
    folders.subtract(innerFolders)
    folders.formUnion(innerFolders.map { new + Substring($0.utf8.dropFirst(old.utf8.count)) })
    renamedFolders.insert(new)
  }
}
