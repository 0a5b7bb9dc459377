// What a step may read without declaring it: what the cached steps that it depends on have made.

import Diagnostics
import Glibc
import Plans

extension StepCache {
  /// Checks, at the end of a step, that what the steps before it made is still what is in its key. What it declares
  /// as an input is there by its content.
  package func checkUpstream(of lookup: CacheLookup) throws(CacheFailure) {
    for part in lookup.upstream {
      guard let record = record(ofStep: part.step),
        StepDescription.resultDigest(of: record.key, record.outputs) == part.result
      else { continue }
      let directory = part.directory ?? ""
      let changed = record.outputs.filter {
        ($0.kind == .file || $0.kind == .link) && !isUntouched($0, in: directory)
      }
      if changed.isEmpty { continue }
      let declared = Set((lookup.inputs ?? []).map { place(of: $0, in: lookup.directory) })
      guard let file = changed.first(where: { !declared.contains(place(of: $0, in: directory)) })
      else { continue }
      throw CacheFailure(
        "\(quoted(path(of: file, in: directory))), an output of step \(quoted(part.step)), changed before "
          + "this step had ended; if that is intended, declare the file in 'inputs'")
    }
  }

  /// The files that are in the key of a step because steps before it have made them, by the ids of these. Links open
  /// nothing by themselves, and of a directory that is an output as such, everything counts.
  package func filesBefore(_ lookup: CacheLookup) -> [String: [String]] {
    var files: [String: [String]] = [:]
    for part in lookup.upstream {
      if let known = filesMade[part.step], known.result == part.result {
        files[part.step] = known.paths
        continue
      }
      guard let record = record(ofStep: part.step),
        StepDescription.resultDigest(of: record.key, record.outputs) == part.result
      else { continue }
      let directory = joined(options.workspace, part.directory ?? "")
      let folders = Set(
        record.outputs.lazy.filter { $0.kind == .directory }.map { PathName($0.path) })
      let paths = record.outputs.filter {
        ($0.kind == .file || $0.kind == .directory) && !$0.isWithin(folders)
      }.map { joined(directory, $0.path) }
      filesMade[part.step] = (part.result, paths)
      files[part.step] = paths
    }
    return files
  }

  private func path(of entry: FileEntry, in directory: String) -> String {
    directory.isEmpty ? entry.path : joined(directory, entry.path)
  }

  private func place(of entry: FileEntry, in directory: String) -> PathName {
    PathName(FilePattern(path: path(of: entry, in: directory), below: options.workspace).path)
  }

  /// Whether nothing has been done to the file since it was recorded.
  private func isUntouched(_ entry: FileEntry, in directory: String) -> Bool {
    switch FileEntry.status(of: path(of: entry, in: directory), in: AT_FDCWD) {
    case .success(let status): FileStamp(status).isOfSameChange(as: entry.stamp)
    case .failure: false
    }
  }
}
