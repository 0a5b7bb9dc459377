// What a step may read without declaring it: what the cached steps that it depends on have made.

import Diagnostics
import Glibc
import Plans

extension StepCache {
  /// Checks, at the end of a step, that what the steps before it made is still what is in its key. What it declares
  /// as an input is there by its content.
  package func checkUpstream(of lookup: CacheLookup) throws(CacheFailure) {
    if lookup.upstream.isEmpty { return }
    let declared = Set((lookup.inputs ?? []).map { place(of: $0, in: lookup.directory) })
    for part in lookup.upstream {
      guard let record = record(ofStep: part.step),
        StepDescription.resultDigest(of: record.key, record.outputs) == part.result
      else { continue }
      let directory = part.directory ?? ""
      let changed = record.outputs.first { output in
        (output.kind == .file || output.kind == .link)
          && !isUntouched(output, in: directory)
          && !declared.contains(place(of: output, in: directory))
      }
      guard let changed else { continue }
      throw CacheFailure(
        "\(quoted(path(of: changed, in: directory))), which step \(quoted(part.step)) made, changed before "
          + "it had ended; if that is meant, name it in 'inputs'")
    }
  }

  private func path(of entry: FileEntry, in directory: String) -> String {
    directory.isEmpty ? entry.path : joined(directory, entry.path)
  }

  private func place(of entry: FileEntry, in directory: String) -> PathName {
    PathName(FilePattern(path(of: entry, in: directory), below: options.workspace).path)
  }

  /// Whether nothing has been done to the file since it was recorded.
  private func isUntouched(_ entry: FileEntry, in directory: String) -> Bool {
    switch FileEntry.status(of: path(of: entry, in: directory), in: AT_FDCWD) {
    case .success(let status): FileStamp(status).isOfSameChange(as: entry.stamp)
    case .failure: false
    }
  }
}
