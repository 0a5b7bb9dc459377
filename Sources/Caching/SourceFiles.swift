// The files that a pipeline is planned from, as they were when they were read.

import Glibc

/// Notes each file just before it is read, so that a change while it is read is seen later.
package final class SourceFiles: @unchecked Sendable {  // there is one thread
  private(set) var files: [SourceFile] = []
  private var paths: Set<String> = []
  /// False if one of them changed so recently that another change might leave its stamp as it is.
  private(set) var areSettled = true

  package init() {}

  package func note(_ path: String) {
    guard paths.insert(path).inserted else { return }
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
  private let kind: FileEntry.Kind
  private let stamp: FileStamp

  fileprivate init(_ path: String) {
    self.path = path
    place = realPath(path) ?? ""
    switch FileEntry.status(of: path, in: AT_FDCWD, followsLinks: true) {
    case .success(let status):
      kind = FileEntry.Kind(status.st_mode)
      stamp = FileStamp(status)
    case .failure:
      kind = .absent
      stamp = .unknown
    }
  }

  fileprivate func isSettled(at moment: Int) -> Bool {
    kind == .absent || stamp.isSettled(at: moment)
  }

  var isUnchanged: Bool {
    SeenFile(kind: kind, isBehindLink: true, stamp: stamp).isStill(at: path)
      && place == (realPath(path) ?? "")
  }

  func write(to writer: inout ByteWriter) {
    writer.add(path)
    writer.add(place)
    writer.add(kind.rawValue)
    for number in [
      stamp.size, stamp.changed, stamp.modified, stamp.number, stamp.device, stamp.mode,
    ] { writer.add(number) }
  }

  /// Nil if the bytes are damaged.
  init?(from cursor: inout RecordCursor) {
    guard let path = cursor.text(), let place = cursor.text(),
      let kind = cursor.byte().flatMap(FileEntry.Kind.init(rawValue:)),
      let size = cursor.number(), let changed = cursor.number(), let modified = cursor.number(),
      let number = cursor.number(), let device = cursor.number(), let mode = cursor.number()
    else { return nil }
    self.path = String(decoding: path, as: UTF8.self)
    self.place = String(decoding: place, as: UTF8.self)
    self.kind = kind
    var stamp = FileStamp()
    stamp.size = size
    stamp.changed = changed
    stamp.modified = modified
    stamp.number = number
    stamp.device = device
    stamp.mode = mode
    self.stamp = stamp
  }
}

private func realPath(_ path: String) -> String? {
  guard let resolved = realpath(path, nil) else { return nil }
  defer { free(resolved) }
  return String(cString: resolved)
}
