// The names in a directory. Linux allows any bytes in them, and patterns, results and messages are text.

import Diagnostics
import Glibc
import RunFiles

struct FolderListing {
  /// Sorted bytewise.
  private(set) var names: [String] = []
  /// The names that are not UTF-8. A step that reads or makes such a file is not cached.
  private(set) var odd: [FileName] = []
  /// Files that are being put back, or that a killed run has left: they belong to nobody's inputs or outputs.
  private(set) var parts: [String] = []

  init() {}

  /// Lists an open directory, which is closed. Nil, with `errno`, if it cannot be listed.
  init?(owning folder: Int32) {
    var names: [String] = []
    var odd: [FileName] = []
    var parts: [String] = []
    let isListed = forEachName(owning: folder) { name in
      if let text = String(validatingCString: name) {
        if PartFile.isPart(text) { parts.append(text) } else { names.append(text) }
      } else {
        odd.append(FileName(name))
      }
    }
    guard isListed else { return nil }
    names.sort { $0.precedesByBytes($1) }
    self.names = names
    self.odd = odd
    self.parts = parts
  }
}

extension FileName {
  /// Why a step with such a file is not cached.
  func fault(in folder: String) -> CacheFailure {
    let path = folder == "." ? "" : folder.hasSuffix("/") ? folder : folder + "/"
    let whole = FileName(joining: path.utf8.map { CChar(bitPattern: $0) }, characters)
    return CacheFailure("the name of \(whole.quoted) is not UTF-8")
  }
}
