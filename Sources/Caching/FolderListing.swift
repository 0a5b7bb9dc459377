// The names in a directory. Linux allows any bytes in them, and patterns, results and messages are text.

import Diagnostics
import Glibc
import RunFiles

struct FolderListing {
  /// Sorted bytewise.
  private(set) var names: [String] = []
  /// Those that are no text. A step that reads or makes such a file is not cached.
  private(set) var odd: [FileName] = []

  init() {}

  /// Lists an open directory, which is closed. Nil, with `errno`, if it cannot be listed.
  init?(owning folder: Int32) {
    var names: [String] = []
    var odd: [FileName] = []
    let isListed = forEachName(owning: folder) { name in
      if let text = String(validatingCString: name) {
        names.append(text)
      } else {
        odd.append(FileName(name))
      }
    }
    guard isListed else { return nil }
    names.sort { $0.precedesByBytes($1) }
    self.names = names
    self.odd = odd
  }
}

extension FileName {
  /// Whether one name of a pattern matches it; `**` matches every directory and every file.
  func isMatched(by pattern: String) -> Bool {
    if pattern == "**" { return bytes.first != CChar(bitPattern: UInt8(ascii: ".")) }
    return FilePattern.matches(pattern, self)
  }

  /// Why a step with such a file is not cached.
  func fault(in folder: String) -> CacheFailure {
    let path = folder == "." ? "" : folder.hasSuffix("/") ? folder : folder + "/"
    let whole = FileName(joining: path.utf8.map { CChar(bitPattern: $0) }, characters)
    return CacheFailure("the name of \(whole.quoted) is not UTF-8")
  }
}
