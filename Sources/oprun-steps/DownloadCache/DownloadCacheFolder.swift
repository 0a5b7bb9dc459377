// The location of the cache and the permissions to use it. It knows the names of its files, not
// their contents.

import Diagnostics
import Glibc

/// A directory of the user's own:
///
///     records/ab/abcd…   what is known of a key; its time of change is when it was last used
///     objects/ab/abcd…   contents by their SHA-256
///     parts/abcd….part   what is still coming
///     turns/abc          locked while somebody fetches a key that begins so
///     lock, usage        the lock for changes, and the bytes of all objects
///     swept              its time of change is when old things were last removed
struct DownloadCacheFolder: Hashable, Sendable {
  let path: String

  /// Creates the directory if it does not exist; refuses one that others could have written to.
  init(_ path: String) throws(SystemError) {
    self.path = path
    try Files.makeFolder(path, mode: 0o700)
    try DownloadCacheFolder.check(path)
    for name in ["records", "objects", "parts", "turns"] {
      try Files.makeFolder("\(path)/\(name)", mode: 0o700)
      try DownloadCacheFolder.check("\(path)/\(name)")
    }
  }

  private static func check(_ path: String) throws(SystemError) {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      throw SystemError("cannot use the cache \(quoted(path))", errno: errno)
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw SystemError("cannot use the cache \(quoted(path))", errno: ENOTDIR)
    }
    guard status.st_uid == geteuid(),
      status.st_mode & (S_IWGRP | S_IWOTH) == 0
    else {
      throw SystemError(
        "cannot use the cache \(quoted(path)): others can write to it, or it belongs to another user",
        errno: EACCES)
    }
  }

  /// The directory that is used unless another is given; nil if there is no home.
  static var usual: String? {
    func variable(_ name: String) -> String? {
      environmentValue(name).flatMap { $0.isEmpty ? nil : $0 }
    }
    if let path = variable("OPRUN_DOWNLOAD_CACHE") { return path }
    if let path = variable("XDG_CACHE_HOME") { return path + "/oprun/downloads" }
    return variable("HOME").map { $0 + "/.cache/oprun/downloads" }
  }

  func record(_ key: Digest) -> String { sharded("records", key) }
  func object(_ digest: Digest) -> String { sharded("objects", digest) }
  func part(_ key: Digest) -> String { "\(path)/parts/\(key.hexadecimal).part" }
  func turn(_ key: Digest) -> String { "\(path)/turns/\(key.hexadecimal.prefix(3))" }
  var lock: String { path + "/lock" }
  var usage: String { path + "/usage" }
  var swept: String { path + "/swept" }

  private func sharded(_ kind: String, _ digest: Digest) -> String {
    let name = digest.hexadecimal
    return "\(path)/\(kind)/\(name.prefix(2))/\(name)"
  }

  /// Calls `body` with the path, name and status of each file of a kind, in any order.
  func forEachFile(of kind: String, _ body: (String, String, stat) -> Void) {
    for shard in Files.names(in: "\(path)/\(kind)") {
      let folder = "\(path)/\(kind)/\(shard)"
      for name in Files.names(in: folder) {
        var status = stat()
        let path = "\(folder)/\(name)"
        if lstat(path, &status) == 0 { body(path, name, status) }
      }
    }
  }
}
