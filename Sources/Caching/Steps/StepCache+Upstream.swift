// The files that a step may read without declaring them: those that the cached steps before it have made.

import Glibc
import Plans

/// The files that a step has made, for the steps that depend on it.
final class MadeBefore {
  let result: CacheDigest
  let entries: [FileEntry]
  /// The files, as a confined command gets them.
  let paths: [String]
  /// When every file was last seen to be what the step has made.
  fileprivate var intactAt: Int?
  /// The entries as they are written.
  fileprivate lazy var written: [UInt8] = {
    var writer = ByteWriter()
    writer.add(entries) { $1.write(to: &$0) }
    return writer.bytes
  }()

  fileprivate init(_ result: CacheDigest, _ entries: [FileEntry], in directory: String) {
    self.result = result
    self.entries = entries
    let folders = Set(entries.lazy.filter { $0.kind == .directory }.map { PathName($0.path) })
    paths = entries.filter {
      ($0.kind == .file || $0.kind == .directory) && !$0.isWithin(folders)
    }.map { joined(directory, $0.path) }
  }
}

extension StepCache {
  /// The job that stores the result of a step, now that its command has succeeded; nil if it is not to be stored.
  package func keepJob(of lookup: CacheLookup, log: String?) -> CacheJob? {
    guard lookup.fault == nil, let inputs = lookup.inputs else { return nil }
    var job = KeepJob(
      directory: lookup.directory, inputs: lookup.settings.inputs, outputs: lookup.settings.outputs,
      known: inputs, log: log, end: FileStamp.exactNow)
    job.upstream = UpstreamCheck(
      workspace: options.workspace, scratch: lookup.settings.scratch,
      parts: lookup.upstream.map { part in
        UpstreamCheck.Part(
          step: part.step, directory: part.directory ?? "",
          entries: made(by: part)?.written(with: part.folders) ?? [])
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

  /// Looks at the files of results again, because something may have been done to them since: then the result does not
  /// tell what a step reads that depends on it. What was found at `moment` holds for all who ask at that moment.
  package func lookAgain(at upstream: inout Upstream, _ moment: Int) {
    var places: Set<PathName>?
    upstream.replaceResults { part, all in
      guard let made = made(by: part) else { return nil }
      if made.intactAt == moment { return part }
      guard let folders = made.changedFolders(below: place(of: part)) else { return nil }
      if folders.isEmpty {
        made.intactAt = moment
        return part
      }
      let known =
        places
        ?? Set(
          all.flatMap { other in
            self.made(by: other).map { $0.places(below: place(of: other)) } ?? []
          })
      places = known
      var part = part
      for (index, stamp) in folders {
        let path = made.entries[index].path
        let folder = FilePattern(path: path, below: place(of: part)).path
        let isMade = FolderListing.hasOnly(in: joined(place(of: part), path)) { name in
          known.contains(PathName(joined(folder, name)))
        }
        guard isMade else { return nil }
        part.folders[index] = stamp
      }
      return part
    }
  }

  /// Takes results out that did not count when the step was looked at last, because something had been done to their
  /// files: the same is assumed of the next run. Nobody knows if anything else has become of the step since.
  func asRecorded(_ upstream: Upstream, of asked: CacheableStep) -> Upstream {
    guard !upstream.results.isEmpty, let parts = record(ofStep: asked.id)?.parts else {
      return upstream
    }
    let known = Set(parts.lazy.filter { $0.kind == .upstream }.map(\.name))
    if upstream.results.allSatisfy({ known.contains($0.step) }) { return upstream }
    var recorded = upstream
    recorded.replaceResults { part, _ in known.contains(part.step) ? part : nil }
    describe(asked, recorded.added(to: asked.settings), recorded)
    let isInputs = { (part: KeyPart) in part.kind == .declaration && part.name == "inputs" }
    guard description.parts.first(where: isInputs) == parts.first(where: isInputs) else {
      return upstream
    }
    // The files of a step that runs anew are not known, whatever is there now.
    for part in upstream.results where !known.contains(part.step) && part.result == .none {
      recorded.add(.none, of: part.step, part.settings)
    }
    return recorded
  }

  /// The directory that the outputs of a step are relative to.
  private func place(of part: Upstream.Result) -> String {
    joined(options.workspace, part.directory ?? "")
  }

  private func made(by part: Upstream.Result) -> MadeBefore? {
    if let known = made[part.step], known.result == part.result { return known }
    guard let record = record(ofStep: part.step),
      StepDescription.resultDigest(of: record.key, record.outputs) == part.result
    else { return nil }
    let made = MadeBefore(part.result, record.outputs, in: place(of: part))
    self.made[part.step] = made
    return made
  }
}

extension MadeBefore {
  /// The directories in which something was made or removed, by their places in the entries, with their stamps; nil if
  /// anything else has changed. Their names are for others to judge.
  fileprivate func changedFolders(below directory: String) -> [(index: Int, stamp: FileStamp)]? {
    var folders: [(index: Int, stamp: FileStamp)] = []
    for (index, entry) in entries.enumerated()
    where entry.kind != .absent && entry.kind != .special {
      guard
        case .success(let status) = FileEntry.status(
          of: joined(directory, entry.path), in: AT_FDCWD)
      else { return nil }
      let stamp = FileStamp(status)
      if stamp.isOfSameChange(as: entry.stamp) { continue }
      guard entry.kind == .directory, stamp.mode == entry.stamp.mode else { return nil }
      folders.append((index, stamp))
    }
    return folders
  }

  /// The absolute paths of all of them.
  fileprivate func places(below directory: String) -> [PathName] {
    entries.map { PathName(FilePattern(path: $0.path, below: directory).path) }
  }

  /// The entries as they are written, some with other stamps.
  fileprivate func written(with stamps: [Int: FileStamp]) -> [UInt8] {
    if stamps.isEmpty { return written }
    var entries = entries
    for (index, stamp) in stamps { entries[index].stamp = stamp }
    var writer = ByteWriter()
    writer.add(entries) { $1.write(to: &$0) }
    return writer.bytes
  }
}

extension FolderListing {
  /// Whether each name in a directory is accepted. False if it cannot be listed.
  static func hasOnly(in path: String, _ accepts: (String) -> Bool) -> Bool {
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0, let listing = FolderListing(owning: folder), listing.odd.isEmpty else {
      return false
    }
    return listing.names.allSatisfy { accepts($0) }
  }
}
