// What a step may read without declaring it: what the cached steps that it depends on have made.

import Plans

/// What a step has made, for those that depend on it.
struct MadeBefore {
  let result: CacheDigest
  /// The files, as a confined command gets them.
  let paths: [String]
  /// All entries with their stamps, as they are written.
  let entries: [UInt8]
}

extension StepCache {
  /// What keeps the result of a step, now that its command has succeeded; nil if it is not to be kept.
  package func keepJob(of lookup: CacheLookup, log: String?) -> CacheJob? {
    guard lookup.fault == nil, let inputs = lookup.inputs else { return nil }
    var job = KeepJob(
      directory: lookup.directory, inputs: lookup.settings.inputs, outputs: lookup.settings.outputs,
      known: inputs, log: log, end: FileStamp.exactNow)
    job.upstream = UpstreamCheck(
      workspace: options.workspace, scratch: lookup.settings.scratch,
      parts: lookup.upstream.compactMap { part in
        made(by: part).map { made in
          UpstreamCheck.Part(
            step: part.step, directory: part.directory ?? "", entries: made.entries)
        }
      })
    return .keep(job)
  }

  /// The files that are in the key of a step because steps before it have made them, by the ids of these. Links open
  /// nothing by themselves, and of a directory that is an output as such, everything counts.
  package func filesBefore(_ lookup: CacheLookup) -> [String: [String]] {
    var files: [String: [String]] = [:]
    for part in lookup.upstream { files[part.step] = made(by: part)?.paths }
    return files
  }

  private func made(by part: Upstream.Result) -> MadeBefore? {
    if let known = made[part.step], known.result == part.result { return known }
    guard let record = record(ofStep: part.step),
      StepDescription.resultDigest(of: record.key, record.outputs) == part.result
    else { return nil }
    let directory = joined(options.workspace, part.directory ?? "")
    let folders = Set(
      record.outputs.lazy.filter { $0.kind == .directory }.map { PathName($0.path) })
    let paths = record.outputs.filter {
      ($0.kind == .file || $0.kind == .directory) && !$0.isWithin(folders)
    }.map { joined(directory, $0.path) }
    var entries = ByteWriter()
    entries.add(record.outputs) { $1.write(to: &$0) }
    let made = MadeBefore(result: part.result, paths: paths, entries: entries.bytes)
    self.made[part.step] = made
    return made
  }
}
