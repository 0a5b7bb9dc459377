// The files that a pipeline is planned from, as they were when they were read.

import Diagnostics
import Glibc

/// Notes each file just before it is read, so that a change while it is read is seen later.
package final class SourceFiles: @unchecked Sendable {  // there is one thread
  private(set) var files: [SourceFile] = []
  private var paths: Set<PathName> = []
  /// False if one of them changed so recently that another change might leave its stamp as it is.
  private(set) var areSettled = true

  package init() {}

  package func note(_ path: String) {
    guard paths.insert(PathName(path)).inserted else { return }
    let now = FileStamp.now
    let file = SourceFile(path)
    if !file.isSettled(at: now) { areSettled = false }
    files.append(file)
  }
}

struct SourceFile {
  let path: String
  /// Where it is once all links are followed; planning refuses files that a link leads out of their directory to.
  private let place: String
  private let file: SeenFile

  fileprivate init(_ path: String) {
    self.path = path
    place = realPath(path) ?? ""
    switch FileEntry.status(of: path, in: AT_FDCWD, followsLinks: true) {
    case .success(let status):
      let kind = FileEntry.Kind(status.st_mode)
      // A change of what is in a directory changes no source.
      file = SeenFile(
        kind: kind, isBehindLink: true, stamp: kind == .directory ? .unknown : FileStamp(status))
    case .failure: file = SeenFile(kind: .absent, isBehindLink: true, stamp: .unknown)
    }
  }

  /// Nil if the bytes are damaged.
  init?(from cursor: inout RecordCursor) {
    guard let path = cursor.text(), let file = cursor.seenFile(), cursor.digest() != nil,
      let place = cursor.text()
    else { return nil }
    self.path = String(decoding: path, as: UTF8.self)
    self.place = String(decoding: place, as: UTF8.self)
    self.file = file
  }

  /// The entry that is written in records: one that a link leads to has the place as its target.
  var entry: FileEntry {
    var entry = FileEntry(path, file.kind)
    entry.isBehindLink = true
    entry.stamp = file.stamp
    entry.target = place
    return entry
  }

  fileprivate func isSettled(at moment: Int) -> Bool {
    file.kind == .absent || file.stamp.isSettled(at: moment)
  }

  var isUnchanged: Bool { file.isStill(at: path) && place == (realPath(path) ?? "") }
}
