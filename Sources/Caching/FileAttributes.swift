// The extended attributes of files, as far as a result would lose them.

import CLinux
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

  /// Made by Samba.
  private static let systemNames: Set<String> = ["user.DOSATTRIB"]
}
