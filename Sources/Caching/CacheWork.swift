// Does the work of the cache, one job after the other.

import Diagnostics
import Glibc

package struct CacheWork {
  private let cache: CacheFolder?
  private let shared: SharedClient?
  private let hidden: FolderIdentity?
  /// Files that were read before, by the directory of the step.
  private var known: [String: FileInspector.Known] = [:]
  /// The files that were just restored.
  private var copies: FileInspector.Known = [:]
  /// A longer log is not kept.
  private static let longestLog = 16 << 20

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
        let root = try open(directory)
        defer { Glibc.close(root) }
        return .inspected(try inspect(patterns, in: root, directory, known))
      case .tool(let command): return .tool(try ToolCommand.digest(of: command))
      case .restore(let directory, let patterns, let files, let known):
        return try restore(files, patterns, in: directory, known)
      case .keep(let job): return try keep(job)
      case .fetch(let key, let outputs):
        return .transferred(shared?.fetch(key, outputs: outputs) ?? .absent)
      case .store(let key, let outputs):
        return .transferred(shared?.store(key, outputs: outputs) ?? .absent)
      }
    } catch {
      return .fault(error)
    }
  }

  /// Opens the directory of a step; "" is the one that oprun was started in.
  private func open(_ directory: String) throws(CacheFailure) -> Int32 {
    let path = directory.isEmpty ? "." : directory
    let root = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard root >= 0 else { throw .unreadable(path, errno) }
    return root
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
    _ patterns: [String], in root: Int32, _ directory: String, _ known: [FileEntry],
    followsLinks: Bool = true, removesParts: Bool = false
  ) throws(CacheFailure) -> [FileEntry] {
    var inspector = FileInspector(
      root, knowing: self.known.removeValue(forKey: directory), hidden: hidden,
      followsLinks: followsLinks)
    inspector.learn(known)
    inspector.copies = copies
    inspector.removesParts = removesParts
    defer { self.known[directory] = inspector.known }
    return try inspector.inspect(patterns)
  }

  private mutating func restore(
    _ files: [FileEntry], _ patterns: [String], in directory: String, _ known: [FileEntry]
  ) throws(CacheFailure) -> CacheReply {
    guard let cache else { return .restored(nil, hasChanged: false) }
    let root = try open(directory)
    defer { Glibc.close(root) }
    try checkPlace(of: directory)
    let now = try inspect(
      patterns, in: root, directory, known, followsLinks: false, removesParts: true)
    var result = ResultFiles(root, cache)
    guard try result.restore(files, over: now.filter { !$0.isOnlyListed }) else {
      return .restored(nil, hasChanged: result.hasChanged)
    }
    let wanted = Set(files.map { PathName($0.path) })
    copies = result.copies
    defer { copies = [:] }
    let restored =
      result.hasChanged
      ? try inspect(patterns, in: root, directory, [], followsLinks: false) : now
    return .restored(
      restored.filter { wanted.contains(PathName($0.path)) && !$0.isOnlyListed },
      hasChanged: result.hasChanged)
  }

  /// What `restore` would do: whether it would change something, and which files it could not put back.
  mutating func compare(
    _ files: [FileEntry], _ patterns: [String], in directory: String, _ known: [FileEntry]
  ) -> (hasChanged: Bool, missing: [ChangedFile]) {
    do throws(CacheFailure) {
      let root = try open(directory)
      defer { Glibc.close(root) }
      let now = try inspect(patterns, in: root, directory, known, followsLinks: false)
      let changes = changedFiles(files, now)
      let wanted = Dictionary(files.map { (PathName($0.path), $0) }) { first, _ in first }
      let lost = changes.filter { change in
        guard let file = wanted[PathName(change.path)], file.kind == .file else { return false }
        return cache?.mayHold(file) != true
      }
      return (!changes.isEmpty, lost)
    } catch {
      return (true, files.map { ChangedFile(path: $0.path, kind: .removed) })
    }
  }

  private mutating func keep(_ job: KeepJob) throws(CacheFailure) -> CacheReply {
    guard let cache else { throw CacheFailure("there is no cache") }
    let root = try open(job.directory)
    defer { Glibc.close(root) }
    if !job.outputs.isEmpty { try checkPlace(of: job.directory) }
    try job.upstream.check(job)
    var outputs: [FileEntry] = []
    var paths: Set<PathName> = []
    for pattern in job.outputs {
      let found = try inspect(
        [pattern], in: root, job.directory, [], followsLinks: false, removesParts: true
      ).filter { !$0.isOnlyListed }
      guard found.contains(where: { $0.kind != .absent }) else {
        throw CacheFailure("output \(quoted(pattern)) does not exist")
      }
      outputs += found.filter { paths.insert(PathName($0.path)).inserted }
    }
    if let file = outputs.first(where: { $0.kind != .absent && $0.stamp.isOfChange(after: job.end) }
    ) {
      throw CacheFailure(
        "output \(quoted(file.path)) was written or replaced after the command had ended")
    }
    outputs.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    try ResultFiles(root, cache).keep(outputs)
    let log = try job.log.flatMap { path throws(CacheFailure) in try keepLog(path, cache) }
    let inputs = try inspect(job.inputs, in: root, job.directory, job.known)
    return .kept(inputs: inputs, outputs: outputs, log: log?.digest, logSize: log?.size ?? 0)
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
