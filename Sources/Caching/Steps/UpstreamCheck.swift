// Checks, at the end of a step, that what the steps before it made is what it was when its key was computed. A process
// of the cache does this: there may be many files.

import Diagnostics
import Glibc
import Plans

struct UpstreamCheck {
  struct Part {
    /// The id of the step.
    let step: String
    /// The one that its outputs are relative to; "" for where oprun was started.
    let directory: String
    /// The entries of the files that it has made, as they are written; empty if they are not known any more.
    let entries: [UInt8]
  }

  /// Where oprun was started.
  var workspace = ""
  /// The patterns of the files that the step that has ended may write besides its outputs.
  var scratch: [String] = []
  var parts: [Part] = []

  /// Throws if something has changed that the step may have read.
  func check(_ job: KeepJob) throws(CacheFailure) {
    if parts.isEmpty { return }
    let start = job.directory.isEmpty ? workspace : joined(workspace, job.directory)
    let own = (job.outputs + scratch).map { FilePattern($0, below: start) }
    var all: [(part: Part, entries: [FileEntry])] = []
    for part in parts {
      var reader = ByteReader(part.entries[...])
      guard let entries = try? reader.entries() else {
        throw CacheFailure("the files that step \(quoted(part.step)) made are not known any more")
      }
      all.append((part, entries))
    }
    var made: Set<PathName>?
    for (part, entries) in all {
      for entry in entries {
        let path = part.path(of: entry)
        guard let found = entry.change(at: path) else { continue }
        if entry.kind == .directory, found == .directory {
          // A step may write into the directory of another one.
          let places =
            made ?? Set(all.flatMap { part, entries in entries.map { place(of: $0, part) } })
          made = places
          if allows(place(of: entry, part).text, at: path, own, places) { continue }
        }
        throw CacheFailure(
          "\(quoted(path)), an output of step \(quoted(part.step)), changed before this step had ended"
        )
      }
    }
  }

  private func place(of entry: FileEntry, _ part: Part) -> PathName {
    PathName(FilePattern(path: part.path(of: entry), below: workspace).path)
  }

  /// Whether everything in a directory was made by the steps before, or is what the step that has ended writes there.
  private func allows(
    _ folder: String, at path: String, _ own: [FilePattern], _ made: Set<PathName>
  ) -> Bool {
    let writers = own.filter { $0.reaches(into: folder) }
    if writers.isEmpty { return false }
    return FolderListing.hasOnly(in: path) { name in
      let inner = joined(folder, name)
      return made.contains(PathName(inner))
        || writers.contains { $0.covers(inner) || $0.reaches(into: inner) }
    }
  }
}

extension UpstreamCheck.Part {
  fileprivate func path(of entry: FileEntry) -> String {
    directory.isEmpty ? entry.path : joined(directory, entry.path)
  }
}

extension FileEntry {
  /// The kind of the file that is there now, if it has changed since it was recorded; nil if it has not.
  fileprivate func change(at path: String) -> Kind? {
    if kind == .absent || kind == .special { return nil }
    return switch FileEntry.status(of: path, in: AT_FDCWD) {
    case .success(let status):
      FileStamp(status).isOfSameChange(as: stamp) ? nil : Kind(status.st_mode)
    case .failure: .absent
    }
  }
}

extension UpstreamCheck {
  func write(to writer: inout ByteWriter) {
    writer.add(workspace)
    writer.add(scratch)
    writer.add(parts) { writer, part in
      writer.add(part.step)
      writer.add(part.directory)
      writer.add(data: part.entries)
    }
  }

  init(from reader: inout ByteReader) throws(ByteReadFailure) {
    workspace = try reader.text()
    scratch = try reader.texts()
    parts = try reader.list { reader throws(ByteReadFailure) in
      Part(step: try reader.text(), directory: try reader.text(), entries: try reader.data())
    }
  }
}
