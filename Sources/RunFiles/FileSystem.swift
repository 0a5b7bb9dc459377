// The file system of a directory: whether only this machine uses it, or others may use it at the
// same time.

import CLinux
import Diagnostics
import Glibc

/// A file system, as far as it matters to files that several processes share.
package struct FileSystem: Hashable, Sendable {
  /// The kind of the file system, such as `NFS`, if several machines may use it at once, or one cannot tell.
  package let network: String?
  /// Why its locks do not reach other machines: `mounted with 'nolock'`. Nil if no reason is known.
  package let lockLimit: String?

  package init(network: String?, lockLimit: String? = nil) {
    self.network = network
    self.lockLimit = lockLimit
  }

  /// The file system of an open file or directory.
  package init(of descriptor: Int32) {
    network = Self.network(clinux_file_system(descriptor))
    lockLimit = network.flatMap { kind in
      let options = Self.mountOptions(of: descriptor)
      return Self.lockLimit(of: kind, mountedWith: options, Self.clientSettings(of: kind))
    }
  }

  /// The name of a file system that several machines may use at once, by its number in statfs(2). Of one in user space
  /// (FUSE) nobody knows: sshfs and GlusterFS have the same number as a file system on a disk of this machine.
  static func network(_ number: Int) -> String? {
    switch number {
    case 0x6969: "NFS"
    case 0x517B, 0xFF53_4D42, 0xFE53_4D42: "SMB"
    case 0x0102_1997: "9P"
    case 0x5346_414F, 0x6B41_4653: "AFS"
    case 0x7375_7245: "Coda"
    case 0x00C3_6400: "Ceph"
    case 0x0BD0_0BD0: "Lustre"
    case 0x4750_4653: "GPFS"
    case 0x1983_0326: "BeeGFS"
    case 0x0116_1970: "GFS2"
    case 0x7461_636F: "OCFS2"
    case 0xAAD7_AAEA: "PanFS"
    case 0x2003_0528: "OrangeFS"
    case 0x786F_4256: "VirtualBox"
    case 0xBACB_ACBC: "VMware"
    case 0x6573_5546: "FUSE"
    default: nil
    }
  }

  /// Why locks of bytes of a file do not reach other machines, seen from the options of its mount and from what the
  /// file system says of itself. Lustre without locks takes none, which is found by trying.
  static func lockLimit(
    of kind: String, mountedWith options: [Substring], _ settings: String
  ) -> String? {
    let bad: [String] =
      switch kind {
      case "NFS": ["nolock", "local_lock=all", "local_lock=posix"]
      case "SMB": ["nobrl", "nolock"]
      case "Lustre": ["localflock"]
      case "GFS2", "OCFS2": ["localflocks"]
      default: []
      }
    if let option = bad.first(where: { options.contains($0[...]) }) {
      return "mounted with \(quoted(option))"
    }
    switch kind {
    case "BeeGFS":
      let isGlobal = settings.split(separator: "\n").contains { line in
        let words = line.split { $0 == " " || $0 == "=" || $0 == "\t" }
        return words.count == 2 && words[0] == "tuneUseGlobalFileLocks"
          && ["1", "true"].contains(words[1])
      }
      return isGlobal ? nil : "without 'tuneUseGlobalFileLocks'"
    case "AFS":
      let isGlobal = options.contains { $0 == "flock=strict" || $0 == "flock=write" }
      return isGlobal ? nil : "mounted without 'flock=strict'"
    default: return nil
    }
  }

  /// The options of the mount that an open file is on; none if /proc does not say.
  private static func mountOptions(of descriptor: Int32) -> [Substring] {
    let facts = content(of: "/proc/self/fdinfo/\(descriptor)")
    for line in facts.split(separator: "\n") where line.hasPrefix("mnt_id:") {
      guard let id = line.split(whereSeparator: { $0 == ":" || $0 == "\t" || $0 == " " }).last
      else { break }
      return mountOptions(of: id, in: content(of: "/proc/self/mountinfo"))
    }
    return []
  }

  /// The options of a mount in the text of `/proc/self/mountinfo`: its own, and those of its file system.
  static func mountOptions(of id: Substring, in mounts: String) -> [Substring] {
    for line in mounts.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.first == id, words.count > 6 else { continue }
      return words[5].split(separator: ",") + words[words.count - 1].split(separator: ",")
    }
    return []
  }

  /// The settings that BeeGFS reports, which are not among the options; nothing if there are
  /// several mounts of it that cannot be told apart.
  private static func clientSettings(of kind: String) -> String {
    guard kind == "BeeGFS" else { return "" }
    let place = "/proc/fs/beegfs"
    let folder = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0, let clients = namesOfFiles(owning: folder), clients.count == 1 else {
      return ""
    }
    return content(of: "\(place)/\(clients[0])/config")
  }

  /// The text of a small file of the kernel; empty if it cannot be read.
  private static func content(of path: String) -> String {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    return String(decoding: readToEnd(file) ?? [], as: UTF8.self)
  }
}

/// True if an open file still has a name, as far as that can be known.
package func hasName(_ file: Int32) -> Bool { clinux_has_name(file) != 0 }
