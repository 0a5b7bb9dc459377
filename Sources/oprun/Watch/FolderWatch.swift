// Notices changes in directories, through inotify.

import Caching
import Diagnostics
import Glibc
import RunFiles

/// A change below a watched directory.
struct NotedChange: Hashable {
  enum Kind: Hashable {
    case file
    /// A new directory. Its contents are noted separately.
    case newFolder
    /// A directory in which anything may have changed: it was removed or moved away, or something
    /// in it has a name that is not text.
    case folder
  }

  /// The absolute path, as it is declared: it may lead through links.
  let path: String
  /// True if the path existed before.
  let existed: Bool
  var kind = Kind.file
  /// The place of the change: the path without links.
  let place: String

  init(path: String, existed: Bool, kind: Kind = .file, place: String? = nil) {
    self.path = path
    self.existed = existed
    self.kind = kind
    self.place = place ?? path
  }

  /// True if only a link leads there.
  var isBehindLink: Bool { !path.hasSameBytes(as: place) }
}

/// Watches directories one by one: the kernel does not watch those below them by itself.
final class FolderWatch {
  private struct Folder {
    let place: String
    /// The paths under which changes in the directory are noted; empty if only targets of links matter.
    var paths: [WatchedPath] = []
    /// The known names in the directory that are text; nil if it was not listed.
    var names: Set<PathName>?
    /// Names in it that links lead to or through, with the paths of these links.
    var ends: [PathName: Set<PathName>] = [:]
  }

  private let descriptor: Int32
  private var folders: [Int32: Folder] = [:]
  /// The directories that were watched before, while the new ones are determined.
  private var former: [Int32: Folder] = [:]
  private var scope = WatchScope()
  /// The links that were followed, and whether they lead to directories.
  private var links: [PathName: Bool] = [:]
  /// The ways in which directories behind links are read.
  private var foldersRead: Set<FolderRead> = []
  /// True if the kernel has lost changes.
  private(set) var hasLostChanges = false
  /// True if something has changed that decides which directories are to be watched: a link, the
  /// target of one, or a root.
  private(set) var isOutdated = false

  private static let mask = UInt32(
    IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB
      | IN_DELETE_SELF
      | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK)

  init() throws(SystemError) {
    descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    guard descriptor >= 0 else {
      let isLimit = errno == EMFILE
      throw SystemError(
        isLimit
          ? "cannot watch directories: too many programs of this user watch files"
          : "cannot watch directories",
        errno: errno)
    }
  }

  deinit { close(descriptor) }

  var number: Int32 { descriptor }

  var count: Int { folders.count }

  // MARK: Watching

  /// Watches the directories in the scope, and nothing else.
  func watch(_ scope: WatchScope) throws(SystemError) {
    self.scope = scope
    former = folders
    folders = [:]
    links = [:]
    foldersRead = []
    for path in scope.leads {
      let places = LinkTrail(path).places
      if !places.isEmpty { try follow(places[...], as: path) }
    }
    for root in scope.roots { try addTree(WatchedPath(root: root)) { _, _ in } }
    for number in former.keys where folders[number] == nil {
      inotify_rm_watch(descriptor, number)
    }
    former = [:]
    hasLostChanges = false
    isOutdated = false
  }

  private func kind(of path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  /// The number of the watch of a directory; nil if there is no such directory.
  private func add(_ place: String) throws(SystemError) -> Int32? {
    let number = inotify_add_watch(descriptor, place, Self.mask)
    guard number >= 0 else {
      switch errno {
      case ENOENT, ENOTDIR, EACCES, ELOOP: return nil
      case ENOSPC:
        let count = Set(folders.keys).union(former.keys).count
        throw SystemError(
          "cannot watch \(quoted(place)): the limit of watched directories is reached, with \(count) here",
          errno: ENOSPC)
      default: throw SystemError("cannot watch \(quoted(place))", errno: errno)
      }
    }
    if folders[number] == nil {
      // Known names stay known, because changes that have not been read yet refer to them.
      let names = hasLostChanges ? nil : former[number]?.names
      folders[number] = Folder(place: place, names: names)
    }
    return number
  }

  private static func names(in path: String) -> Set<PathName> {
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    return Set((folder >= 0 ? namesOfFiles(owning: folder) ?? [] : []).map { PathName($0) })
  }

  /// Watches a directory and those below it that are wanted, and reports their contents. Links come
  /// last, so that the way to a directory is short and always the same.
  private func addTree(
    _ folder: WatchedPath, _ tell: (WatchedPath, NotedChange.Kind) -> Void
  ) throws(SystemError) {
    var open = [folder]
    while !open.isEmpty {
      var found: [WatchedPath] = []
      while let folder = open.popLast() { try add(folder, &open, &found, tell) }
      for link in found.sorted(by: { $0.path.precedesByBytes($1.path) }) {
        if let target = try follow(link) { open.append(target) }
      }
    }
  }

  /// Watches one directory, and reports the directories and links in it.
  private func add(
    _ folder: WatchedPath, _ inside: inout [WatchedPath], _ links: inout [WatchedPath],
    _ tell: (WatchedPath, NotedChange.Kind) -> Void
  ) throws(SystemError) {
    guard let number = try add(folder.place), let known = folders[number],
      !known.paths.contains(folder)
    else { return }
    let names = known.names ?? Self.names(in: folder.place)
    folders[number]?.names = names
    folders[number]?.paths.append(folder)
    for name in names {
      let inner = folder.appending(name.text)
      switch kind(of: inner.place) {
      case S_IFDIR:
        guard scope.wants(inner) else { continue }
        tell(inner, .newFolder)
        inside.append(inner)
      case S_IFLNK:
        tell(inner, .file)
        links.append(inner)
      default: tell(inner, .file)
      }
    }
  }

  /// Watches the directories that a link leads through. Returns its target, if that is a wanted directory.
  private func follow(_ link: WatchedPath) throws(SystemError) -> WatchedPath? {
    // Following a link costs more than asking, and there may be very many links.
    guard scope.wants(link.leading(to: link.place)) || scope.follows(link) else { return nil }
    let trail = LinkTrail(link.place)
    let target = link.leading(to: trail.end)
    try follow(trail.places.dropFirst(), as: link.path)
    guard scope.wants(target), kind(of: trail.end) == S_IFDIR else { return nil }
    guard let ways = scope.waysToRead(target) else { return target }
    if ways.isSubset(of: foldersRead) { return nil }
    foldersRead.formUnion(ways)
    return target
  }

  /// Notes changes of places, from now on, as those of a path that leads there.
  private func follow(_ places: ArraySlice<String>, as path: String) throws(SystemError) {
    var status = stat()
    let isFolder = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    links[PathName(path)] = isFolder
    for place in places {
      guard let slash = place.utf8.lastIndex(of: UInt8(ascii: "/")),
        let number = try add(slash == place.startIndex ? "/" : String(place[..<slash]))
      else { continue }
      let name = PathName(String(place[place.utf8.index(after: slash)...]))
      folders[number]?.ends[name, default: []].insert(PathName(path))
    }
  }

  // MARK: Changes

  /// Takes the changes since the last call.
  func take() throws(SystemError) -> [NotedChange] {
    var changes: [NotedChange] = []
    let size = 1 << 16
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
    defer { buffer.deallocate() }
    while true {
      let count = read(descriptor, buffer.baseAddress, size)
      guard count > 0 else { return changes }
      var offset = 0
      while offset < count {
        let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
        let start = offset + MemoryLayout<inotify_event>.size
        let name = buffer[start..<start + Int(event.len)].prefix { $0 != 0 }
        let change = Event(mask: event.mask, name: String(validating: name, as: UTF8.self))
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { hasLostChanges = true }
        try note(change, in: event.wd, &changes)
        offset = start + Int(event.len)
      }
    }
  }

  private struct Event {
    let mask: UInt32
    /// The name; nil if it is not text.
    let name: String?

    func isOneOf(_ bits: Int32) -> Bool { mask & UInt32(bits) != 0 }

    var hasCome: Bool { isOneOf(IN_CREATE | IN_MOVED_TO) }
    var hasGone: Bool { isOneOf(IN_DELETE | IN_MOVED_FROM) }
  }

  private func note(
    _ event: Event, in number: Int32, _ changes: inout [NotedChange]
  ) throws(SystemError) {
    guard let folder = folders[number] else { return }
    if event.isOneOf(IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF) {
      return noteLoss(of: number, folder, event, &changes)
    }
    guard let name = event.name else {
      changes += folder.paths.map {
        NotedChange(path: $0.path, existed: true, kind: .folder, place: $0.place)
      }
      return
    }
    guard !name.isEmpty else { return }
    let existed = folder.names?.contains(PathName(name)) == true
    if event.hasCome { folders[number]?.names?.insert(PathName(name)) }
    if event.hasGone { folders[number]?.names?.remove(PathName(name)) }
    for path in folder.paths {
      if event.isOneOf(IN_ISDIR) {
        try noteFolder(path.appending(name), event, existed: existed, &changes)
      } else {
        noteFile(path.appending(name), event, existed: existed, &changes)
      }
    }
    for link in folder.ends[PathName(name)] ?? [] {
      if event.hasCome || event.hasGone { isOutdated = true }
      changes += Self.changes(
        of: link.text, existed: true, isFolder: links[link] == true,
        in: folder.place == "/" ? "/" + name : "\(folder.place)/\(name)")
    }
  }

  /// The changes for a path. A link to a directory is a directory, and a file.
  private static func changes(
    of path: String, existed: Bool, isFolder: Bool, in place: String
  ) -> [NotedChange] {
    (isFolder ? [.file, .folder] : [NotedChange.Kind.file]).map {
      NotedChange(path: path, existed: existed, kind: $0, place: place)
    }
  }

  /// Notes the loss of a watched root. Other directories that move away are noted by those around them.
  private func noteLoss(
    of number: Int32, _ folder: Folder, _ event: Event, _ changes: inout [NotedChange]
  ) {
    let roots = folder.paths.filter { path in
      scope.roots.contains { $0.hasSameBytes(as: path.path) }
    }
    changes += roots.map {
      NotedChange(path: $0.path, existed: true, kind: .folder, place: $0.place)
    }
    if !roots.isEmpty || !folder.ends.isEmpty { isOutdated = true }
    if !event.isOneOf(IN_MOVE_SELF) { folders[number] = nil }
  }

  private func noteFile(
    _ path: WatchedPath, _ event: Event, existed: Bool, _ changes: inout [NotedChange]
  ) {
    var isFolder = false
    if event.hasCome || event.hasGone {
      let link = links[PathName(path.path)]
      let isLink = event.hasCome && kind(of: path.place) == S_IFLNK
      let target = isLink ? path.leading(to: LinkTrail(path.place).end) : path
      let leads = isLink && scope.wants(target)
      if link != nil || leads || isLink && scope.follows(path) { isOutdated = true }
      isFolder = link == true || leads && kind(of: target.place) == S_IFDIR
    }
    changes += Self.changes(of: path.path, existed: existed, isFolder: isFolder, in: path.place)
  }

  private func noteFolder(
    _ path: WatchedPath, _ event: Event, existed: Bool, _ changes: inout [NotedChange]
  ) throws(SystemError) {
    guard scope.wants(path) else { return }
    let note = { (path: WatchedPath, existed: Bool, kind: NotedChange.Kind) in
      NotedChange(path: path.path, existed: existed, kind: kind, place: path.place)
    }
    if event.hasCome {
      changes.append(note(path, existed, .newFolder))
      try addTree(path) { changes.append(note($0, false, $1)) }
    }
    if event.hasGone {
      changes.append(note(path, existed, .folder))
      if event.isOneOf(IN_MOVED_FROM) { forget(path.path) }
    }
  }

  /// Forgets a directory that has moved away, with those in it.
  private func forget(_ path: String) {
    // A directory that was read behind a link in there may be behind another one.
    if !foldersRead.isEmpty { isOutdated = true }
    for (number, folder) in folders {
      let left = folder.paths.filter {
        !$0.path.hasSameBytes(as: path) && !$0.path.isBelow(path)
      }
      if left.count == folder.paths.count { continue }
      folders[number]?.paths = left
      if !left.isEmpty { continue }
      folders[number]?.names = nil
      if folder.ends.isEmpty {
        folders[number] = nil
        inotify_rm_watch(descriptor, number)
      }
    }
  }
}
