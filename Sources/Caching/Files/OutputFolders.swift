// The directories of outputs, reached without following links: where a path leads through a link, it may lead to files
// that are nobody's output.

import Diagnostics
import Glibc

/// The last directory stays open, because what follows is mostly in the same one.
final class OutputFolders {
  private let root: Int32
  private var folder: (path: String, number: Int32)?

  /// Paths that are not absolute start at `root`.
  init(_ root: Int32) { self.root = root }

  deinit { leave() }

  private func leave() {
    if let folder { close(folder.number) }
    folder = nil
  }

  /// A path in two parts: the directory that it is in, and the name in there.
  static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", path) }
    let name = String(path[path.utf8.index(after: slash)...])
    return (slash == path.startIndex ? "/" : String(path[..<slash]), name)
  }

  /// A descriptor of a directory, which stays open until the next one is asked for; nil if there is none. It throws if
  /// there is a link on the way, or something else that is no directory.
  func enter(_ path: String, making: Bool = false) throws(CacheFailure) -> Int32? {
    if path.isEmpty { return root }
    if let folder, folder.path.utf8.elementsEqual(path.utf8) { return folder.number }
    leave()
    let isAbsolute = path.utf8.first == UInt8(ascii: "/")
    var number = isAbsolute ? Glibc.open("/", onlyAPlace | O_DIRECTORY | O_CLOEXEC) : root
    var way = isAbsolute ? "/" : ""
    for part in path.utf8.split(separator: UInt8(ascii: "/")) {
      let name = String(Substring(part))
      way += way.isEmpty || way == "/" ? name : "/" + name
      let next = Self.step(into: name, of: number, making: making)
      let failure = errno
      let isLink = next < 0 && failure != ENOENT && Self.isLink(name, in: number)
      if number != root { close(number) }
      number = next
      if next >= 0 { continue }
      if failure == ENOENT, !making { return nil }
      throw isLink
        ? CacheFailure("\(quoted(way)) is a link, which is not followed to an output")
        : CacheFailure("cannot open \(quoted(way)): \(SystemError.reason(failure))")
    }
    folder = (path, number)
    return number
  }

  private static func step(into name: String, of folder: Int32, making: Bool) -> Int32 {
    let flags = onlyAPlace | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    let number = openat(folder, name, flags)
    guard number < 0, errno == ENOENT, making else { return number }
    guard mkdirat(folder, name, 0o777) == 0 || errno == EEXIST else { return -1 }
    return openat(folder, name, flags)
  }

  private static func isLink(_ name: String, in folder: Int32) -> Bool {
    guard case .success(let status) = FileEntry.status(of: name, in: folder) else { return false }
    return FileEntry.Kind(status.st_mode) == .link
  }
}
