// Does the work of the cache, one job after the other.

import Diagnostics
import Glibc

package struct CacheWork {
  private let cache: CacheFolder?
  private let shared: SharedClient?
  private let hidden: HiddenFolder?
  /// Files that were read before, by the directory of the step.
  private var known: [PathName: FileInspector.Known] = [:]
  /// The files that were just restored.
  private var copies: FileInspector.Known = [:]
  /// True if there were files that a killed run was putting back.
  private var hasFoundParts = false
  /// A longer log is not kept.
  static let longestLog = 16 << 20
  /// How often files are restored if they are not what they should be right after that.
  private static let mostTries = 2

  package init(_ cache: CacheFolder?, _ shared: SharedCache? = nil) {
    self.cache = cache
    self.shared = cache.flatMap { cache in shared.map { SharedClient(cache, $0) } }
    hidden = cache?.state
  }

  /// Ends the program that makes transfers.
  func close() { shared?.close() }

  package mutating func perform(_ job: CacheJob) -> CacheReply {
    do throws(CacheFailure) {
      switch job {
      case .inspect(let directory, let patterns, let known):
        let folder = try open(directory)
        defer { folder.close() }
        return .inspected(try inspect(patterns, in: folder, knowing: known, as: .inputs))
      case .tool(let command, let environment):
        return .tool(try ToolCommand.digest(of: command, environment))
      case .restore(let job): return try restore(job)
      case .keep(let job): return try keep(job)
      case .fetch(let key, let outputs):
        return .transferred(shared?.fetch(key, outputs: outputs) ?? .absent)
      case .store(let key, let outputs, let replacing):
        return .transferred(
          shared?.store(key, outputs: outputs, replacing: replacing) ?? .absent)
      }
    } catch {
      return .fault(error)
    }
  }

  /// The open directory of a step.
  private struct StepFolder {
    let path: String
    let descriptor: Int32

    func close() { Glibc.close(descriptor) }
  }

  /// What files are looked at for.
  private enum Purpose {
    case inputs, outputs
    /// Outputs are about to be put back, or were stored: parts of files that a killed run has left are removed.
    case finalOutputs
  }

  /// Opens the directory of a step; "" is the one that oprun was started in.
  private func open(_ directory: String) throws(CacheFailure) -> StepFolder {
    let path = directory.isEmpty ? "." : directory
    let root = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard root >= 0 else { throw .unreadable(path, errno) }
    return StepFolder(path: directory, descriptor: root)
  }

  /// Throws if links lead the directory of a step out of the one that oprun was started in.
  private func checkPlace(of directory: String) throws(CacheFailure) {
    if directory.isEmpty { return }
    guard let place = realPath(directory), let workspace = realPath(".") else {
      throw .unreadable(directory, errno)
    }
    if workspace == "/" || (place + "/").utf8.starts(with: (workspace + "/").utf8) { return }
    _ = try OutputFolders(AT_FDCWD).enter(directory)
  }

  private mutating func inspect(
    _ patterns: [String], in folder: StepFolder, knowing known: [FileEntry] = [],
    as purpose: Purpose
  ) throws(CacheFailure) -> [FileEntry] {
    let name = PathName(folder.path)
    var inspector = FileInspector(
      folder.descriptor, knowing: self.known.removeValue(forKey: name), hidden: hidden,
      followsLinks: purpose == .inputs)
    inspector.learn(known)
    inspector.copies = copies
    inspector.removesParts = purpose == .finalOutputs
    defer { self.known[name] = inspector.known }
    let found = try inspector.inspect(patterns)
    hasFoundParts = hasFoundParts || inspector.hasFoundParts
    return found
  }

  private mutating func restore(_ job: RestoreJob) throws(CacheFailure) -> CacheReply {
    guard let cache else { return .restored(nil, hasChanged: false) }
    let folder = try open(job.directory)
    defer { folder.close() }
    try checkPlace(of: job.directory)
    var now = try inspect(job.patterns, in: folder, knowing: job.known, as: .finalOutputs)
    var result = ResultFiles(folder.descriptor, cache)
    let wanted = Set(job.files.map { PathName($0.path) })
    defer { copies = [:] }
    var changed: String?
    for _ in 0..<Self.mostTries {
      guard try result.restore(job.files, over: now.filter { !$0.isOnlyListed }) else {
        return .restored(nil, hasChanged: result.hasChanged, damaged: result.damaged)
      }
      copies = result.copies
      if result.hasChanged {
        now = try inspect(job.patterns, in: folder, as: .outputs)
      }
      // Somebody may have done something to the files meanwhile.
      changed = ResultFiles.difference(of: now, from: job.files)
      if changed == nil {
        return .restored(
          now.filter { wanted.contains(PathName($0.path)) && !$0.isOnlyListed },
          hasChanged: result.hasChanged)
      }
    }
    throw CacheFailure("\(quoted(changed ?? "")) changed while it was being restored")
  }

  /// Whether `restore` would change something, and which files it could not put back.
  mutating func compare(
    _ job: RestoreJob
  ) -> (hasChanged: Bool, missing: [ChangedFile]) {
    do throws(CacheFailure) {
      let folder = try open(job.directory)
      defer { folder.close() }
      let now = try inspect(job.patterns, in: folder, knowing: job.known, as: .outputs)
      let changes = changedFiles(job.files, now)
      let wanted = Dictionary(job.files.map { (PathName($0.path), $0) }) { first, _ in first }
      let sizes = Dictionary(
        job.known.lazy.filter { $0.kind == .file && $0.stamp.size > 0 }.map {
          ($0.digest, $0.stamp.size)
        }
      ) { first, _ in first }
      let lost = changes.filter { change in
        guard let file = wanted[PathName(change.path)], file.kind == .file else { return false }
        return cache?.mayHold(file.digest, size: sizes[file.digest]) != true
      }
      return (!changes.isEmpty, lost)
    } catch {
      return (true, job.files.map { ChangedFile(path: $0.path, kind: .removed) })
    }
  }

  private mutating func keep(_ job: KeepJob) throws(CacheFailure) -> CacheReply {
    guard let cache else { throw CacheFailure("there is no cache") }
    let folder = try open(job.directory)
    defer { folder.close() }
    if !job.outputs.isEmpty { try checkPlace(of: job.directory) }
    try job.upstream.check(job)
    var (outputs, hasParts) = try outputs(of: job, in: folder, as: .outputs)
    if let file = outputs.first(where: { $0.kind != .absent && $0.stamp.isOfChange(after: job.end) }
    ) {
      throw CacheFailure(
        "output \(quoted(file.path)) was written or replaced after the command had ended")
    }
    if hasParts {
      // That changes directories, so it cannot be done before they were looked at.
      let before = outputs
      (outputs, _) = try self.outputs(of: job, in: folder, as: .finalOutputs)
      if let file = changedFiles(before, outputs).first {
        throw CacheFailure("output \(quoted(file.path)) changed while it was being stored")
      }
    }
    try ResultFiles(folder.descriptor, cache).keep(outputs)
    let log = try job.log.flatMap { path throws(CacheFailure) in try keepLog(path, cache) }
    let inputs = try inspect(job.inputs, in: folder, knowing: job.known, as: .inputs)
    return .kept(inputs: inputs, outputs: outputs, log: log?.digest, logSize: log?.size ?? 0)
  }

  /// The files in the place of outputs, sorted by path, and whether a killed run has left parts of files there.
  private mutating func outputs(
    of job: KeepJob, in folder: StepFolder, as purpose: Purpose
  ) throws(CacheFailure) -> (files: [FileEntry], hasParts: Bool) {
    var outputs: [FileEntry] = []
    var paths: Set<PathName> = []
    hasFoundParts = false
    for pattern in job.outputs {
      let found = try inspect([pattern], in: folder, as: purpose).filter { !$0.isOnlyListed }
      guard found.contains(where: { $0.kind != .absent }) else {
        throw CacheFailure("output \(quoted(pattern)) does not exist")
      }
      if pattern.hasSuffix("/"),
        found.contains(where: { $0.kind == .link && $0.isNamed(by: pattern) })
      {
        throw CacheFailure(
          "output \(quoted(pattern)) is a link, and what lies behind it is not kept")
      }
      outputs += found.filter { paths.insert(PathName($0.path)).inserted }
    }
    outputs.sort { $0.path.precedesByBytes($1.path) }
    return (outputs, hasFoundParts)
  }

  private func keepLog(
    _ path: String, _ cache: CacheFolder
  ) throws(CacheFailure) -> (digest: CacheDigest, size: Int)? {
    let file = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { Glibc.close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0,
      status.st_size <= Self.longestLog
    else { return nil }
    return (try cache.store(file, path), Int(status.st_size))
  }
}

extension FileEntry {
  /// Whether it is what a path without wildcards names, and not in it.
  fileprivate func isNamed(by pattern: String) -> Bool {
    let pattern = FilePattern(pattern)
    return pattern.isPlain && pattern.fixedPath.hasSameBytes(as: path)
  }
}
