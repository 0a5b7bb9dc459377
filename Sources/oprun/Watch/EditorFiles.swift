// Files that editors make beside those that somebody edits: swap files, locks, backups.

import Diagnostics

enum EditorFiles {
  /// True if the last name of a path is that of such a file.
  static func contain(_ path: String) -> Bool {
    let name =
      path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[path.index(after: $0)...] }
      ?? path[...]
    return isOfVim(name) || isOfEmacs(name) || isOfOthers(name)
  }

  /// True for files of Vim: `.main.c.swp`, the backup `main.c~`, and 4913, with which it tests
  /// whether a directory is writable.
  private static func isOfVim(_ name: Substring) -> Bool {
    if name == "4913" || name.hasSuffix("~") { return true }
    let ending = name.utf8.suffix(4)
    return name.hasPrefix(".") && ending.starts(with: ".sw".utf8)
      && ending.last.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) } == true
  }

  /// True for files of Emacs: `#main.c#`, and the lock `.#main.c`.
  private static func isOfEmacs(_ name: Substring) -> Bool {
    name.hasPrefix(".#") || name.utf8.count > 2 && name.hasPrefix("#") && name.hasSuffix("#")
  }

  /// True for files of Kate, of programs that write with GLib, or of JetBrains editors.
  private static func isOfOthers(_ name: Substring) -> Bool {
    name.hasPrefix(".") && name.hasSuffix(".kate-swp") || name.hasPrefix(".goutputstream-")
      || name.hasSuffix("___jb_tmp___") || name.hasSuffix("___jb_old___")
  }
}
