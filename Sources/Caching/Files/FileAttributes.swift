// The extended attributes of files, as far as a result would lose them.

import CLinux
import Diagnostics
import Glibc

enum FileAttributes {
  /// The attributes of an open file; none where the file system has none.
  static func names(of file: Int32) -> [String] {
    let size = flistxattr(file, nil, 0)
    if size <= 0 { return [] }
    var bytes = [CChar](repeating: 0, count: size)
    let count = flistxattr(file, &bytes, size)
    guard count > 0 else { return [] }
    return bytes[..<count].split(separator: 0).map {
      String(decoding: $0.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }

  /// Whether a command has given it to a file, so that a file without it is another one. The others come from the
  /// system, which gives them to every new file: labels of security modules, inherited access lists, marks of servers.
  static func isLost(_ name: String) -> Bool {
    name == "security.capability" || name.hasPrefix("user.") && !systemNames.contains(name)
  }

  /// Whether a program that is run from the file gets rights that it would lose, or get from others, if somebody else owned
  /// it: what is put back belongs to whoever runs oprun.
  static func rightsAreLost(_ status: stat) -> Bool {
    status.st_mode & S_ISUID != 0 && status.st_uid != geteuid()
      || status.st_mode & S_ISGID != 0 && status.st_gid != getegid()
  }

  /// Whether somebody has given a file in a directory an access list. Without it, the mask in its mode would be the rights of
  /// its group. One that the directory gives to all new files is given to what is put back, too.
  static func hasOwnAccessList(_ names: [String], in folder: Int32) -> Bool {
    names.contains { $0 == "system.posix_acl_access" }
      && getxattr("/proc/self/fd/\(folder)", "system.posix_acl_default", nil, 0) < 0
  }

  /// Made by Samba.
  private static let systemNames: Set<String> = ["user.DOSATTRIB"]
}
