// The entries that are looked at besides files: links, and directories that were looked through.

import Diagnostics
import Glibc
import RunFiles

/// A directory, and what the exclusions may take out of it, which depends on the path that it was found by.
struct FoundFolder: Hashable {
  let identity: FileIdentity
  let exclusions: [[Int]]
}

struct LinkedFolder: Hashable {
  let folder: FoundFolder
  let nameCount: Int
}

extension FileEntry {
  /// The order of entries with the same path.
  var rank: Int { (isOnlyListed ? 4 : 0) + (isBehindLink ? 1 : 0) }
}

extension FileInspector {
  /// Where a link leads; nil, with `errno`, if it cannot be read.
  static func target(of path: String, in root: Int32) -> String? {
    targetBytes(of: path, in: root).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Where a link leads that a step reads or makes; throws if that is no text, since another target must never be taken for
  /// it.
  static func exactTarget(of path: String, in root: Int32) throws(CacheFailure) -> String {
    guard let bytes = targetBytes(of: path, in: root) else { throw .unreadable(path, errno) }
    guard let target = String(validating: bytes, as: UTF8.self) else {
      throw CacheFailure("the target of the link \(quoted(path)) is not UTF-8")
    }
    return target
  }

  private static func targetBytes(of path: String, in root: Int32) -> [UInt8]? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlinkat(root, path, &bytes, bytes.count)
    return count < 0 ? nil : bytes[..<count].map { UInt8(bitPattern: $0) }
  }

  /// Throws if an input is something of which nobody knows what it holds. Nothing comes from `/dev/null`, and sockets are
  /// not read.
  func checkSpecial(_ path: String, _ status: stat) throws(CacheFailure) {
    let kind = status.st_mode & S_IFMT
    if !followsLinks || kind == S_IFSOCK || kind == S_IFCHR && status.st_rdev == Self.nullDevice {
      return
    }
    throw CacheFailure(
      "input \(quoted(path)) is a FIFO or a device, and what it holds is not known")
  }

  /// The character device 1:3.
  private static var nullDevice: dev_t { 0x103 }
}
