// Removes results that were not used for long, or that are too much, and contents that no result has. Nobody may
// use the cache meanwhile.

import CLinux
import Diagnostics
import Glibc
package import RunFiles

/// The limits within which results stay in the cache.
package struct CacheLimits: Hashable, Sendable {
  /// Seconds since the last use of a result.
  package var age = 30 * 86_400
  /// The size of all contents, in bytes.
  package var size = 10 << 30

  package init() {}
}

/// What was removed from the cache.
package struct SweptCache: Hashable, Sendable {
  package var results = 0
  package var bytes = 0

  package init() {}
}

extension CacheFolder {
  /// How often runs look, in seconds.
  private static let interval = 86_400

  /// Removes what is beyond the limits; nil if a run uses the cache.
  package static func sweep(
    _ state: StateFolder, _ limits: CacheLimits, isDryRun: Bool
  ) throws(CacheFailure) -> SweptCache? {
    guard faccessat(state.descriptor, "cache", F_OK, AT_SYMLINK_NOFOLLOW) == 0 else {
      return SweptCache()
    }
    let folder = try open(in: state)
    guard faccessat(folder.descriptor, ".", W_OK, 0) == 0 else {
      // A dry run changes nothing and needs no lock, for which a file would have to be opened for writing.
      if isDryRun { return folder.sweep(limits, isDryRun: true) }
      throw CacheFailure(
        "cannot remove results of cached steps: \(SystemError.reason(errno))")
    }
    guard folder.lockAlone() else { return nil }
    return folder.sweep(limits, isDryRun: isDryRun)
  }

  /// The same at the end of a run, if it is time to look and no other run uses the cache.
  func sweepNowAndThen(_ limits: CacheLimits) {
    var status = stat()
    let isKnown = fstatat(descriptor, "swept", &status, AT_SYMLINK_NOFOLLOW) == 0
    // A time in the future is that of a clock which was wrong.
    let elapsed = time(nil) - status.st_mtim.tv_sec
    guard !isKnown || elapsed > Self.interval || elapsed < 0, lockAlone() else { return }
    let isMarked = (try? write([], to: "swept")) != nil
    // The cache of a first run has nothing old.
    if isMarked, isKnown { _ = sweep(limits, isDryRun: false) }
  }

  private func sweep(_ limits: CacheLimits, isDryRun: Bool) -> SweptCache {
    var swept = SweptCache()
    var used: Set<String> = []
    var size = 0
    let now = time(nil)
    let oldest = now - limits.age
    let results = files(in: "ac").sorted { ($0.time, $0.name) > ($1.time, $1.name) }
    for (name, lastUse) in results {
      var added: [String: Int] = [:]
      if lastUse >= oldest, let result = result(named: name) {
        for digest in result.contents where !used.contains(digest.path) {
          added[digest.path] = self.size(of: "cas/" + digest.path)
        }
        let more = added.values.reduce(0, +)
        if size + more <= limits.size {
          size += more
          used.formUnion(added.keys)
          // Its time is in the future (a wrong clock); without this it would never expire.
          if lastUse > now, !isDryRun { utimensat(descriptor, "ac/" + name, nil, 0) }
          continue
        }
      }
      swept.results += 1
      if !isDryRun { unlinkat(descriptor, "ac/" + name, 0) }
    }
    for (name, _) in files(in: "cas") where !used.contains(name) {
      swept.bytes += self.size(of: "cas/" + name)
      if !isDryRun { unlinkat(descriptor, "cas/" + name, 0) }
    }
    if !isDryRun {
      for name in names(in: ".") where name.hasPrefix("tmp-") { unlinkat(descriptor, name, 0) }
      for folder in [Self.runs, Self.leftName] {
        for name in names(in: folder).map({ "\(folder)/\($0)" })
        where lastChange(of: name) < oldest { unlinkat(descriptor, name, 0) }
      }
    }
    return swept
  }

  /// The result in a file of `ac`; nil if it is damaged.
  private func result(named name: String) -> StoredResult? {
    let digits = String(name.filter { $0 != "/" })
    return CacheDigest(hexadecimal: digits).flatMap { result(of: $0, onlyLooks: true) }
  }

  private func size(of name: String) -> Int {
    var status = stat()
    return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? Int(status.st_size) : 0
  }

  /// The files two levels below a folder, with the times of their last change.
  private func files(in folder: String) -> [(name: String, time: Int)] {
    names(in: folder).flatMap { part in
      names(in: "\(folder)/\(part)").map { name in
        ("\(part)/\(name)", lastChange(of: "\(folder)/\(part)/\(name)"))
      }
    }
  }

  private func lastChange(of name: String) -> Int {
    var status = stat()
    fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW)
    return status.st_mtim.tv_sec
  }

  func names(in folder: String) -> [String] {
    let number = openat(descriptor, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    return number >= 0 ? namesOfFiles(owning: number) ?? [] : []
  }
}
