// Checks, at the end of a step, that what the steps before it made is still what is in its key. What it declares as an
// input is there by its content. A process of the cache does this: there may be many files.

import Diagnostics
import Glibc
import Plans

struct UpstreamCheck {
  struct Part {
    /// The id of the step.
    let step: String
    /// The one that its outputs are relative to; "" for where oprun was started.
    let directory: String
    /// What it has made, as it is written.
    let entries: [UInt8]
  }

  /// Where oprun was started.
  var workspace = ""
  /// What the step that has ended may write besides its outputs.
  var scratch: [String] = []
  var parts: [Part] = []

  /// Throws if something has changed that the step may have read.
  func check(_ job: KeepJob) throws(CacheFailure) {
    if parts.isEmpty { return }
    var declared: [PathName: FileEntry] = [:]
    for entry in job.known {
      let place = PathName(absolute(entry.path, job.directory))
      if declared[place]?.isOnlyListed != false { declared[place] = entry }
    }
    let start = job.directory.isEmpty ? workspace : joined(workspace, job.directory)
    let own = (job.outputs + scratch).map { FilePattern($0, below: start) }
    let all = parts.compactMap { part -> (part: Part, entries: [FileEntry], places: [PathName])? in
      var reader = ByteReader(part.entries[...])
      guard let entries = try? reader.entries() else { return nil }
      return (part, entries, entries.map { PathName(absolute($0.path, part.directory)) })
    }
    // A step may write into the directory of another one.
    let made = Made(places: Set(all.flatMap(\.places)))
    for (part, entries, places) in all {
      for (entry, place) in zip(entries, places) {
        let path = part.path(of: entry)
        guard let found = entry.change(at: path) else { continue }
        if let known = declared[place], !known.isOnlyListed { continue }
        if entry.kind == .directory, found == .directory,
          made.allows(contentOf: place, at: path, declared, own)
        {
          continue
        }
        throw CacheFailure(
          "\(quoted(path)), an output of step \(quoted(part.step)), changed before this step "
            + "had ended; if that is intended, declare the "
            + (entry.kind == .directory ? "directory" : "file") + " in 'inputs'")
      }
    }
  }

  private func absolute(_ path: String, _ directory: String) -> String {
    FilePattern(
      path: directory.isEmpty ? path : joined(directory, path), below: workspace
    ).path
  }
}

/// What the steps before have made, by absolute paths.
private struct Made {
  let places: Set<PathName>

  /// Whether everything that was added to a directory was made by the steps before, or is declared by the step that has
  /// ended, which looks for files there, or writes some.
  func allows(
    contentOf place: PathName, at path: String, _ declared: [PathName: FileEntry],
    _ own: [FilePattern]
  ) -> Bool {
    let writers = own.filter { $0.reaches(into: place.text) }
    guard declared[place] != nil || !writers.isEmpty else { return false }
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0, let listing = FolderListing(owning: folder), listing.odd.isEmpty else {
      return false
    }
    return listing.names.allSatisfy { name in
      let inner = joined(place.text, name)
      return places.contains(PathName(inner)) || declared[PathName(inner)] != nil
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
  /// What is there now, if something has been done to it since it was recorded.
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
