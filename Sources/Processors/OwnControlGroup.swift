// Which control group (version 2) a process is in.

import Glibc

/// The control group of this process at the first access; nil if there are none of version 2.
package let ownControlGroup: OwnControlGroup? = readSmallFile("/proc/self/cgroup").flatMap {
  OwnControlGroup(membership: $0) { access($0, F_OK) == 0 }
}

/// The control group of a process, and where control groups are mounted.
package struct OwnControlGroup: Hashable {
  /// The directory of the outermost visible group.
  package let root: String
  /// The names of the directories from there to the group; nil if the group is not visible.
  package let names: [String]?

  /// Nil if there are no groups of version 2.
  ///
  /// `membership` is the text of `/proc/self/cgroup`; `exists` returns whether a file exists.
  package init?(membership: [UInt8], exists: (String) -> Bool) {
    let lines = membership.split(separator: UInt8(ascii: "\n"))
    // The mount point of version 2 by itself, or next to version 1.
    let roots = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
    guard let own = lines.first(where: { $0.starts(with: "0::/".utf8) }),
      let root = roots.first(where: { exists("\($0)/cgroup.controllers") })
    else { return nil }
    self.root = root
    let names = own.dropFirst(4).split(separator: UInt8(ascii: "/")).map {
      String(decoding: $0, as: UTF8.self)
    }
    // Inside a namespace, groups outside it have such names; only the namespace's root is visible.
    self.names = names.contains("..") ? nil : names
  }

  /// The directory of the group; nil if it is not visible.
  package var path: String? { names.map { $0.reduce(root) { "\($0)/\($1)" } } }
}
